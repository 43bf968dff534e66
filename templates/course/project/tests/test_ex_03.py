"""Checks exercise 3. Skipped until you begin; a wrong answer fails."""

import pytest
import torch


def masked(ex, share: list[float], seed: int = 0) -> torch.Tensor:
    ids = torch.arange(len(share) * 2000).view(len(share), 2000)
    return ex.mask_some(ids, torch.tensor(share), mask_id=-1, generator=torch.Generator().manual_seed(seed))


def test_each_row_loses_its_share(ex) -> None:
    lost = (masked(ex, [0.0, 0.3, 1.0]) == -1).float().mean(1).tolist()
    assert lost[0] == 0
    assert lost[1] == pytest.approx(0.3, abs=0.05)
    assert lost[2] == 1


def test_what_is_not_masked_stays(ex) -> None:
    ids = torch.arange(2000).view(1, 2000)
    out = masked(ex, [0.5])
    assert torch.equal(out[out != -1], ids[out != -1])


def test_the_input_is_not_changed_and_a_seed_says_it_all(ex) -> None:
    ids = torch.arange(50).view(1, 50)
    ex.mask_some(ids, torch.tensor([1.0]), mask_id=-1, generator=torch.Generator().manual_seed(0))
    assert torch.equal(ids, torch.arange(50).view(1, 50))
    assert torch.equal(masked(ex, [0.5], seed=4), masked(ex, [0.5], seed=4))
