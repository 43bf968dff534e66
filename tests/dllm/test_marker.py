"""Markers in free text: whole, wrong, repeated, nested, dangling; and what looks like one but is text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from remask.dllm.draft import Mark
from remask.dllm.marker import unmarked


def read(text: str, shown: int = 3) -> tuple[str, list[tuple[int, int]]]:
    found = unmarked(text, shown=shown)
    return found.text, [(mark.at, mark.evidence) for mark in found.marks]


@pytest.mark.parametrize(
    ("text", "plain", "marks"),
    [
        ("Mira Holt [2] built it [1].", "Mira Holt built it.", [(9, 1), (18, 0)]),
        ("It stood[1][2] there.", "It stood there.", [(8, 0), (8, 1)]),
        ("It stood [1, 3].", "It stood.", [(8, 0), (8, 2)]),
        ("It stood [1-3].", "It stood.", [(8, 0), (8, 1), (8, 2)]),
        ("It stood [1], [2].", "It stood.", [(8, 0), (8, 1)]),
        ("It stood [1 and 2].", "It stood.", [(8, 0), (8, 1)]),
        ("It stood 【1†a.pdf】。", "It stood。", [(8, 0)]),
        ("It stood [Source 2]. It fell.", "It stood. It fell.", [(8, 1)]),
        ("It stood. [1] It fell. [2]", "It stood. It fell.", [(9, 0), (18, 1)]),
        ("[1] It stood.", "It stood.", [(0, 0)]),
    ],
)
def test_markers_leave_the_text_and_keep_their_place(text: str, plain: str, marks: list[tuple[int, int]]) -> None:
    assert read(text) == (plain, marks)


@pytest.mark.parametrize("text", ["It stood [4].", "It stood [0].", "It stood [999]."])
def test_a_wrong_number_names_nothing_and_leaves_the_text(text: str) -> None:
    assert read(text) == ("It stood.", [])


def test_a_repeated_marker_counts_once_where_it_stands_and_again_elsewhere() -> None:
    assert read("A [1][1][1] b [1].") == ("A b.", [(1, 0), (3, 0)])


@pytest.mark.parametrize("text", ["It stood [[2]].", "It stood [[2], 2].", "It stood [ [2] ]."])
def test_nested_markers_are_one(text: str) -> None:
    assert read(text) == ("It stood.", [(8, 1)])


@pytest.mark.parametrize("text", ["It stood [2", "It stood [2.", "It stood 2]", "It stood 2]."])
def test_a_marker_with_one_bracket_counts(text: str) -> None:
    plain, marks = read(text)
    assert plain.rstrip(".") == "It stood"
    assert marks == [(8, 1)]


def test_a_bracket_that_the_end_cut_off_is_no_text() -> None:
    assert read("It stood [") == ("It stood", [])


@pytest.mark.parametrize(
    "text",
    ["the interval [0, 5) holds", "she said [sic] so", "the [1994] treaty", "a [see chapter 2] note", "{1} (2) <3>"],
)
def test_other_brackets_are_text(text: str) -> None:
    assert read(text) == (text, [])


@given(st.text(alphabet="ab .[]【】1290,-†\n", max_size=40), st.integers(0, 3))
def test_what_is_kept_stands_in_the_text_and_marks_point_into_it(text: str, shown: int) -> None:
    found = unmarked(text, shown=shown)
    assert "".join(text[i] for i in found.kept) == found.text == found.text.strip()
    assert list(found.kept) == sorted(set(found.kept))
    for mark in found.marks:
        assert isinstance(mark, Mark)
        assert 0 <= mark.at <= len(found.text)
        assert 0 <= mark.evidence < shown
