"""A packed layer says what the plain one says."""

import pytest
import torch
from remask.dllm.packed import PackedLinear, pack, packable
from torch import nn

needs_onednn = pytest.mark.skipif(not packable(nn.Linear(2, 2)), reason="this torch has no oneDNN")


@needs_onednn
@torch.inference_mode()
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(), (1,), (2,), (1, 8), (3, 8), (40,), (0,), (2, 0)])
def test_a_product_is_the_usual_one_for_any_number_of_rows(shape: tuple[int, ...], bias: bool) -> None:
    torch.manual_seed(0)
    plain = nn.Linear(64, 48, bias=bias)
    quick = pack(nn.Sequential(plain))[0]
    assert type(quick) is PackedLinear
    x = torch.randn(*shape, 64)
    torch.testing.assert_close(quick(x), plain(x), atol=1e-5, rtol=1e-5)
    turned = torch.randn(64, *shape).movedim(0, -1)
    torch.testing.assert_close(quick(turned), plain(turned), atol=1e-5, rtol=1e-5)


@torch.inference_mode()
def test_other_number_formats_give_what_the_plain_layer_gives() -> None:
    torch.manual_seed(0)
    for dtype in (torch.bfloat16, torch.float64):
        plain, x = nn.Linear(64, 48).to(dtype), torch.randn(5, 64, dtype=dtype)
        torch.testing.assert_close(pack(nn.Sequential(plain))[0](x), plain(x))


@torch.inference_mode()
def test_other_layers_and_shared_weights_stay_as_they_are() -> None:
    words, head = nn.Embedding(9, 4), nn.Linear(4, 9, bias=False)
    head.weight = words.weight
    network = pack(nn.Sequential(words, nn.LayerNorm(4), head))
    assert [type(part) for part in network] == [nn.Embedding, nn.LayerNorm, nn.Linear]
    assert network[2].weight is words.weight
