"""What each word of a checkpoint's vocabulary says: which of them may stand in a text, in a number, as one letter."""

from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor

from .tokenizer import Tokenizer

QUOTE = '"'


class Vocabulary:
    """Words by what they say. `size` counts the network's logits, which may be more than the tokenizer's words; what the
    tokenizer doesn't know is never allowed. Read once, at its first use."""

    def __init__(self, tokenizer: Tokenizer, size: int) -> None:
        self._tokenizer, self.size = tokenizer, size

    @cached_property
    def texts(self) -> list[str]:
        """What every word says by itself; empty for special words and for those the tokenizer doesn't know."""
        return self._tokenizer.texts(self.size)

    @cached_property
    def in_text_V(self) -> Tensor:
        """Words of one line of text, those with a quotation mark in them included."""
        return self._where([bool(text) and all(c.isprintable() for c in text) for text in self.texts])

    @cached_property
    def digits_V(self) -> Tensor:
        return self._where([text.isascii() and text.isdigit() for text in self.texts])

    @cached_property
    def filler(self) -> int:
        """A word for slots that nothing is left to say in: a blank, or else an end."""
        return self.one(" ", default=self._tokenizer.ends[0])

    @cached_property
    def closers(self) -> frozenset[int]:
        """Words that end a text in quotation marks, the filler apart: those that hold one."""
        return frozenset(id_ for id_, text in enumerate(self.texts) if QUOTE in text)

    def one(self, text: str, *, default: int = -1) -> int:
        """The word that says just this; `default` where there is none."""
        ids = self._tokenizer.encode(text)
        if len(ids) == 1 and ids[0] < self.size:
            return ids[0]
        return next((id_ for id_, said in enumerate(self.texts) if said == text), default)

    def only(self, ids: Sequence[int]) -> Tensor:
        """These words and no other, [V]."""
        allowed_V = torch.zeros(self.size, dtype=torch.bool)
        allowed_V[list(ids)] = True
        return allowed_V

    def _where(self, holds: list[bool]) -> Tensor:
        return torch.tensor(holds, dtype=torch.bool)
