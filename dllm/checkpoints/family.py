"""Which published family a checkpoint is of, told by its config.json alone, and how that family is run.

Nothing here needs the checkpoint's own code. Facts are from the configs and modelling files of ML-GSAI/LLaDA,
DreamLM/Dream, JetAstra/SDAR and inclusionAI/LLaDA2.X.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..errors import WeightsUnusable

FamilyName = Literal["llada", "llada-moe", "dream", "sdar", "llada2"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """What a loop has to know about a network, beyond its weights."""

    name: FamilyName
    mask_id: int
    """The id that stands for a masked slot; the config's own wins over the family's."""
    block_length: int | None = None
    """Attention is block-causal over blocks of this many positions, counted from position 0; None: every position sees
    every other."""
    shifted: bool = False
    """Whether the network's output at a position predicts the token to the right of it."""
    padding_moves_positions: bool = False
    """Whether position 0 is a row's first real token (Dream); else its first column, padded or not (LLaDA). Blocks of
    attention are counted from position 0 too."""


FAMILIES: Mapping[FamilyName, Family] = {
    "llada": Family(name="llada", mask_id=126336),
    "llada-moe": Family(name="llada-moe", mask_id=156895),
    "dream": Family(name="dream", mask_id=151666, shifted=True, padding_moves_positions=True),
    "sdar": Family(name="sdar", mask_id=151669, block_length=4, padding_moves_positions=True),
    "llada2": Family(name="llada2", mask_id=156895, block_length=32, padding_moves_positions=True),
}
_BY_MODEL_TYPE: Mapping[str, FamilyName] = {
    "llada": "llada",
    "dream": "dream",
    "sdar": "sdar",
    "llada2_moe": "llada2",
}


def family_of(config: Mapping[str, Any], *, where: str = "config.json") -> Family:
    """The family of a published config. LLaDA and LLaDA-MoE both say `model_type: llada`; only the latter has experts.

    Raises WeightsUnusable for any other architecture, and for a mask id that the vocabulary doesn't have.

    >>> family_of({"model_type": "llada", "vocab_size": 157184, "num_experts": 64}).name
    'llada-moe'
    """
    kind = str(config.get("model_type", ""))
    name = _BY_MODEL_TYPE.get(kind.lower())
    if name is None:
        raise WeightsUnusable(
            f"{where} has model_type {kind!r} (architectures {config.get('architectures')!r}), which is none of the "
            f"diffusion models read here: {', '.join(_BY_MODEL_TYPE)}. Give the folder of one of those"
        )
    if name == "llada" and config.get("num_experts"):
        name = "llada-moe"
    family = FAMILIES[name]
    mask_id = config.get("mask_token_id", family.mask_id)
    block_length = config.get("block_size", family.block_length) if family.block_length else None
    words = int(config.get("embedding_size") or config.get("vocab_size") or 0)
    if not isinstance(mask_id, int) or not 0 <= mask_id < words:
        raise WeightsUnusable(f"{where} has mask id {mask_id!r} and {words} words. Add a right mask_token_id to it")
    return replace(family, mask_id=mask_id, block_length=block_length)
