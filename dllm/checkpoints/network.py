"""One way to call every network: columns in, logits out. Knows masks, places and shifts; keeps nothing."""

# B rows, L columns, Q columns of a pass, C channels, V vocabulary.

from inspect import signature
from typing import Any, cast

import torch
from torch import Tensor, nn

from ..packed import pack
from .attend import attention_mask, places
from .family import Family
from .keys import KeyStore
from .llada2 import LLaDA2
from .load import Loaded


class Network:
    """A loaded checkpoint, callable. Safe to share between threads and requests."""

    def __init__(self, loaded: Loaded, *, block_length: int | None = None) -> None:
        """`block_length` overrides the family's, for checkpoints that were trained with other blocks."""
        pack(loaded.network)
        self.family: Family = loaded.family
        self.window = loaded.window
        self.attends_in_blocks_of = (block_length or self.family.block_length) if self.family.block_length else None
        self._trunk: nn.Module = loaded.network.model  # type: ignore[assignment]
        self._head: nn.Module = loaded.network.lm_head  # type: ignore[assignment]
        first = next(self._trunk.parameters())
        self.device, self.dtype, self.words = first.device, first.dtype, cast(int, self._head.out_features)
        self._ours = isinstance(loaded.network, LLaDA2)
        # transformers renamed this argument during version 5.
        names = signature(self._trunk.forward).parameters
        self._cache_name = "cache" if "cache" in names else "past_key_values"

    def logits(self, ids_BL: Tensor, valid_BL: Tensor | None = None) -> Tensor:
        """What the network itself puts out, [B, L, V], unshifted: for a look at the weights and for comparisons."""
        valid_BL = torch.ones_like(ids_BL).bool() if valid_BL is None else valid_BL
        return self.head(self.columns(ids_BL, valid_BL))

    def places(self, valid_BL: Tensor) -> Tensor:
        return places(valid_BL, from_first=self.family.padding_moves_positions)

    def columns(
        self,
        ids_BQ: Tensor,
        valid_BL: Tensor,
        *,
        at: int = 0,
        keys: KeyStore | None = None,
        rows: Tensor | None = None,
    ) -> Tensor:
        """The last hidden state [B, Q, C] of the columns from `at` on, which see the columns of `valid_BL`, all of them.
        Those that are not in `ids_BQ` are taken from `keys`."""
        places_BL = self.places(valid_BL)
        mine_BQ = places_BL[:, at : at + ids_BQ.shape[1]]
        mask = attention_mask(mine_BQ, places_BL, valid_BL, self.dtype, block_length=self.attends_in_blocks_of)
        if keys is not None:
            keys.aim(at=at, upto=valid_BL.shape[1], rows=rows)
        if self._ours:
            return cast(Tensor, self._trunk(ids_BQ, mask, mine_BQ, keys))
        named: dict[str, Any] = {self._cache_name: keys} if keys is not None else {}
        out = self._trunk(input_ids=ids_BQ, attention_mask=mask, position_ids=mine_BQ, use_cache=False, **named)
        return cast(Tensor, out.last_hidden_state)

    def own(self, hidden_BQC: Tensor, first: int) -> Tensor:
        """Logits of the pass's columns from `first` on, for what belongs in each column itself."""
        if not self.family.shifted:
            return self.head(hidden_BQC[:, first:])
        # What belongs in a column is said one to the left of it; the very first column speaks for itself.
        own_BQC = torch.cat((hidden_BQC[:, :1], hidden_BQC[:, :-1]), 1)
        return self.head(own_BQC[:, first:])

    def head(self, hidden_BQC: Tensor) -> Tensor:
        logits_BQV: Tensor = self._head(hidden_BQC).float()
        return logits_BQV
