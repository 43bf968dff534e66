"""An opened index reads its lines when they are asked for, and says the same as one that read them all."""

import json
import shutil
from pathlib import Path

import pytest
from remask.retrieval import Document, HashEmbedder, Index, SplitOptions, build
from remask.retrieval.contents import load
from remask.retrieval.mapped import Passages, Shelf, hashed
from remask.retrieval.store import read_manifest

DOCUMENTS = [
    Document(
        id=f"ø{n}",
        title=f"T{n % 3}",
        text=f"Satz {n} über 東京. Zwei {n}! 😀",
        metadata={"n": n % 4, "even": n % 2 == 0},
    )
    for n in range(30)
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build(DOCUMENTS, tmp_path / "index", embedder=HashEmbedder(16), split=SplitOptions(max_words=4))
    return tmp_path / "index"


def test_what_is_read_late_is_what_was_written(folder: Path):
    here = Index.create(DOCUMENTS, embedder=HashEmbedder(16), split=SplitOptions(max_words=4))
    opened = Index.open(folder)
    assert isinstance(opened.passages, Passages)
    assert isinstance(opened._state.documents, Shelf)
    assert opened.document_ids == here.document_ids
    assert list(opened.passages) == list(here.passages)
    assert opened.passages[-1] == here.passages[-1]
    assert list(opened.passages[3:7]) == list(here.passages[3:7])
    assert [opened.document(one.id) for one in DOCUMENTS] == DOCUMENTS
    for where in ({"even": True}, {"n": [1, 2], "even": False}, {"n": 99}):
        assert opened.search("Satz 東京", 5, where=where) == here.search("Satz 東京", 5, where=where)
    with pytest.raises(KeyError):
        opened.document("nobody")
    with pytest.raises(IndexError):
        opened.passages[len(here)]


def test_opening_parses_no_document_and_no_passage(folder: Path, monkeypatch: pytest.MonkeyPatch):
    parsed: list[str] = []
    monkeypatch.setattr(Document, "model_validate_json", lambda line: parsed.append(line) or DOCUMENTS[0])
    Index.open(folder)
    assert parsed == []


def test_ids_whose_hashes_are_equal_are_told_apart(folder: Path):
    shelf = Index.open(folder)._state.documents
    assert isinstance(shelf, Shelf)
    shelf._keys[:] = hashed("ø7")  # every id now has this hash
    shelf._order[:] = range(30)
    assert shelf["ø7"].text == DOCUMENTS[7].text
    with pytest.raises(KeyError):
        shelf["nobody"]


def test_an_index_of_the_version_before_is_read_whole(folder: Path):
    manifest = read_manifest(folder)
    older = {name: record for name, record in manifest.files.items() if name in OLDER}
    documents, passages, lexical, _ = load(folder / manifest.generation, manifest.model_copy(update={"files": older}))
    opened = Index.open(folder)
    assert list(documents) == list(opened.document_ids)
    assert list(passages) == list(opened.passages)
    assert lexical.search("satz", 3) == opened._state.retriever.lexical.search("satz", 3)


OLDER = (
    *("documents.jsonl", "passages.jsonl", "words.jsonl", "words.offsets.npy", "words.passages.npy"),
    *("words.counts.npy", "words.lengths.npy", "vectors.npy"),
)


def test_an_opened_index_can_change_and_be_saved_again(folder: Path):
    index = Index.open(folder)
    index.add([Document(id="neu", text="Ganz neu.")])
    index.delete(["ø3"])
    index.save()
    again = Index.open(folder)
    assert len(again.document_ids) == 30
    assert again.document("neu").text == "Ganz neu."
    assert again.document("ø4") == DOCUMENTS[4]


def test_places_that_do_not_fit_the_lines_are_refused(folder: Path, tmp_path: Path):
    from remask.retrieval import IndexUnusable

    manifest = read_manifest(folder)
    broken = tmp_path / "broken"
    shutil.copytree(folder / manifest.generation, broken)
    with (broken / "passages.jsonl").open("a") as file:
        file.write(json.dumps({"document": "ø1", "start": 0, "end": 1}))
    with pytest.raises(IndexUnusable, match="its places say otherwise"):
        load(broken, manifest)
