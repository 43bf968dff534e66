"""Whole-span likelihoods against a brute-force reading of their definition."""

import math

import torch
from remask.dllm.mini.spans import gold_scores, span_scores

TEXT_ENDS = 5  # positions 0-4 are one text, 5-7 another
LAST = torch.tensor([[True, False, True, True, True, True, True, True]])
RUN = torch.tensor([[5, 4, 3, 2, 1, 3, 2, 1]])


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def brute(start: torch.Tensor, stop: torch.Tensor, at: int, n: int) -> float:
    end = at + n
    if end > 8 or (at < TEXT_ENDS < end) or not LAST[0, end - 1]:
        return -math.inf
    total = float(start[0, at])
    for j in range(n - 1):
        if LAST[0, at + j]:
            total += math.log(1 - sigmoid(float(stop[0, j, at + j])))
    return total + math.log(sigmoid(float(stop[0, n - 1, end - 1])))


def scores() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(1, 8, generator=generator).log_softmax(-1), torch.randn(1, 4, 8, generator=generator)


def test_every_entry_of_the_table_is_its_definition() -> None:
    start, stop = scores()
    table = span_scores(start, stop, LAST, RUN)
    for n in range(1, 5):
        for at in range(8):
            wanted = brute(start, stop, at, n)
            assert math.isclose(float(table[0, n - 1, at]), wanted, abs_tol=1e-5) or table[0, n - 1, at] == wanted


def test_given_spans_score_as_in_the_table() -> None:
    start, stop = scores()
    table = span_scores(start, stop, LAST, RUN)
    at, length = torch.tensor([[0, 2, 5]]), torch.tensor([[3, 1, 3]])
    found = gold_scores(start, stop, LAST, at, length)
    wanted = torch.stack([table[0, n - 1, s] for s, n in zip(at[0], length[0], strict=True)])
    torch.testing.assert_close(found[0], wanted)


def test_no_span_crosses_from_one_text_to_another_or_ends_inside_a_word() -> None:
    start, stop = scores()
    table = span_scores(start, stop, LAST, RUN)
    assert table[0, 2, 3] == -math.inf  # positions 3, 4, 5: two texts
    assert table[0, 0, 1] == -math.inf  # position 1 is the middle of a word
    assert torch.isfinite(table[0, 1, 1])  # but a span may go on through it
