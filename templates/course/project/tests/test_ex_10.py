"""Checks exercise 10. Skipped until you begin; a wrong answer fails."""

import pytest

STREAM = "data: bø\n\n: still here\n\nevent: x\ndata: two\ndata:lines\n\ndata: [DONE]\n\n".encode()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_however_it_is_cut(ex, size: int) -> None:
    pieces = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]
    assert list(ex.events(pieces)) == ["bø", "two\nlines", "[DONE]"]


def test_an_event_that_did_not_end_is_not_given(ex) -> None:
    assert list(ex.events([b"data: half"])) == []


def test_windows_line_ends(ex) -> None:
    assert list(ex.events([b"data: a\r\n\r\n"])) == ["a"]
