"""The baseline that most RAG systems are: a language model that writes word by word. Knows no runtime and no file."""

import time
from collections.abc import Generator, Sequence
from contextlib import closing

from ..dllm.draft import CanvasPass, Draft, Kind, Passes, Prompt, Token
from ..dllm.errors import PromptTooLong
from .prompts import DEFAULT, prompt_of, written
from .rewriter import Rewriter
from .writer import Step, Steps, Writer

MAX_TOKENS = 32
"""As many as the embedded reader's longest answers need, and more than a short answer has."""

Written = Generator[CanvasPass, None, list[Step]]


class AutoregressiveReader(Rewriter):
    """One draft, of no candidates. A pass is one step of the model: the first reads the prompt and writes a token, each
    further one a token."""

    name = "autoregressive"

    def __init__(self, writer: Writer, *, instruction: str = DEFAULT, max_tokens: int = MAX_TOKENS) -> None:
        """`instruction` is one of the prompts in `prompts.toml`, by its name."""
        self.writer, self.template = writer, prompt_of(instruction)
        self._max_tokens = max_tokens

    def draft(self, prompt: Prompt, *, candidates: int = 1, max_passes: int = 4, seed: int = 0) -> Passes:
        """`max_passes` counts passes over a canvas, which a model like this has not, so it is not heeded. Passages that
        the window has no room for are left out, the last ones first; raises PromptTooLong where even the question is."""
        begin = time.perf_counter()
        made, shown = yield from self._fitted(prompt)
        text = made[-1].text.strip() if made else ""
        kind = _kind(text)
        sure = sum(step.confidence for step in made) / len(made) if made else 0.0
        return [
            Draft(
                "" if kind == "none" else text,
                _tokens(made, text) if kind == "span" else (),
                kind,
                confidence=sure,
                left_out=tuple(range(shown, len(prompt.evidence))),
                passes=len(made),
                seconds=time.perf_counter() - begin,
                stages=stages(made),
            )
        ]

    def _fitted(self, prompt: Prompt) -> Generator[CanvasPass, None, tuple[list[Step], int]]:
        """The steps, and how many passages were read."""
        shown = len(prompt.evidence)
        while True:
            asked = written(self.template.text, prompt.question, prompt.evidence[:shown])
            try:
                return (yield from self._steps(asked)), shown
            except PromptTooLong:
                if not shown:
                    raise
                shown -= 1

    def _steps(self, asked: str) -> Written:
        return watched(self.writer.write(asked, max_tokens=self._max_tokens, examples=self.template.examples))


def watched(steps: Steps, *, begin: int = 0) -> Written:
    """Shows each step as a pass, counted from `begin`."""
    made: list[Step] = []
    with closing(steps):
        for step in steps:
            made.append(step)
            yield CanvasPass(begin + len(made) - 1, step.text, 1, 0, seconds=step.seconds)
    return made


def stages(made: Sequence[Step]) -> dict[str, float]:
    """Seconds to the first token, and of all others."""
    return {"prefill": made[0].seconds, "decode": sum(step.seconds for step in made[1:])} if made else {}


def _tokens(made: Sequence[Step], text: str) -> tuple[Token, ...]:
    """One a step. Blanks around the text belong to none."""
    blanks, begin = made[-1].text.find(text), 0
    found: list[Token] = []
    for step in made:
        end = min(len(step.text) - blanks, len(text))
        if end > begin:
            found.append(Token(begin, end, step.confidence))
            begin = end
    return tuple(found)


def _kind(text: str) -> Kind:
    """A bare yes or no is one, whatever is around it."""
    bare = text.strip(" .,!\n").lower()
    return "none" if not bare else "yes" if bare == "yes" else "no" if bare == "no" else "span"
