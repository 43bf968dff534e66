"""Number formats: int8 says nearly what float32 says, and what can't be trained is not."""

import time

import pytest
import torch
from remask.dllm.draft import Evidence, Prompt, finish
from remask.dllm.mini import precision
from remask.dllm.mini.precision import Int8Linear, fit, use_bfloat16, use_int8
from remask.dllm.mini.reader import EmbeddedReader, ReaderOptions
from remask.dllm.mini.weights import load_reader

CPU = torch.device("cpu")
needs_int8 = pytest.mark.skipif(
    "x86" not in torch.backends.quantized.supported_engines, reason="int8 products need x86"
)


@needs_int8
@torch.inference_mode()
def test_an_int8_product_is_off_by_a_few_hundredths() -> None:
    torch.manual_seed(0)
    linear, x = torch.nn.Linear(64, 32), torch.randn(10, 64)
    exact = linear(x)
    assert (Int8Linear(linear)(x) - exact).abs().max() < 0.04 * exact.abs().max()


@needs_int8
@torch.inference_mode()
def test_a_row_with_far_larger_values_does_not_spoil_the_others() -> None:
    torch.manual_seed(0)
    linear, x = torch.nn.Linear(64, 32), torch.randn(10, 64)
    x[3, 5] = 1000.0
    exact, brief = linear(x), Int8Linear(linear)(x)
    off = (brief - exact).norm(dim=1) / exact.norm(dim=1)
    assert off.max() < 0.04


@needs_int8
@torch.inference_mode()
def test_a_row_is_the_same_alone_and_among_others() -> None:
    torch.manual_seed(0)
    multiply, x = Int8Linear(torch.nn.Linear(64, 32)), torch.randn(10, 64) * torch.logspace(-2, 2, 10)[:, None]
    among = multiply(x)
    for row in range(10):
        assert torch.equal(multiply(x[row : row + 1])[0], among[row])


@needs_int8
@torch.inference_mode()
@pytest.mark.parametrize("value", [0.0, -3.0, 7.0])
def test_a_row_of_equal_values_is_multiplied_too(value: float) -> None:
    linear = torch.nn.Linear(8, 3)
    x = torch.full((2, 8), value)
    torch.testing.assert_close(Int8Linear(linear)(x), linear(x), atol=0.2, rtol=0.02)


@needs_int8
@torch.inference_mode()
def test_an_output_without_weights_is_its_bias() -> None:
    linear = torch.nn.Linear(8, 3)
    torch.nn.init.zeros_(linear.weight)
    torch.testing.assert_close(Int8Linear(linear)(torch.randn(4, 8)), linear.bias.expand(4, 3))


def test_what_is_told_is_used() -> None:
    assert use_bfloat16("bfloat16", CPU)
    assert not use_bfloat16("float32", CPU)
    assert use_int8("int8", CPU)
    assert not use_int8("float32", CPU)
    assert not use_int8("auto", torch.device("meta"))


@needs_int8
@pytest.mark.parametrize("slower", [0.0, 0.01])
def test_a_brief_format_is_taken_only_where_it_is_faster(monkeypatch: pytest.MonkeyPatch, slower: float) -> None:
    class Timed(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            time.sleep(slower)
            return x

    # What it is compared with takes 5 ms.
    plain = torch.nn.Linear.forward
    monkeypatch.setattr(torch.nn.Linear, "forward", lambda self, x: (time.sleep(0.005), plain(self, x))[1])
    monkeypatch.setattr(precision, "packed", lambda linear: linear)
    monkeypatch.setattr(precision, "Int8Linear", lambda linear: Timed())
    assert use_int8("auto", CPU) == (slower < 0.005)


@torch.inference_mode()
def test_float32_multiplies_as_before() -> None:
    reader, x = load_reader().reader, torch.randn(3, 384, generator=torch.Generator().manual_seed(0))
    before = [layer.qkv(x) for layer in reader.layers]
    for layer, said in zip(fit(reader, "float32").layers, before, strict=True):
        torch.testing.assert_close(layer.qkv(x), said, atol=1e-5, rtol=1e-5)


@needs_int8
def test_the_shipped_reader_says_the_same_in_int8() -> None:
    evidence = Evidence("The harbour bridge was designed by Elin Berg. It opened in March 1931.", "Harbour Bridge")
    prompt = Prompt("Who designed the harbour bridge?", (evidence,))
    plain, brief = (
        finish(EmbeddedReader.load(options=ReaderOptions(precision=p)).draft(prompt))[0] for p in ("float32", "int8")
    )
    assert (brief.kind, brief.text) == (plain.kind, plain.text) == ("span", "Elin Berg")
    assert brief.confidence == pytest.approx(plain.confidence, abs=0.15)
