"""What a pass need not compute again: keys of earlier blocks where that is exact, Fast-dLLM's caches where it is not."""

# B rows, P prompt columns, N canvas slots, L = P + N columns, Q columns of a pass, V vocabulary.

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from .documents import DocumentCache
from .keys import KeyStore, first_change
from .network import Network

Caching = Literal["none", "prefix", "dual", "prompt"]
NONE = torch.iinfo(torch.long).max


@dataclass(slots=True, eq=False)
class Prompted:
    """A request: its prompts, padded on the left, and what its passes have left to reuse."""

    ids_BP: Tensor
    valid_BP: Tensor
    passes: int = 0
    last_pass: int | None = None
    """The pass that commits every slot, whatever its block: it looks at all of them."""
    keys: KeyStore | None = None
    seen_BL: Tensor | None = None
    """The columns that `keys` were computed from."""
    computed_BN: Tensor | None = None
    """The slots whose logits the last pass computed and can commit; None: all of them."""
    block_B: Tensor | None = None
    """The block that each row worked on in its last pass; -1 before the first. Only where attention is full."""

    def beside(self, canvas_BN: Tensor) -> tuple[Tensor, Tensor]:
        """Prompt and canvas side by side, and which columns are real. One prompt serves every row."""
        B = canvas_BN.shape[0]
        if len(self.ids_BP) not in (1, B):
            raise ValueError(f"{len(self.ids_BP)} prompts for {B} rows. Give one for every row, or one for all")
        ids_BP, valid_BP = self.ids_BP.expand(B, -1), self.valid_BP.expand(B, -1)
        return torch.cat((ids_BP, canvas_BN), 1), torch.cat((valid_BP, torch.ones_like(canvas_BN).bool()), 1)

    @property
    def looks_at_all(self) -> bool:
        return self.passes == self.last_pass


def read_whole_blocks(network: Network, state: Prompted, *, head: int = 0, cache: DocumentCache | None = None) -> None:
    """Computes the keys of the prompts' blocks that no slot shares. Those of the first `head` columns, as far as they are
    whole blocks, are taken from the cache or put there."""
    size, P = network.attends_in_blocks_of, state.ids_BP.shape[1]
    assert size
    whole = min(P - length % size for length in state.valid_BP.sum(1).tolist())
    if whole > 0:
        read_prompts(network, state, columns=whole, head=min(head, whole) // size * size, cache=cache)


def read_prompts(
    network: Network, state: Prompted, *, columns: int, head: int = 0, cache: DocumentCache | None = None
) -> None:
    """Computes the keys of the first `columns` columns of the prompts. Those of the first `head` are computed by themselves,
    and kept in the cache for the next prompt that begins so. Only a prompt of one row has a head."""
    ids_BL, valid_BL = state.ids_BP[:, :columns], state.valid_BP[:, :columns]
    head = head if len(ids_BL) == 1 and bool(valid_BL.all()) else 0
    found = cache.find(ids_BL[0, :head]) if cache is not None and head else None
    state.keys = found.grown(1, columns) if found else KeyStore(len(ids_BL), columns)
    if head and not found:
        network.columns(ids_BL[:, :head], valid_BL[:, :head], keys=state.keys)
        if cache is not None:
            cache.put(ids_BL[0, :head], state.keys.cut(head))
    if head < columns:
        network.columns(ids_BL[:, head:], valid_BL, at=head, keys=state.keys)
    state.seen_BL = ids_BL


def by_prompts_own_keys(network: Network, state: Prompted, canvas_BN: Tensor, block_BN: Tensor) -> Tensor:
    """`logits_BNV` where attention is full, with the prompt's keys as the prompt alone gave them: it does not see the canvas.

    The first pass computes the whole canvas; after it, each pass computes the block in work and whatever has changed, and,
    when a row comes to a block, once more the block that it comes from: a slot's keys are those of the pass after it was
    committed (as in dKV-Cache, arXiv 2505.15781). Blocks ahead keep the keys of the first pass.
    """
    ids_BL, valid_BL = state.beside(canvas_BN)
    (B, L), (N, shift) = ids_BL.shape, (canvas_BN.shape[1], int(network.family.shifted))
    P, masked_BN = L - N, canvas_BN == network.family.mask_id
    assert state.keys is not None, "prompts are read first"
    first = state.block_B is None or state.keys.room != (B, L)
    if state.keys.room != (B, L):
        state.keys = state.keys.grown(B, L)
    at_B = block_in_work(masked_BN, block_BN)
    if first or state.looks_at_all or not bool(masked_BN.any()):
        state.seen_BL, state.block_B = ids_BL, at_B
        hidden = network.columns(ids_BL[:, P - shift :], valid_BL, at=P - shift, keys=state.keys)
        return network.own(hidden, shift)
    assert state.seen_BL is not None
    assert state.block_B is not None
    touched_BN = (state.seen_BL[:, P:] != canvas_BN) | (block_BN == at_B[:, None])
    touched_BN = touched_BN | ((block_BN == state.block_B[:, None]) & (state.block_B != at_B)[:, None])
    state.seen_BL, state.block_B = ids_BL, at_B
    places_N = torch.arange(N, device=ids_BL.device)
    spans = {
        (row, int(places_N[touched_N][0]), int(places_N[touched_N][-1]) + 1)
        for row, touched_N in enumerate(touched_BN)
        if int(at_B[row]) != NONE
    }
    out_BNV: Tensor | None = None
    for low, high in sorted({span[1:] for span in spans}):
        rows = torch.tensor([row for row, *span in sorted(spans) if span == [low, high]], device=ids_BL.device)
        at = P + low - shift
        hidden = network.columns(ids_BL[rows, at : P + high], valid_BL[rows], at=at, keys=state.keys, rows=rows)
        logits = network.own(hidden, shift)
        out_BNV = logits.new_zeros(B, N, logits.shape[2]) if out_BNV is None else out_BNV
        out_BNV[rows, low:high] = logits
    assert out_BNV is not None
    return out_BNV


def by_exact_keys(network: Network, state: Prompted, canvas_BN: Tensor, block_BN: Tensor) -> Tensor:
    """`logits_BNV` where attention is block-causal. Earlier blocks never see later ones, so their keys stay right until a
    column of theirs changes; a block's last keys are written by the next block's first pass, at no pass of their own."""
    size = network.attends_in_blocks_of
    assert size
    ids_BL, valid_BL = state.beside(canvas_BN)
    (B, L), N = ids_BL.shape, canvas_BN.shape[1]
    P = L - N
    known = 0 if state.seen_BL is None else first_change(state.seen_BL.expand(B, -1), ids_BL)
    first_BN, last_BN = working(canvas_BN == network.family.mask_id, block_BN)
    upto = L if state.looks_at_all else P + last_BN
    low = min(known, P + first_BN)
    at = max(0, min(low - place % size for place in network.places(valid_BL)[:, low].tolist()))
    if state.keys is None or state.keys.room != (B, L):
        state.keys = (state.keys or KeyStore(B, 0)).grown(B, L)
    hidden_BQC = network.columns(ids_BL[:, at:upto], valid_BL[:, :upto], at=at, keys=state.keys)
    state.seen_BL = ids_BL[:, :upto]
    return _spread(network.head(hidden_BQC[:, max(0, P - at) :]), max(P, at) - P, N)


def by_refreshed_keys(network: Network, state: Prompted, canvas_BN: Tensor, block_BN: Tensor, *, dual: bool) -> Tensor:
    """`logits_BNV` where attention is full: Fast-dLLM's prefix cache, or with `dual` its dual cache (arXiv 2505.22618).

    A row's keys are computed in full when it comes to a block, and when anything outside its block has changed. Unlike
    the official code, rows of a batch may work on different blocks; and where outputs are shifted, the column left of the
    block is computed again too, for the block's first slot is said there.
    """
    ids_BL, valid_BL = state.beside(canvas_BN)
    P = ids_BL.shape[1] - canvas_BN.shape[1]
    if state.looks_at_all or not bool((canvas_BN == network.family.mask_id).any()):
        return network.own(network.columns(ids_BL, valid_BL), P)
    if state.keys is None or state.seen_BL is None or state.block_B is None:
        state.keys = KeyStore(*ids_BL.shape)
        state.seen_BL, state.block_B = ids_BL, torch.full_like(ids_BL[:, 0], -1)
    at_B = block_in_work(canvas_BN == network.family.mask_id, block_BN)
    outside_BN = (state.seen_BL[:, P:] != canvas_BN) & (block_BN != at_B[:, None])
    stale_B = (state.block_B != at_B) | outside_BN.any(1)
    out_BNV: Tensor | None = None
    for block, stale in sorted(set(zip(at_B.tolist(), stale_B.tolist(), strict=True))):
        if block == NONE:
            continue
        rows = ((at_B == block) & (stale_B == stale)).nonzero()[:, 0]
        inside = (block_BN[rows[0]] == block).nonzero()[:, 0]
        first = 0 if stale else int(inside[0])
        at = 0 if stale else P + first - network.family.shifted
        upto = P + int(inside[-1]) + 1 if dual and not stale else ids_BL.shape[1]
        hidden = network.columns(ids_BL[rows, at:upto], valid_BL[rows], at=at, keys=state.keys, rows=rows)
        logits = network.own(hidden, P + first - at)
        out_BNV = logits.new_zeros(*canvas_BN.shape, logits.shape[2]) if out_BNV is None else out_BNV
        out_BNV[rows, first : first + logits.shape[1]] = logits
    state.seen_BL, state.block_B = ids_BL, at_B
    assert out_BNV is not None
    return out_BNV


def block_in_work(masked_BN: Tensor, block_BN: Tensor) -> Tensor:
    """The lowest block of every row that has a masked slot; `NONE` in rows that are full.

    >>> block_in_work(torch.tensor([[False, False, True, True]]), torch.tensor([[0, 0, 1, 1]])).tolist()
    [1]
    """
    return block_BN.masked_fill(~masked_BN, NONE).amin(1)


def working(masked_BN: Tensor, block_BN: Tensor) -> tuple[int, int]:
    """Slots from the first of any row's block in work to the last (exclusive).

    >>> working(torch.tensor([[False, False, True, False, True]]), torch.tensor([[0, 0, 1, 1, 2]]))
    (2, 4)
    """
    here_N = (block_BN == block_in_work(masked_BN, block_BN)[:, None]).any(0).nonzero()
    return (int(here_N[0]), int(here_N[-1]) + 1) if len(here_N) else (0, masked_BN.shape[1])


def _spread(logits_BQV: Tensor, first: int, slots: int) -> Tensor:
    """Logits for some slots among zeros for the others."""
    out_BNV = logits_BQV.new_zeros(logits_BQV.shape[0], slots, logits_BQV.shape[2])
    out_BNV[:, first : first + logits_BQV.shape[1]] = logits_BQV
    return out_BNV
