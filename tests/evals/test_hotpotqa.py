"""`remask eval hotpotqa` as its user meets it, with backends that need no model."""

import json
from pathlib import Path
from typing import Any

import pytest
from remask.agent.cli import main
from remask.dllm.draft import Passes, Prompt
from remask.evals.backend import Backend, open_backends
from remask.evals.corpus import read_corpus
from remask.evals.dataset import read_questions
from remask.evals.errors import RunUnusable
from remask.evals.floor import SentenceFloor
from remask.evals.hotpotqa import Plan, plan, run
from remask.evals.library import given
from remask.retrieval import HashEmbedder, build

from .official_script import evaluate
from .sheets import HOLT, ROWS, official, question

WRITTEN = ("predictions.json", "metrics.json", "report.json", "report.md", "report.html", "rows.jsonl")


def asked(folder: Path, *arguments: str) -> int:
    return main(["eval", "hotpotqa", "--out", str(folder), *arguments])


def loaded(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_it_writes_everything_and_prints_the_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert asked(out, "--data", str(official(tmp_path)), "--backend", "gold", "--baseline", "floor") == 0
    shown = capsys.readouterr()
    assert "| gold | 3 | 100.0 [100.0, 100.0]" in shown.out
    assert shown.err == ""
    assert [name for name in (*WRITTEN, "predictions.floor.json") if not (out / name).exists()] == []


@pytest.mark.parametrize("backend", ["floor", "gold"])
def test_the_predictions_score_under_the_official_rules_as_reported(tmp_path: Path, backend: str) -> None:
    out = tmp_path / "out"
    assert asked(out, "--data", str(official(tmp_path)), "--backend", backend) == 0
    wanted = evaluate(loaded(out / "predictions.json"), list(ROWS))
    found = loaded(out / "metrics.json")["scores"][0]["metrics"]
    assert {name: found[name]["value"] for name in wanted} == pytest.approx(wanted, abs=1e-6)
    assert found["f1"]["n"] == 3


def test_scores_are_told_by_kind_of_question(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert asked(out, "--data", str(official(tmp_path)), "--backend", "gold") == 0
    kinds = loaded(out / "metrics.json")["scores"][0]["by_type"]
    assert {kind: found["em"]["n"] for kind, found in kinds.items()} == {"bridge": 2, "comparison": 1}


def test_a_row_keeps_the_answer_beside_the_evidence_and_the_quotation(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert asked(out, "--data", str(official(tmp_path, HOLT)), "--backend", "gold") == 0
    (row,) = map(json.loads, (out / "rows.jsonl").read_text().splitlines())
    assert row["answer"] == "Mira Holt"
    assert row["facts"] == [["Mira Holt", 1], ["Saint Anne", 1]]
    assert [shown["title"] for shown in row["evidence"]] == ["Blau", "Mira Holt", "Saint Anne"]
    assert row["citations"][0]["quote"] == "In 1952 Mira Holt restored the fresco of Saint Anne."
    assert {"retrieve", "draft", "cite", "first_draft", "total"} <= set(row["seconds"])


def test_only_the_gold_paragraphs_are_read_in_the_gold_setting(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert asked(out, "--data", str(official(tmp_path, HOLT)), "--backend", "floor", "--setting", "gold") == 0
    (row,) = map(json.loads, (out / "rows.jsonl").read_text().splitlines())
    assert [shown["title"] for shown in row["evidence"]] == ["Mira Holt", "Saint Anne"]


def test_the_open_setting_searches_an_index_and_numbers_sentences_as_the_corpus_does(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    paragraphs = {title: sentences for row in ROWS for title, sentences in row["context"]}
    rows = [{"id": f"p{n}", "title": t, "sents": s} for n, (t, s) in enumerate(paragraphs.items())]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    texts = read_corpus(corpus)
    build(texts.documents, tmp_path / "index", embedder=HashEmbedder(), splitter=texts.splitter)
    data, out = official(tmp_path, HOLT), tmp_path / "out"
    code = asked(out, "--data", str(data), "--backend", "gold", "--setting", "open", "--index", str(tmp_path / "index"))
    assert code == 0
    (row,) = map(json.loads, (out / "rows.jsonl").read_text().splitlines())
    assert row["facts"] == [["Mira Holt", 1], ["Saint Anne", 1]]
    assert row["scores"]["recall@5"] == row["scores"]["recall_read"] == 1.0


def test_the_open_setting_without_anything_to_search_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(tmp_path / "out", "--data", str(official(tmp_path)), "--backend", "floor", "--setting", "open") == 2
    assert "--index" in capsys.readouterr().err


class Stopping(SentenceFloor):
    """Is interrupted, as by Ctrl-C, at the question after so many."""

    def __init__(self, after: int) -> None:
        self.left = after

    def draft(self, prompt: Prompt, *, candidates: int = 1, max_passes: int = 4, seed: int = 0) -> Passes:
        if self.left == 0:
            raise KeyboardInterrupt
        self.left -= 1
        return super().draft(prompt)


def with_floor(made: Plan, floor: SentenceFloor) -> Plan:
    (backend,) = made.backends
    return made._replace(backends=[Backend(backend.name, floor, backend.options, backend.model)])


def test_an_interrupted_run_goes_on_and_ends_with_the_same_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = official(tmp_path)
    made = plan("hotpotqa", data, "distractor", ["floor"], out=tmp_path)
    run(made, tmp_path / "whole", seed=0)
    with pytest.raises(KeyboardInterrupt):
        run(with_floor(made, Stopping(2)), tmp_path / "parts", seed=0)  # the warm-up is one of the two
    assert (tmp_path / "parts" / "rows.jsonl").read_text().count("\n") == 1
    assert "stopped with 1 of 3 answers in" in capsys.readouterr().err
    counting = Stopping(3)
    run(with_floor(made, counting), tmp_path / "parts", seed=0)
    assert counting.left == 0, "the warm-up and the two questions that were left"
    for name in ("metrics.json", "predictions.json"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_line_that_was_cut_off_is_asked_again(tmp_path: Path) -> None:
    made = plan("hotpotqa", official(tmp_path), "distractor", ["floor"], out=tmp_path)
    run(made, tmp_path / "out", seed=0)
    metrics, rows = tmp_path / "out" / "metrics.json", tmp_path / "out" / "rows.jsonl"
    before = metrics.read_bytes()
    rows.write_bytes(rows.read_bytes()[:-20])
    run(made, tmp_path / "out", seed=0)
    assert metrics.read_bytes() == before
    assert rows.read_text().count("\n") == 3


def test_more_questions_may_be_asked_later_and_a_finished_run_asks_nothing(tmp_path: Path) -> None:
    made = plan("hotpotqa", official(tmp_path), "distractor", ["floor"], out=tmp_path)
    run(made._replace(questions=made.questions[:1]), tmp_path / "out", seed=0)
    run(made, tmp_path / "out", seed=0)
    run(with_floor(made, Stopping(0)), tmp_path / "out", seed=0)
    assert (tmp_path / "out" / "rows.jsonl").read_text().count("\n") == 3


def test_another_run_s_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, out = str(official(tmp_path)), tmp_path / "out"
    assert asked(out, "--data", data, "--backend", "floor") == 0
    assert asked(out, "--data", data, "--backend", "floor", "--seed", "1") == 1
    assert "holds a run with seed 0, not 1" in " ".join(capsys.readouterr().err.split())


def test_a_damaged_row_is_named(tmp_path: Path) -> None:
    made = plan("hotpotqa", official(tmp_path), "distractor", ["floor"], out=tmp_path)
    run(made, tmp_path / "out", seed=0)
    rows = tmp_path / "out" / "rows.jsonl"
    for wrong, said in (
        ("{}\n", "row 4: backend"),
        (rows.read_text().splitlines()[0] + "\n", "row 4: 'floor' answered"),
    ):
        good = rows.read_text()
        rows.write_text(good + wrong)
        with pytest.raises(RunUnusable, match=said):
            run(made, tmp_path / "out", seed=0)
        rows.write_text(good)


def test_the_page_needs_no_network_and_escapes_what_documents_say(tmp_path: Path) -> None:
    out = tmp_path / "out"
    nasty = HOLT | {"question": "Who restored <script>alert(1)</script> the fresco | of Saint Anne?"}
    assert asked(out, "--data", str(official(tmp_path, nasty)), "--backend", "gold") == 0
    text = (out / "report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text
    assert "http" not in text


def test_a_blank_paragraph_is_not_read_and_the_others_keep_their_numbers() -> None:
    blank = HOLT | {"context": [["Empty", [" "]], ["None", []], *HOLT["context"]]}
    library = given(question(blank))
    assert [hit.passage.document_id for hit in library.retriever.search("any", 9)] == ["q1/2", "q1/3", "q1/4"]


def test_backends_are_opened_in_the_order_given(tmp_path: Path) -> None:
    questions = read_questions(official(tmp_path))
    assert [backend.name for backend in open_backends(["gold", "floor"], questions)] == ["gold", "floor"]


def test_predictions_are_scored_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, out = official(tmp_path), tmp_path / "out"
    assert asked(out, "--data", str(data), "--backend", "gold") == 0
    capsys.readouterr()
    assert main(["eval", "score", "--data", str(data), "--predictions", str(out / "predictions.json")]) == 0
    assert "| joint F1 | 3 | 100.0 [100.0, 100.0] |" in capsys.readouterr().out
