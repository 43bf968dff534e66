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
    R, A, L = stop_RAL.shape
    ahead_AL = torch.arange(L, device=start_RL.device) + torch.arange(A, device=start_RL.device)[:, None]
    inside_AL, ahead_AL = ahead_AL < L, ahead_AL.clamp(max=L - 1)
    here_RAL = stop_RAL.gather(2, ahead_AL.expand(R, A, L))  # [r, j, s]: the score of stopping at s + j
    length_AL = torch.arange(A, device=start_RL.device)[:, None]
    may_end_RAL = last_RL[:, ahead_AL] & inside_AL & (run_RL[:, None] > length_AL)
    going_RAL = torch.where(may_end_RAL, F.logsigmoid(-here_RAL), 0.0).cumsum(1)
    before_RAL = start_RL[:, None] + F.pad(going_RAL[:, :-1], (0, 0, 1, 0))
    return torch.where(may_end_RAL, before_RAL + F.logsigmoid(here_RAL), float("-inf"))


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
