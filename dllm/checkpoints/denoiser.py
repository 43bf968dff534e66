"""A checkpoint at token level: prompts in, then logits for the slots of a canvas, pass after pass.

A `Denoiser` for `sample.from_logits`. The canvas stands right of the prompt. What a request has computed is in its state.
"""

# B rows, P prompt columns, N canvas slots, L = P + N columns, V vocabulary.

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from .documents import DocumentCache
from .guide import guided
from .network import Network
from .reuse import (
    Caching,
    Prompted,
    block_in_work,
    by_exact_keys,
    by_prompts_own_keys,
    by_refreshed_keys,
    read_prompts,
    read_whole_blocks,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeOptions:
    """How passes are computed."""

    caching: Caching = "prefix"
    """`none`: every pass computes all columns. Else block-causal families keep the keys of earlier blocks, which is exact.
    Where attention is full, Fast-dLLM (arXiv 2505.22618): keys are computed at the start of a block; then `prefix` computes
    from the block to the end, `dual` the block alone. Both are approximations that end with the block. `prompt`: the prompt
    is read once, without the canvas, and never again (`by_prompts_own_keys`): the fastest, exact only for a model that
    was trained to read its prompt so."""
    block_length: int | None = None
    """Slots that are denoised together where attention is full; None: the whole canvas. A block-causal family has its own."""
    guidance: float = 0.0
    """Classifier-free guidance (LLaDA's `cfg_scale`); needs `caching="none"` and doubles every pass."""
    document_bytes: int = 0
    """Memory for keys of documents that later questions may be about too; needs attention in blocks, or
    `caching="prompt"`, for only there a document's keys don't depend on the question."""

    def __post_init__(self) -> None:
        if self.guidance and self.caching != "none":
            raise ValueError(f"guidance={self.guidance!r} needs caching='none': it reads each canvas twice")
        if self.document_bytes < 0:
            raise ValueError(f"document_bytes={self.document_bytes!r} is negative. 0 keeps nothing")
        if self.block_length is not None and self.block_length < 1:
            raise ValueError(f"block_length={self.block_length!r} is too small. Give at least 1, or None")


class Checkpoint:
    """`Denoiser[Prompted]`. With caching or blocks, give `blocks` to `denoise` as `block_BN`, and let blocks jump."""

    def __init__(self, network: Network, options: DecodeOptions | None = None) -> None:
        self.network, self.options = network, options or DecodeOptions()
        self.documents = DocumentCache(self.options.document_bytes) if self.options.document_bytes else None

    @property
    def mask_id(self) -> int:
        return self.network.family.mask_id

    def prefill(self, prompts: Sequence[Sequence[int]], *, head: int = 0) -> Prompted:
        """Pads the prompts on the left. A block-causal family reads the blocks that a prompt fills; its tail shares a block
        with the first slots. `head`: how many tokens of a single prompt are documents, which come first and are read by
        themselves where that is exact. ValueError where there is no prompt."""
        if not prompts or not any(prompts):
            raise ValueError("there is nothing in the prompts. Give one with a token for every row, or one for all")
        P = max(len(p) for p in prompts)
        ids_BP = torch.zeros(len(prompts), P, dtype=torch.long)
        valid_BP = torch.zeros(len(prompts), P, dtype=torch.bool)
        for row, prompt in enumerate(prompts):
            ids_BP[row, P - len(prompt) :] = torch.tensor(prompt, dtype=torch.long)
            valid_BP[row, P - len(prompt) :] = True
        state = Prompted(ids_BP.to(self.network.device), valid_BP.to(self.network.device))
        with torch.inference_mode():
            if self.options.caching != "none" and self.network.attends_in_blocks_of:
                read_whole_blocks(self.network, state, head=head, cache=self.documents)
            elif self.options.caching == "prompt":
                # Where outputs are shifted, the prompt's last column speaks for the first slot, and goes with the canvas.
                alone = P - self.network.family.shifted
                read_prompts(self.network, state, columns=alone, head=min(head, alone), cache=self.documents)
        return state

    def blocks(self, state: Prompted, rows: int, slots: int) -> Tensor:
        """The block of every slot, `block_BN`: as the network's attention counts, or by `block_length`, from 0."""
        slots_N = torch.arange(slots, device=self.network.device)
        if size := self.network.attends_in_blocks_of:
            length_B1 = state.valid_BP.sum(1, keepdim=True)
            return ((length_B1 + slots_N) // size - length_B1 // size).expand(rows, -1)
        return (slots_N // (self.options.block_length or max(1, slots))).expand(rows, -1)

    def predict(self, state: Prompted, canvas_BN: Tensor) -> Tensor:
        """`logits_BNV`, each slot's own. With caching, slots outside the block that a row works on get zeros, but for
        `state.last_pass`."""
        canvas_BN = canvas_BN.to(self.network.device)
        state.passes += 1
        B, N = canvas_BN.shape
        with torch.inference_mode():
            if self.options.caching == "none":
                return self._plain(*state.beside(canvas_BN), N)
            block_BN = self.blocks(state, B, N)
            here_BN = block_BN == block_in_work(canvas_BN == self.mask_id, block_BN)[:, None]
            state.computed_BN = None if state.looks_at_all else here_BN
            if self.network.attends_in_blocks_of:
                return by_exact_keys(self.network, state, canvas_BN, block_BN)
            if self.options.caching == "prompt":
                return by_prompts_own_keys(self.network, state, canvas_BN, block_BN)
            return by_refreshed_keys(self.network, state, canvas_BN, block_BN, dual=self.options.caching == "dual")

    def _plain(self, ids_BL: Tensor, valid_BL: Tensor, slots: int) -> Tensor:
        """A full pass, as in the official samplers."""
        P = ids_BL.shape[1] - slots
        if not self.options.guidance:
            return self.network.own(self.network.columns(ids_BL, valid_BL), P)
        unprompted_BL = ids_BL.clone()
        unprompted_BL[:, :P] = self.mask_id
        both = torch.cat((ids_BL, unprompted_BL)), torch.cat((valid_BL, valid_BL))
        with_BNV, without_BNV = self.network.own(self.network.columns(*both), P).chunk(2)
        return guided(with_BNV, without_BNV, self.options.guidance)
