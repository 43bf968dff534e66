"""Where the answers of training rows stand, by hand."""

import json
from pathlib import Path

import pytest
from remask.dllm.errors import TrainingDataUnusable
from remask.dllm.mini.examples import Example, Place, Target, evidence, pieces_of, read_examples, target_of
from remask.dllm.mini.layout import LayoutOptions
from remask.dllm.mini.weights import load_words

from .rows import row, write_rows

WORDS = load_words()


def example(
    answers: tuple[str, ...], *texts: tuple[str, list[str]], facts: tuple[tuple[int, int], ...] | None = None
) -> Example:
    return Example("1", "who?", answers, tuple(evidence(t, s) for t, s in texts), facts)


def target(given: Example, longest: int = 14) -> Target | None:
    return target_of(given, pieces_of(given, WORDS, LayoutOptions()), WORDS, longest=longest)


def test_every_occurrence_as_whole_words_is_right_and_none_inside_a_word() -> None:
    found = target(example(("art",), ("", ["The art of the party. ", "Art is long."])))
    assert found is not None
    assert found.answers == (Place(0, 1, 1), Place(0, 6, 1))


def test_occurrences_outside_supporting_sentences_do_not_count() -> None:
    given = example(("Paris",), ("A", ["Paris is big. ", "He lived in Paris."]), facts=((0, 1),))
    found = target(given)
    assert found is not None
    assert found.answers == (Place(0, 7, 1),)
    assert found.cites == ((0, 1),)


def test_an_unanswerable_row_teaches_none_and_no_citation() -> None:
    assert target(example((), ("A", ["Nothing here."]))) == Target("none", cites=())


def test_yes_and_no_are_kinds_not_spans() -> None:
    found = target(example(("Yes",), ("A", ["No doubt, yes."])))
    assert found is not None
    assert (found.kind, found.answers) == ("yes", ())


def test_a_long_answer_is_taught_as_its_sentences() -> None:
    said = "the fee is paid by the seller on the first day of the month and never later"
    found = target(example((said,), ("A", ["Short. ", f"Well, {said}. ", "End."])))
    assert found is not None
    assert (found.kind, found.cites) == ("sentences", ((0, 1),))


def test_an_answer_that_is_not_in_the_text_teaches_nothing() -> None:
    assert target(example(("Rome",), ("A", ["It was Paris."]))) is None


def test_the_bridge_is_the_mention_of_the_other_gold_title() -> None:
    given = example(
        ("1931",),
        ("Film", ["It was shot by Ann Lee."]),
        ("Ann Lee (artist)", ["She was born in 1931."]),
        facts=((0, 0), (1, 0)),
    )
    found = target(given)
    assert found is not None
    assert found.bridges == (Place(0, 4, 2),)


def test_a_row_without_a_key_is_named_with_file_and_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    good = row(1)
    bad = {k: v for k, v in good.items() if k != "answers"}
    path.write_text(json.dumps(good) + "\n" + json.dumps(bad) + "\n", encoding="utf-8")
    with pytest.raises(TrainingDataUnusable, match=r"rows\.jsonl, row 2: KeyError 'answers'"):
        list(read_examples(path))


def test_a_truncated_gzip_file_is_an_error_naming_it(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.jsonl.gz", [row(n) for n in range(50)])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(TrainingDataUnusable, match="rows"):
        list(read_examples(path))
