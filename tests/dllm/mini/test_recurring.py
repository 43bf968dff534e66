"""Questions made from texts: what is hidden in one text is told by another, and by no other that is shown."""

import json
from pathlib import Path

import pytest
import typer
from remask.dllm.errors import TrainingDataUnusable
from remask.dllm.mini.examples import pieces_of, read_examples, target_of
from remask.dllm.mini.layout import LayoutOptions
from remask.dllm.mini.recurring import HIDDEN, Recurring, RecurringOptions, Text, make, read_texts
from remask.dllm.mini.weights import load_words

TEXTS = (
    Text(
        "Lindvik bridge", ("The granite bridge over the Lindvik fjord was drawn by Elin Berg in 1931.", " It is long.")
    ),
    Text("Elin Berg", ("She was born in Tarnby.", " The architect Elin Berg drew a granite bridge over a fjord.")),
    Text("Granite", ("A granite bridge is heavy.", " No fjord has more than one.")),
    Text("Tarnby", ("The town of Tarnby has a harbour.", " It is old.")),
    Text("Sixten Holm", ("Once the baker Sixten Holm baked rye bread.",)),
)
OPTIONS = RecurringOptions(least_words=3, least_shared=1.5, rare=0.6)


def rows(seed: int = 0) -> list[dict]:  # type: ignore[type-arg]
    return list(Recurring(TEXTS, OPTIONS, seed=seed).rows())


def test_a_name_that_recurs_is_hidden_in_one_text_and_told_by_the_other() -> None:
    (row,) = [row for row in rows() if row["id"].startswith("recurring/0.")]
    assert row["question"] == "The granite bridge over the Lindvik fjord was drawn by what in 1931."
    assert row["answers"] == ["Elin Berg"]
    assert row["supporting_facts"] == [["Elin Berg", 1]]
    titles = [title for title, _ in row["context"]]
    assert "Granite" in titles, "it shares words with the question"
    assert "Lindvik bridge" not in titles, "it is where the question comes from"


def test_every_row_can_be_learnt_from_and_only_its_marked_text_tells_the_answer(tmp_path: Path) -> None:
    file, words = tmp_path / "made.jsonl", load_words()
    file.write_text("".join(json.dumps(row) + "\n" for row in rows()), encoding="utf-8")
    examples = list(read_examples(file))
    assert len(examples) == 2
    for example in examples:
        target = target_of(example, pieces_of(example, words, LayoutOptions()), words, longest=14)
        assert target is not None
        assert target.kind == "span"
        assert example.supporting == target.cites
        (answer,), told = example.answers, {text for text, _ in example.supporting or ()}
        assert HIDDEN in example.question
        assert answer not in example.question
        assert {n for n, text in enumerate(example.texts) if answer in text.text} == told
        assert len({text.title for text in example.texts}) == len(example.texts)


def test_texts_that_share_too_little_besides_ask_nothing_of_each_other() -> None:
    assert not any("Tarnby" in row["answers"] for row in rows())
    assert not list(Recurring(TEXTS, RecurringOptions(least_words=3, least_shared=50.0)).rows())


def test_a_seed_makes_the_same_rows() -> None:
    assert rows(3) == rows(3)


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("Then came Ada Lund.", ["Ada Lund"]),
        ("The ship sank.", []),  # a capital that only begins the sentence
        ("Guns N' Roses met C&PA there.", []),  # parts of longer names
        ("He lived in the House of the Owl until May 1931.", ["House of the Owl", "May 1931"]),
    ],
)
def test_only_whole_names_and_numbers_are_hidden(sentence: str, names: list[str]) -> None:
    texts = [Text("a", (sentence,)), Text("b", (sentence + " Twice.",))]
    assert sorted(Recurring(texts)._spots) == sorted(names)


def test_a_file_is_made_of_a_file(tmp_path: Path) -> None:
    corpus, out = tmp_path / "texts.jsonl", tmp_path / "made.jsonl.gz"
    corpus.write_text("".join(json.dumps({"title": t.title, "sents": t.sentences}) + "\n" for t in TEXTS))
    assert read_texts(corpus) == list(TEXTS)
    make(corpus, out, rows=1, seed=0)
    assert not list(read_examples(out)), "so few texts share too little"


def test_mistakes_are_told_in_a_line_and_an_older_file_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad, out = tmp_path / "good.jsonl", tmp_path / "bad.jsonl", tmp_path / "made.jsonl.gz"
    good.write_text('{"title": "a", "sents": ["b"]}\n')
    bad.write_text("{")
    out.write_text("an older file")
    for corpus, place, told in ((good, tmp_path / "nowhere" / "made.gz", "nowhere"), (bad, out, "row 1: ")):
        with pytest.raises(typer.Exit):
            make(corpus, place, rows=1, seed=0)
        assert told in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.jsonl", "good.jsonl", "made.jsonl.gz"]
    assert out.read_text() == "an older file"


@pytest.mark.parametrize("wrong", ['{"title": "a"}', '{"title": "a", "sents": "b c"}', "[1]", "{"])
def test_a_row_without_sentences_is_named(tmp_path: Path, wrong: str) -> None:
    corpus = tmp_path / "texts.jsonl"
    corpus.write_text(f'{{"title": "a", "sents": ["b"]}}\n{wrong}\n')
    with pytest.raises(TrainingDataUnusable, match=r"row 2: .*each row needs title"):
        read_texts(corpus)
