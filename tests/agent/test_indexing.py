"""`remask index` and `remask ask` by their exit codes and what they leave behind."""

import json
from pathlib import Path

import pytest
from remask.agent.cli import main
from remask.agent.console import Exit
from remask.retrieval import Index


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    path = tmp_path / "docs"
    path.mkdir()
    (path / "a.txt").write_text("Ice melts at zero degrees.")
    (path / "b.txt").write_text("Water boils at a hundred degrees.")
    return path


def index(docs: Path, out: Path, *more: str) -> int:
    return main(["index", str(docs), "--out", str(out), "--embedder", "hash:64", *more])


def test_a_deleted_file_is_reported_and_forgotten_only_with_prune(docs: Path, tmp_path: Path, capsys):
    out = tmp_path / "index"
    assert index(docs, out) == Exit.DONE
    (docs / "b.txt").unlink()
    capsys.readouterr()
    assert index(docs, out) == Exit.DONE
    assert "1 document whose file is gone is still in the index; --prune forgets it" in capsys.readouterr().out
    assert Index.open(out).document_ids == ("a.txt", "b.txt")
    assert index(docs, out, "--prune") == Exit.DONE
    assert "1 document whose file is gone was forgotten" in capsys.readouterr().out
    assert Index.open(out).document_ids == ("a.txt",)


def test_pruning_spares_other_folders_and_files_that_could_not_be_read(docs: Path, tmp_path: Path):
    out, more = tmp_path / "index", tmp_path / "more"
    more.mkdir()
    (more / "c.txt").write_text("Steam is hot.")
    index(docs, out)
    index(more, out)
    (docs / "b.txt").write_bytes(b"\x00\x01\x02" * 400)
    assert index(docs, out, "--prune") == Exit.SKIPPED
    assert Index.open(out).document_ids == ("a.txt", "b.txt", "c.txt")


def test_a_folder_and_a_store_cannot_both_be_given(docs: Path, tmp_path: Path, capsys):
    assert index(docs, tmp_path / "index", "--store", "milvus:x.db") == Exit.USAGE
    assert main(["index", str(docs)]) == Exit.USAGE
    assert "give either --out DIR or --store" in capsys.readouterr().err


def test_a_wrong_store_is_one_line(docs: Path, capsys):
    assert main(["index", str(docs), "--store", "milvus:nonsense", "--embedder", "hash:64"]) == Exit.FAILED
    assert "is no address of a Milvus collection" in capsys.readouterr().err


def test_indexing_into_milvus_and_pruning_there(docs: Path, tmp_path: Path, capsys):
    pytest.importorskip("pymilvus")
    pytest.importorskip("milvus_lite")
    from remask.retrieval.milvus import Collection

    store = f"milvus:{tmp_path}/there.db#docs"
    line = ["index", str(docs), "--store", store, "--embedder", "hash:64"]
    assert main(line) == Exit.DONE
    (docs / "b.txt").unlink()
    assert main([*line, "--prune"]) == Exit.DONE
    assert "1 document whose file is gone was forgotten" in capsys.readouterr().out
    assert Collection.open(store).document_ids == ("a.txt",)


def test_a_question_that_the_documents_do_not_answer_ends_with_4(docs: Path, tmp_path: Path, capsys):
    out, script = tmp_path / "index", tmp_path / "script.json"
    index(docs, out)
    question = "When does ice melt?"
    script.write_text(json.dumps({"drafts": {question: "zero degrees"}}))
    capsys.readouterr()
    asked = ["--index", str(out), "--backend", f"scripted:{script}"]
    assert main(["ask", question, *asked]) == Exit.DONE
    assert "zero degrees" in capsys.readouterr().out
    assert main(["ask", "Who composed the opera?", *asked]) == Exit.ABSTAINED
