"""How a checkpoint answers: the size of its canvas, how it fills, what is traded for speed."""

from dataclasses import dataclass, field

from ..credit import Credit
from ..policy import Policy
from ..renoise import RenoisePolicy
from .denoiser import DecodeOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorOptions:
    """How a checkpoint answers."""

    answer_tokens: int = 64
    """Slots of the canvas; rounded up so that the last block of a block-causal model, or DiffusionGemma's last canvas, is
    whole."""
    threshold: float = 0.9
    """Commit whatever is at least this sure at once (Fast-dLLM), and what the budget of passes asks for."""
    policy: Policy | None = None
    """Any other way to fill a canvas, whose `steps` and `max_passes` are the budget's; None: by `threshold`."""
    renoise: RenoisePolicy = field(default_factory=RenoisePolicy)
    """How DiffusionGemma fills a canvas; `max_passes` is the budget's."""
    temperature: float = 0.7
    """For the second candidate and those after it. The first always takes the likeliest words."""
    lean: float = 0.0
    """How far drafts go beyond what the evidence says towards what it changes, where that is clear (ARAM, see `ground`); a
    word that the evidence speaks against loses confidence. 0: not at all; else every pass is made with evidence and without.
    """
    reluctant_ends: bool = False
    """Commit ends last (LLaDA's `confidence_eos_eot_inf`), for models that stop too early."""
    stop_at_end: bool = True
    """Be done with a draft once it says an end with nothing masked before it (LLaDA2's `eos_early_stop`)."""
    least_tokens: int = 0
    """Slots at the beginning that may not hold an end, for models that say nothing."""
    credit: Credit | None = None
    """Favour words that stay the likeliest pass after pass (CreditDecoding); None: look at each pass by itself."""
    window: int | None = None
    """Tokens of prompt and answer together; None: what config.json says."""
    decode: DecodeOptions = field(default_factory=lambda: DecodeOptions(block_length=32))

    def __post_init__(self) -> None:
        if not self.lean >= 0:
            raise ValueError(f"lean={self.lean!r} is negative. 0 leaves the evidence as it is")
        if self.least_tokens < 0:
            raise ValueError(f"least_tokens={self.least_tokens!r} is negative. 0 lets an answer be empty")
        if self.answer_tokens < 1:
            raise ValueError(f"answer_tokens={self.answer_tokens!r} leaves no room for an answer. Give at least 1")
