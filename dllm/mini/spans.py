"""Whole-span likelihoods from start and stop scores: what makes a parallel draft coherent.

Slots that are committed in one pass don't know of each other, so reading each slot's favourite apart gives "die die die".
The network's start and stop scores define one distribution over whole spans; drafts are read off that.
"""

# R rows (canvases), L positions, A answer slots.

import torch
import torch.nn.functional as F
from torch import Tensor


def span_scores(start_RL: Tensor, stop_RAL: Tensor, last_RL: Tensor, run_RL: Tensor) -> Tensor:
    """Log-probability [R, A, L] of every span: entry [r, n-1, s] is the span of n tokens from position s.

    A span stays inside one text and ends at the end of a word; the others are -inf.
    """
    A = stop_RAL.shape[1]
    going = start_RL
    scores = []
    for j in range(A):
        here = _ahead(stop_RAL[:, j], j)
        may_end = _ahead(last_RL, j) & (run_RL > j)
        scores.append(torch.where(may_end, going + F.logsigmoid(here), float("-inf")))
        going = going + torch.where(may_end, F.logsigmoid(-here), 0.0)
    return torch.stack(scores, 1)


def _ahead(x_RL: Tensor, j: int) -> Tensor:
    """x[s + j] at s; past the end, x's zero."""
    return F.pad(x_RL[:, j:], (0, min(j, x_RL.shape[1])))


def gold_scores(start_RL: Tensor, stop_RAL: Tensor, last_RL: Tensor, at_RO: Tensor, length_RO: Tensor) -> Tensor:
    """Log-probabilities [R, O] of given spans, as `span_scores` has them, without making the table.

    Row r's o-th span begins at `at_RO[r, o]` and has `length_RO[r, o]` tokens, at most A.
    """
    A, L = stop_RAL.shape[1:]
    j = torch.arange(A, device=start_RL.device)
    where_ROA = (at_RO[..., None] + j).clamp(max=L - 1)
    stops_ROA = stop_RAL.gather(2, where_ROA.transpose(1, 2)).transpose(1, 2)
    last_ROA = last_RL[:, None].expand(-1, at_RO.shape[1], -1).gather(2, where_ROA)
    before, at_end = j < length_RO[..., None] - 1, j == length_RO[..., None] - 1
    steps = torch.where(before & last_ROA, F.logsigmoid(-stops_ROA), 0.0)
    steps = steps + torch.where(at_end, F.logsigmoid(stops_ROA), 0.0)
    return start_RL.gather(1, at_RO) + steps.sum(-1)
