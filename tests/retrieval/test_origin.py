"""Files that are gone, and two files with one id."""

from pathlib import Path

import pytest
from remask.retrieval import Document, HashEmbedder, Index, InvalidDocuments, build, gone, load


def folder(path: Path, **files: str) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (path / f"{name}.txt").write_text(text)
    return path


def test_two_folders_with_the_same_names_do_not_replace_each_other(tmp_path: Path):
    one, other = folder(tmp_path / "one", a="First."), folder(tmp_path / "other", a="Second.", b="Third.")
    build(load(one), tmp_path / "index", embedder=HashEmbedder())
    with pytest.raises(InvalidDocuments, match=r"the id 'a\.txt' belongs to .*one/a\.txt.*, and .*other/a\.txt would"):
        build(load(other), tmp_path / "index")
    index = Index.open(tmp_path / "index")
    assert (index.document_ids, index.document("a.txt").text) == (("a.txt",), "First.")


def test_the_folder_that_holds_both_gives_each_its_own_id(tmp_path: Path):
    folder(tmp_path / "docs/one", a="First.")
    folder(tmp_path / "docs/other", a="Second.")
    index, _ = build(load(tmp_path / "docs"), tmp_path / "index", embedder=HashEmbedder())
    assert index.document_ids == ("one/a.txt", "other/a.txt")


def test_a_folder_that_was_moved_is_the_same_documents(tmp_path: Path):
    docs = folder(tmp_path / "old", a="First.")
    build(load(docs), tmp_path / "index", embedder=HashEmbedder())
    docs.rename(tmp_path / "new")
    _, changes = build(load(tmp_path / "new"), tmp_path / "index")
    assert (changes.updated, changes.embedded) == (1, 0)


def test_a_file_that_changed_is_no_clash(tmp_path: Path):
    docs = folder(tmp_path / "docs", a="First.")
    build(load(docs), tmp_path / "index", embedder=HashEmbedder())
    folder(docs, a="Changed.")
    assert build(load(docs), tmp_path / "index")[1].updated == 1


def test_gone_are_those_below_the_paths_that_were_not_read_now():
    documents = [
        ("read", {"path": "/docs/read.txt"}),
        ("lost", {"path": "/docs/lost.txt"}),
        ("row", {"path": "/docs/rows.jsonl"}),
        ("locked", {"path": "/docs/locked.txt"}),
        ("elsewhere", {"path": "/docs-too/lost.txt"}),
        ("typed in", {}),
        ("odd", {"path": 7}),
    ]
    found = gone(documents, ["/docs"], read={"read"}, unreadable=["/docs/locked.txt"])
    assert list(found) == ["lost", "row"]


def test_documents_without_a_file_may_replace_each_other():
    index = Index.create([Document(id="a", text="One.")], embedder=HashEmbedder())
    assert index.add([Document(id="a", text="Two.")]).updated == 1
