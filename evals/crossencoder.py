"""A second look at what was found: question and passage read together, one pass of an encoder for each pair.

That is what a cross-encoder does and costs. No weights of one come with a package, so the encoder is the embedder's own,
all-MiniLM-L6-v2, which has the layers and the width of the usual small cross-encoder (cross-encoder/ms-marco-MiniLM-L6-v2);
where that one has a trained score, here each word of the question takes the most similar word of the passage, as in ColBERT
(Khattab and Zaharia, SIGIR 2020). So the time is a cross-encoder's; the ranking is a weaker one's.
"""

# P pairs, L positions of a pair, D width.

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ..retrieval.embed import default_embedder

LONGEST = 256  # word pieces of a pair; the rest of a passage is not read


class CrossEncoder:
    """Loads its weights when it is made. One instance may serve many threads."""

    name = "all-MiniLM-L6-v2 over question and passage together, best match by word"

    def __init__(self, folder: Path | None = None) -> None:
        """`folder` holds a BERT with its tokenizer; by default the embedder's, checked by hash."""
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging

        folder = folder or default_embedder().folder
        drew_bars = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
            self._encoder: Any = AutoModel.from_pretrained(str(folder), local_files_only=True).eval()
        finally:
            if drew_bars:
                logging.enable_progress_bar()  # type: ignore[no-untyped-call]
        self._turn = Lock()  # a fast tokenizer can't be used by two threads at once

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """One a text, in -1..1, higher is nearer. All pairs go through the encoder in one batch."""
        if not texts:
            return []
        with self._turn:
            pairs = self._tokenizer(
                [question] * len(texts),
                list(texts),
                padding=True,
                truncation="only_second",
                max_length=LONGEST,
                return_tensors="pt",
            )
        with torch.inference_mode():
            states_PLD = self._encoder(**pairs).last_hidden_state
        shown_PL, second_PL = pairs["attention_mask"].bool(), pairs["token_type_ids"].bool()
        return [
            _matched(s, ~second & shown, second & shown)
            for s, second, shown in zip(states_PLD, second_PL, shown_PL, strict=True)
        ]


def _matched(states_LD: Tensor, asked_L: Tensor, read_L: Tensor) -> float:
    """Over the question's words, the mean of the highest cosine with a word of the passage. The markers around them,
    which come first and last, are no words."""
    asked = F.normalize(states_LD[asked_L][1:-1], dim=-1)
    read = F.normalize(states_LD[read_L][:-1], dim=-1)
    if not len(asked) or not len(read):
        return -1.0
    return float((asked @ read.T).amax(dim=1).mean())
