"""Drafts as streams of tokens, in the shape that transformers gave diffusion models: `put_draft`, `put`, `end`.

Accepted: any streamer of that shape gets what a generator drafts. Offered: `Shown`, a streamer to hand to transformers'
own `generate`, which gives what a person would watch.
"""

from collections.abc import Iterator
from queue import Queue
from typing import Any, Protocol

import torch
from torch import Tensor

from ..draft import CanvasPass, Draft, Passes
from ..errors import GenerationFailed
from .tokenizer import Tokenizer
from .written import WrittenDraft, WrittenPass


class Streamer(Protocol):
    """transformers' `TextDiffusionStreamer`, or anything that takes what it takes. One row; ids are [1, tokens]."""

    def put_draft(self, value: Any) -> Any:
        """The whole canvas as it stands; the next call replaces it."""
        ...

    def put(self, value: Any) -> Any:
        """Tokens that will not change any more; they follow those that were put before."""
        ...

    def end(self) -> Any: ...


def stream(passes: Passes, streamer: Streamer) -> Draft:
    """Runs to the end and gives the best draft; the streamer gets every pass as it happens, then the draft's own tokens,
    then the end, which it gets in any case. GenerationFailed where a backend has no tokens to stream."""
    try:
        while True:
            try:
                seen = next(passes)
            except StopIteration as stop:
                best: Draft = stop.value[0]
                break
            if isinstance(seen, WrittenPass) and seen.index:
                streamer.put_draft(torch.tensor([seen.ids]))
        if not isinstance(best, WrittenDraft):
            raise GenerationFailed(f"{type(best).__name__} holds no tokens to stream. Watch its passes instead")
        streamer.put(torch.tensor([best.ids]))
        return best
    finally:
        passes.close()
        streamer.end()


class Shown:
    """A streamer to iterate over while another thread generates into it: one `CanvasPass` a draft, and one for each piece
    that is finished, with nothing masked. Its text is all that is known so far, the prompt left out."""

    def __init__(self, tokenizer: Tokenizer, *, skip_prompt: bool = True) -> None:
        self._tokenizer, self._skip = tokenizer, skip_prompt
        self._said: list[int] = []
        self._index = 0
        self._queue: Queue[CanvasPass | None] = Queue()

    def put_draft(self, value: Tensor) -> None:
        self._show([*self._said, *_row(value)])

    def put(self, value: Tensor) -> None:
        if self._skip:
            self._skip = False
            return
        self._said += _row(value)
        self._show(self._said)

    def end(self) -> None:
        self._queue.put(None)

    def __iter__(self) -> Iterator[CanvasPass]:
        while (seen := self._queue.get()) is not None:
            yield seen

    def _show(self, ids: list[int]) -> None:
        self._index += 1
        self._queue.put(CanvasPass(self._index, self._tokenizer.decode(ids), 0, 0))


def _row(value: Tensor) -> list[int]:
    if value.ndim > 1 and value.shape[0] != 1:
        raise ValueError(f"a streamer shows one row, not {value.shape[0]}. Generate one at a time")
    ids: list[int] = value.flatten().tolist()
    return ids
