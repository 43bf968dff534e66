"""`remask eval retrieval`: our questions and BEIR's layout, over an index made with the double embedder."""

import json
from pathlib import Path
from typing import Any

import pytest
from remask.agent.cli import main
from remask.evals.corpus import read_corpus
from remask.evals.errors import DataUnusable
from remask.evals.search import WAYS
from remask.evals.topics import read_topics
from remask.retrieval import HashEmbedder, build

from .sheets import HOLT, ROWS, official

TEXTS = {title: "".join(sentences) for row in ROWS for title, sentences in row["context"]}


def jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def beir(folder: Path, qrels: str = "q1\tMira Holt\t2\nq1\tBlau\t0\nq3\tSaint Anne\t1\nq4\tBlau\t0\n") -> Path:
    jsonl(folder / "corpus.jsonl", [{"_id": title, "title": title, "text": text} for title, text in TEXTS.items()])
    jsonl(
        folder / "queries.jsonl",
        [{"_id": row["_id"], "text": row["question"]} for row in ROWS] + [{"_id": "q4", "text": "?"}],
    )
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{qrels}", encoding="utf-8")
    return folder


def indexed(folder: Path, corpus: Path) -> Path:
    texts = read_corpus(corpus)
    build(texts.documents, folder, embedder=HashEmbedder(), splitter=texts.splitter)
    return folder


def searched(tmp_path: Path, data: Path, corpus: Path) -> dict[str, Any]:
    index, out = indexed(tmp_path / "index", corpus), tmp_path / "out"
    assert main(["eval", "retrieval", "--data", str(data), "--index", str(index), "--out", str(out)]) == 0
    found: dict[str, Any] = json.loads((out / "metrics.json").read_text())
    return found


def test_questions_are_searched_by_every_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = jsonl(tmp_path / "corpus.jsonl", [{"id": t, "title": t, "text": text} for t, text in TEXTS.items()])
    found = searched(tmp_path, official(tmp_path), corpus)
    assert list(found["scores"]) == [way.name for way in WAYS]
    assert found["scores"]["lexical"]["recall@5"]["value"] == 1.0
    assert found["settings"]["relevance by"] == "title"
    assert set(found["pairs"]) == {"lexical", "dense", "rrf"}
    assert "| weighted | 3 |" in capsys.readouterr().out


def test_a_search_that_was_stopped_goes_on_and_ends_with_the_same_bytes(tmp_path: Path) -> None:
    corpus = jsonl(tmp_path / "corpus.jsonl", [{"id": t, "title": t, "text": text} for t, text in TEXTS.items()])
    data = official(tmp_path)
    searched(tmp_path, data, corpus)
    out = tmp_path / "out"
    metrics, kept = (out / "metrics.json").read_bytes(), (out / "found.jsonl").read_text().splitlines()
    (out / "found.jsonl").write_text("\n".join(kept[:5]) + "\n" + kept[5][:30])
    searched(tmp_path, data, corpus)
    assert (out / "metrics.json").read_bytes() == metrics
    assert len((out / "found.jsonl").read_text().splitlines()) == len(kept) == 12
    assert (out / "found.jsonl").read_text().splitlines()[:5] == kept[:5]
    assert "<h1>Retrieval on" in (out / "report.html").read_text()


def test_beir_s_layout_is_read_and_queries_without_anything_relevant_are_left_out(tmp_path: Path) -> None:
    data = beir(tmp_path / "beir")
    topics = read_topics(data)
    assert [(topic.id, dict(topic.relevance)) for topic in topics.listed] == [
        ("q1", {"Mira Holt": 2, "Blau": 0}),
        ("q3", {"Saint Anne": 1}),
    ]
    found = searched(tmp_path, data, data / "corpus.jsonl")
    assert found["scores"]["lexical"]["MRR"]["n"] == 2
    assert found["settings"]["relevance by"] == "document"


@pytest.mark.parametrize(
    ("qrels", "said"),
    [
        ("q1 Blau 1\n", "row 2: 'q1 Blau 1', where query-id, corpus-id and score"),
        ("q1\tBlau\thigh\n", "row 2: 'q1"),
        ("q9\tBlau\t1\n", "judges the query 'q9', which"),
        ("q1\tBlau\t0\n", "finds nothing relevant to any query"),
    ],
)
def test_wrong_judgements_are_named(tmp_path: Path, qrels: str, said: str) -> None:
    with pytest.raises(DataUnusable) as error:
        read_topics(beir(tmp_path / "beir", qrels))
    assert said in str(error.value)


def test_questions_without_marked_facts_say_nothing_of_retrieval(tmp_path: Path) -> None:
    with pytest.raises(DataUnusable, match="no question has 'supporting_facts'"):
        read_topics(official(tmp_path, HOLT | {"supporting_facts": []}))


def test_a_text_without_a_title_or_with_no_words_does_no_harm(tmp_path: Path) -> None:
    rows = [
        {"_id": "a", "text": " "},
        {"_id": "b", "text": "River."},
        {"_id": "c", "title": "C", "sents": ["Hi.", " Ho."]},
    ]
    texts = read_corpus(jsonl(tmp_path / "corpus.jsonl", rows))
    assert [document.id for document in texts.documents] == ["b", "c"]
    assert [len(texts.splitter(document)[0].sentences) for document in texts.documents] == [0, 2]


def test_a_corpus_row_without_text_is_named(tmp_path: Path) -> None:
    for row, said in (({"id": "a", "title": "A"}, "row 1: no field is called"), ({"text": "A"}, "row 1: no key 'id'")):
        with pytest.raises(DataUnusable, match=said):
            read_corpus(jsonl(tmp_path / "corpus.jsonl", [row]))
