"""Keys and values of one request, kept between passes. Fits where transformers' attention expects its own cache."""

# B rows, H heads, L columns, D head size.

from typing import Any

from torch import Tensor


class KeyStore:
    """Room for `columns` columns of every layer. Before a pass, `aim` says which columns it writes and how far it sees."""

    def __init__(self, rows: int, columns: int) -> None:
        self.room = (rows, columns)
        self._keys: list[Tensor] = []
        self._values: list[Tensor] = []
        self._rows: Tensor | None = None
        self._at = self._upto = 0

    def aim(self, *, at: int, upto: int, rows: Tensor | None = None) -> None:
        """The next pass writes from column `at` on and sees columns below `upto`; `rows`: only for these, in order."""
        # All rows are a view; some are a copy of all that was kept.
        some = rows is not None and len(rows) < self.room[0]
        self._at, self._upto, self._rows = at, upto, rows if some else None

    def update(
        self, keys_BHLD: Tensor, values_BHLD: Tensor, layer: int, *more: Any, **named: Any
    ) -> tuple[Tensor, Tensor]:
        """What attention calls: keeps what it is given, and gives all it may look at."""
        if layer == len(self._keys):
            for kept, new in ((self._keys, keys_BHLD), (self._values, values_BHLD)):
                kept.append(new.new_zeros(self.room[0], new.shape[1], self.room[1], new.shape[3]))
        return self._write(self._keys[layer], keys_BHLD), self._write(self._values[layer], values_BHLD)

    def _write(self, kept_BHLD: Tensor, new_BHLD: Tensor) -> Tensor:
        columns = slice(self._at, self._at + new_BHLD.shape[2])
        if self._rows is None:
            kept_BHLD[:, :, columns] = new_BHLD
            return kept_BHLD[:, :, : self._upto]
        kept_BHLD[self._rows, :, columns] = new_BHLD
        return kept_BHLD[self._rows, :, : self._upto]

    def grown(self, rows: int, columns: int) -> "KeyStore":
        """A store of its own with more room; one row becomes `rows` equal ones."""
        store = KeyStore(rows, columns)
        for mine, theirs in ((self._keys, store._keys), (self._values, store._values)):
            for kept in mine:
                wide = kept.new_zeros(rows, kept.shape[1], columns, kept.shape[3])
                wide[:, :, : kept.shape[2]] = kept
                theirs.append(wide)
        return store

    def cut(self, columns: int) -> "KeyStore":
        """A copy of the first columns of every row."""
        store = KeyStore(self.room[0], columns)
        store._keys = [kept[:, :, :columns].clone() for kept in self._keys]
        store._values = [kept[:, :, :columns].clone() for kept in self._values]
        return store

    @property
    def bytes(self) -> int:
        return sum(kept.nbytes for kept in (*self._keys, *self._values))


def first_change(before_BL: Tensor, now_BL: Tensor) -> int:
    """The first column where any row has changed; columns that were not there before have.

    >>> import torch
    >>> first_change(torch.tensor([[1, 2, 3]]), torch.tensor([[1, 2, 9, 4]]))
    2
    """
    both = min(before_BL.shape[1], now_BL.shape[1])
    changed = (before_BL[:, :both] != now_BL[:, :both]).any(0).nonzero()
    return int(changed[0]) if len(changed) else both
