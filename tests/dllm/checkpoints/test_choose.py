"""Decisions over one mask: their arithmetic, what is asked, and that they follow the model's own logits."""

from pathlib import Path
from typing import Any

import pytest
import torch
from remask.dllm.checkpoints.choose import LETTERS, Decisions, decided, lettered, letters
from remask.dllm.checkpoints.generator import CheckpointGenerator
from remask.dllm.checkpoints.tokenizer import Tokenizer
from remask.dllm.checkpoints.vocabulary import Vocabulary
from remask.dllm.draft import Evidence, Prompt
from remask.dllm.errors import GenerationFailed, PromptTooLong
from torch import Tensor

from .tiny import checkpoint, gemma_checkpoint, words

TOKENIZER = Tokenizer(words())
VOCABULARY = Vocabulary(TOKENIZER, len(words()) + 6)
TEXTS = tuple(Evidence(f"{name} built it in {year}.") for name, year in (("Mira", 1871), ("Jon", 1902), ("Ada", 1950)))


def test_probabilities_are_shares_of_the_options_alone() -> None:
    found = decided(torch.tensor([0.1, 0.6, 0.2, 0.1]).log(), [1, 2, 3])
    assert found.probabilities == pytest.approx((6 / 9, 2 / 9, 1 / 9), abs=1e-5)
    assert (found.choice, found.confidence) == (0, found.probabilities[0])


def test_every_option_has_a_letter_of_its_own_up_to_fifty_two() -> None:
    ids = letters(VOCABULARY, 52)
    assert len(set(ids)) == 52
    assert [VOCABULARY.texts[id_] for id_ in ids] == list(LETTERS)
    for count in (0, 53):
        with pytest.raises(GenerationFailed, match=f"{count} options"):
            letters(VOCABULARY, count)


def test_texts_are_lettered_beside_their_titles() -> None:
    titled = (Evidence("x", "Harbour"), Evidence("y"))
    assert [each.title for each in lettered(titled)] == ["A: Harbour", "B"]


class OneWord:
    """An engine that would write one word everywhere, and keeps what it was asked."""

    mask_id, window, device, words, name = words().mask_token_id, 4096, torch.device("cpu"), VOCABULARY.size, "one"

    def __init__(self, word: str) -> None:
        self.word, self.asked = VOCABULARY.one(word), ""

    def slots(self, wanted: int, prompt_tokens: int) -> int:
        return wanted + -(wanted + prompt_tokens) % 4

    def prefill(self, prompt: list[int], *, head: int = 0, without: Any = ()) -> None:
        self.asked = words().decode(prompt)

    def logits(self, state: None, canvas_BN: Tensor) -> Tensor:
        assert (canvas_BN == self.mask_id).sum() == 1
        out = torch.zeros(*canvas_BN.shape, self.words)
        out[..., self.word] = 5.0
        return out


def decisions(word: str) -> tuple[Decisions, OneWord]:
    engine = OneWord(word)
    return Decisions(engine, TOKENIZER, VOCABULARY), engine  # type: ignore[arg-type]


def test_evidence_is_ranked_in_one_pass_by_its_letters() -> None:
    decide, engine = decisions("B")
    found = decide.which(Prompt("Who built it?", TEXTS))
    assert found.choice == 1
    assert found.confidence > 0.9
    assert sum(found.probabilities) == pytest.approx(1, abs=1e-4)
    for letter, text in zip("ABC", TEXTS, strict=True):
        assert f"{letter}\n{text.text}" in engine.asked


def test_yes_is_the_first_letter() -> None:
    for word, likely in (("A", True), ("B", False)):
        decide, engine = decisions(word)
        assert (decide.answerable(Prompt("Who?", TEXTS)) > 0.5) == likely
        assert (decide.supported("Mira built it.", TEXTS[:1]) > 0.5) == likely
        assert "Mira built it." in engine.asked


def test_options_are_asked_about_in_their_order() -> None:
    decide, engine = decisions("C")
    assert decide.choice("Who built it?", ["Mira", "Jon", "Ada"], TEXTS).choice == 2
    assert "Who built it? A: Mira. B: Jon. C: Ada." in engine.asked


def test_nothing_to_rank_and_too_much_to_read_are_refused() -> None:
    decide, engine = decisions("A")
    with pytest.raises(GenerationFailed, match="no evidence"):
        decide.which(Prompt("Who?"))
    engine.window = 40
    with pytest.raises(PromptTooLong, match="there is room for") as refused:
        decide.answerable(Prompt("Who?", TEXTS))
    assert refused.value.limit is not None
    assert refused.value.limit < 40


@pytest.mark.parametrize("name", ["llada", "dream", "sdar", "diffusiongemma"])
def test_every_family_decides(tmp_path: Path, name: str) -> None:
    where = gemma_checkpoint(tmp_path) if name == "diffusiongemma" else checkpoint(tmp_path, name)
    generator = CheckpointGenerator.load(str(where), device="cpu")
    found = generator.decide.which(Prompt("Who built it?", TEXTS))
    assert len(found.probabilities) == 3
    assert sum(found.probabilities) == pytest.approx(1, abs=1e-4)
    assert found == generator.decide.which(Prompt("Who built it?", TEXTS))
    assert 0 < generator.decide.answerable(Prompt("Who built it?", TEXTS)) < 1
