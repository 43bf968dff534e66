"""How a collection is kept and asked."""

from dataclasses import dataclass, field
from typing import Literal

from ..hybrid import FusionOptions

Fuser = Literal["here", "milvus"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MilvusOptions:
    fusion: FusionOptions = field(default_factory=FusionOptions)
    """How the two rankings become one, as for a local index."""

    fuse: Fuser = "here"
    """"here": Milvus ranks by words and by vectors, and the fusion is the local index's, so that the same scores come
    out. "milvus": one `hybrid_search` with Milvus's own RRFRanker or WeightedRanker, whichever `fusion.method` names;
    its WeightedRanker squeezes BM25 through an arctangent. Two further searches tell what each ranker said."""

    dense_index: str = ""
    """Milvus's index over vectors, when the collection is made: "FLAT", "HNSW", "IVF_SQ8", "DISKANN", ...; "" is FLAT
    for a file of Milvus Lite and AUTOINDEX for a server."""

    consistency: Literal["Strong", "Bounded", "Session", "Eventually"] = "Strong"
    """What a search sees of recent writes, when the collection is made. Weaker is faster on a cluster."""

    batch_passages: int = 256
    """How many passages are embedded and sent at once: what bounds the memory of an ingest."""

    timeout_seconds: float = 30.0
    """How long one request may take, retries included."""

    def __post_init__(self) -> None:
        if self.fuse not in ("here", "milvus"):
            raise ValueError(f"{self.fuse!r} is no place to fuse. Use 'here' or 'milvus'")
        if self.batch_passages < 1 or self.timeout_seconds <= 0:
            raise ValueError(f"batch_passages must be at least 1 and timeout_seconds above 0, not {self!r}")
