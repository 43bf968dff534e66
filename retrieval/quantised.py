"""Vectors in a byte a dimension: a quarter of the memory, with less exact scores. FAISS's scalar quantiser, scanned whole or
by cells. Measured by `scale`; not what an index uses. Knows nothing of text."""

# N passages, D dimensions

from pathlib import Path
from typing import Any, Literal

import numpy as np

from .dense import faiss_library
from .lexical import Scored
from .postings import Floats

Kind = Literal["sq8", "ivf-sq8"]
PROBES = 32
TRAINED_ON = 200_000


class QuantisedIndex:
    """`kind` "sq8" looks at every vector; "ivf-sq8" at the 32 nearest of 4 sqrt(N) cells."""

    def __init__(self, vectors_ND: Floats, kind: Kind) -> None:
        faiss = faiss_library()
        count, dimension = vectors_ND.shape
        product = faiss.METRIC_INNER_PRODUCT
        if kind == "sq8":
            self._index: Any = faiss.IndexScalarQuantizer(dimension, faiss.ScalarQuantizer.QT_8bit, product)
        else:
            cells = max(1, int(4 * np.sqrt(count)))
            self._index = faiss.index_factory(dimension, f"IVF{cells},SQ8", product)
            self._index.nprobe = min(PROBES, cells)
        step = max(1, count // TRAINED_ON)
        self._index.train(np.ascontiguousarray(vectors_ND[::step]))
        for start in range(0, count, TRAINED_ON):
            self._index.add(np.ascontiguousarray(vectors_ND[start : start + TRAINED_ON]))

    def write(self, path: Path) -> None:
        faiss_library().write_index(self._index, str(path))

    def search(self, query_D: Floats, k: int) -> Scored:
        scores, positions = self._index.search(np.ascontiguousarray(query_D[None]), k)
        return [(int(p), float(s)) for p, s in zip(positions[0], scores[0], strict=True) if p >= 0]
