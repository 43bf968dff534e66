"""A conversation that fits the model's window."""

from typing import NamedTuple

from ..conversation import messages, numbered
from ..draft import Prompt
from ..errors import GenerationFailed
from .tokenizer import Tokenizer


class Asked(NamedTuple):
    """`left_out`: indexes of evidence that did not fit."""

    ids: list[int]
    left_out: tuple[int, ...]


def asked(tokenizer: Tokenizer, prompt: Prompt, *, room: int) -> Asked:
    """The conversation in at most `room` tokens. Evidence is left out whole, the last and so least useful first; the
    question never is. Raises GenerationFailed where the question alone is too long."""
    lengths = [len(tokenizer.encode(numbered(n, e, plain=tokenizer.plain))) for n, e in enumerate(prompt.evidence, 1)]
    kept = len(prompt.evidence)
    while True:
        ids = tokenizer.chat(messages(prompt.question, prompt.evidence[:kept], plain=tokenizer.plain))
        if len(ids) <= room:
            return Asked(ids, tuple(range(kept, len(prompt.evidence))))
        if not kept:
            raise GenerationFailed(
                f"the question takes {len(ids)} tokens with its instruction, and there is room for {room}. Ask shorter"
            )
        over = len(ids) - room
        while kept and over > 0:
            kept -= 1
            over -= lengths[kept]
