"""A conversation that fits the model's window."""

from collections.abc import Sequence
from typing import NamedTuple

from ..conversation import INSTRUCTION, messages, numbered
from ..draft import Evidence, Prompt
from ..errors import PromptTooLong
from .tokenizer import Tokenizer

_BESIDE = 32
"""Tokens that go with a text at most: what joins it to the next, and a fence that comes out shorter without it."""


class Asked(NamedTuple):
    """`left_out`: indexes of evidence that did not fit. `head`: how many ids come before the question, the same for any
    question about the same evidence."""

    ids: list[int]
    left_out: tuple[int, ...]
    head: int = 0


def asked(
    tokenizer: Tokenizer, prompt: Prompt, *, room: int, instruction: str = INSTRUCTION, find_head: bool = False
) -> Asked:
    """The conversation in at most `room` tokens. Evidence is left out whole, the last and so least useful first; the
    question never is. `instruction` as in `conversation.messages`; `find_head`: else `head` is 0. Raises PromptTooLong
    where the question alone is too long."""
    lengths = [len(tokenizer.encode(numbered(n, e, plain=tokenizer.plain))) for n, e in enumerate(prompt.evidence, 1)]
    kept = len(prompt.evidence)
    while True:
        ids = _chat(tokenizer, prompt.question, prompt.evidence[:kept], instruction)
        if len(ids) <= room:
            others = [_chat(tokenizer, other, prompt.evidence[:kept], instruction) for other in ("a", "1") if find_head]
            head = min((_alike(ids, other) for other in others), default=0) if kept else 0
            return Asked(ids, tuple(range(kept, len(prompt.evidence))), head)
        if not kept:
            raise PromptTooLong(
                f"the question takes {len(ids)} tokens with its instruction, and there is room for {room}. Ask shorter",
                limit=room,
                asked=len(ids),
            )
        over = len(ids) - room
        while kept and over > 0:
            kept -= 1
            over -= lengths[kept] + _BESIDE


def _chat(tokenizer: Tokenizer, question: str, evidence: Sequence[Evidence], instruction: str) -> list[int]:
    return tokenizer.chat(messages(question, evidence, plain=tokenizer.plain, instruction=instruction))


def _alike(one: Sequence[int], other: Sequence[int]) -> int:
    """How many ids they begin with in common."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
