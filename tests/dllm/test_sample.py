"""From logits to words and confidences."""

# B batch, N canvas slots, V vocabulary, M masked slots of one row.

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from remask.dllm.noise import RowNoise, row_seeds
from remask.dllm.sample import Confidence, Sampling, confidence, from_logits, nucleus, sample
from remask.dllm.table import TableDenoiser
from torch import Tensor

QUICK = settings(max_examples=40, deadline=None)


def shares(*values: float) -> Tensor:
    return torch.tensor([values], dtype=torch.float64).log()


def test_without_temperature_the_likeliest_word_is_taken_with_its_probability() -> None:
    ids, sure = sample(shares(0.1, 0.7, 0.2), Sampling(), mask_id=9)
    assert ids.tolist() == [1]
    assert sure.tolist() == pytest.approx([0.7])


def test_the_mask_is_never_written_however_likely() -> None:
    ids, sure = sample(shares(0.1, 0.7, 0.2), Sampling(), mask_id=1)
    assert ids.tolist() == [2]
    assert sure.tolist() == pytest.approx([0.2])


def test_a_forbidden_word_gives_its_share_to_the_others() -> None:
    ids, sure = sample(shares(0.5, 0.375, 0.125), Sampling(forbidden=(0,)), mask_id=9)
    assert ids.tolist() == [1]
    assert sure.tolist() == pytest.approx([0.75])


@pytest.mark.parametrize("kind", ["probability", "margin", "entropy"])
def test_a_reluctant_word_is_written_but_committed_last(kind: Confidence) -> None:
    ids, sure = sample(shares(0.7, 0.2, 0.1), Sampling(reluctant=(0,), confidence=kind), mask_id=9)
    assert ids.tolist() == [0]
    assert sure.tolist() == [0.0]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("probability", 0.5), ("margin", 0.25), ("entropy", 2.0**-1.5)],  # H = 0.5*1 + 0.25*2 + 0.25*2 = 1.5 bits
)
def test_confidence_by_hand(kind: Confidence, expected: float) -> None:
    assert confidence(shares(0.5, 0.25, 0.25), torch.tensor([0]), kind).tolist() == pytest.approx([expected])


def test_an_impossible_word_in_the_vocabulary_does_not_spoil_the_entropy() -> None:
    logits = torch.tensor([[0.0, 0.0, -math.inf]])
    assert confidence(logits, torch.tensor([0]), "entropy").tolist() == pytest.approx([0.5])


def test_the_nucleus_keeps_the_fewest_words_that_reach_the_share() -> None:
    kept = torch.isfinite(nucleus(shares(0.25, 0.5, 0.125, 0.125), 0.7))
    assert kept.tolist() == [[True, True, False, False]]
    assert torch.isfinite(nucleus(shares(0.25, 0.5, 0.125, 0.125), 1e-9)).tolist() == [[False, True, False, False]]


@QUICK
@given(st.integers(0, 2**32), st.floats(0.05, 3.0))
def test_noise_picks_what_lladas_formula_picks(seed: int, temperature: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(5, 11, generator=generator)
    uniform = torch.rand(5, 11, generator=generator, dtype=torch.float64)
    ids, sure = sample(logits, Sampling(temperature=temperature), mask_id=99, uniform_MV=uniform)
    ours, theirs = ids, (logits.double().exp() / (-uniform.log()) ** temperature).argmax(-1)
    assert ours.tolist() == theirs.tolist()
    assert torch.allclose(sure, logits.softmax(-1).gather(-1, theirs[:, None])[:, 0])


def test_confidence_is_taken_before_temperature_and_top_p() -> None:
    logits = shares(0.6, 0.3, 0.1)
    cold = Sampling(temperature=0.01, top_p=0.5)
    ids, sure = sample(logits, cold, mask_id=9, uniform_MV=torch.full((1, 3), 0.5, dtype=torch.float64))
    assert ids.tolist() == [0]
    assert sure.tolist() == pytest.approx([0.6])


def test_words_are_drawn_as_often_as_the_temperature_says() -> None:
    # At temperature 2 shares of 0.8 and 0.2 become sqrt(0.8) : sqrt(0.2) = 2 : 1.
    uniform = torch.rand(20_000, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    ids, _ = sample(shares(0.8, 0.2).expand(20_000, -1), Sampling(temperature=2.0), mask_id=9, uniform_MV=uniform)
    assert float((ids == 0).double().mean()) == pytest.approx(2 / 3, abs=0.01)


def test_a_proposer_leaves_given_slots_as_they_are_and_is_sure_of_them() -> None:
    model = TableDenoiser(torch.eye(3), mask_id=3)
    ids, sure = from_logits(model, model.prefill([]))(torch.tensor([[3, 0, 3]]))
    assert ids.tolist() == [[0, 0, 2]]
    assert sure[0, 1] == 1.0
    assert sure[0, 0] == pytest.approx(math.e / (math.e + 2))


@pytest.mark.parametrize("wrong", [{"temperature": -1.0}, {"top_p": 0.0}, {"top_p": 1.1}, {"temperature": math.nan}])
def test_settings_that_cannot_be_meant_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Sampling(**wrong)  # type: ignore[arg-type]


def test_a_row_draws_the_same_numbers_wherever_it_stands_and_however_it_is_padded() -> None:
    alone = RowNoise(5, 1, stream="order")
    batch = RowNoise([4, 5], 2, stream="order")
    for _ in range(2):
        drawn = alone.uniform(torch.tensor([[True, True, False]]))[0, :2]
        padded = batch.uniform(torch.tensor([[True] * 6, [False, False, True, False, True, False]]))[1, [2, 4]]
        assert torch.equal(drawn, padded)


def test_two_streams_under_one_seed_differ() -> None:
    here = torch.ones(1, 4, dtype=torch.bool)
    assert not torch.equal(RowNoise(5, 1, stream="order").uniform(here), RowNoise(5, 1, stream="words").uniform(here))


def test_there_must_be_a_seed_for_every_row() -> None:
    with pytest.raises(ValueError, match="2 seeds for 3 rows"):
        row_seeds([1, 2], 3)
