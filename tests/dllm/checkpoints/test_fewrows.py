"""Quick products of few columns are the usual ones."""

import pytest
import torch
from remask.dllm.checkpoints.fewrows import MOST_ROWS, FewRowsLinear, quicken
from torch import nn


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(1,), (1, 1), (2,), (1, 8), (3, 8), (MOST_ROWS,), (MOST_ROWS + 1,), (0,), (2, 0)])
def test_a_product_is_the_usual_one_for_any_number_of_rows(shape: tuple[int, ...], bias: bool) -> None:
    torch.manual_seed(0)
    plain = nn.Linear(64, 48, bias=bias)
    quick = quicken(nn.Sequential(nn.Linear(64, 48, bias=bias)))[0]
    assert type(quick) is FewRowsLinear
    quick.load_state_dict(plain.state_dict())
    x = torch.randn(*shape, 64)
    torch.testing.assert_close(quick(x), plain(x), atol=1e-5, rtol=1e-5)
    assert quick(x).is_contiguous()


def test_other_number_formats_and_layers_stay_as_they_are() -> None:
    x = torch.randn(4, 64, dtype=torch.bfloat16)
    network = quicken(nn.Sequential(nn.Linear(64, 48).bfloat16(), nn.LayerNorm(48)))
    assert torch.equal(network[0](x), nn.functional.linear(x, network[0].weight, network[0].bias))
    assert type(network[1]) is nn.LayerNorm
