"""How an agent works: its budgets and its thresholds."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ..dllm.draft import Budget


class AgentOptions(BaseModel):
    """Frozen, keyword-only. Out of range raises pydantic's ValidationError, which names the field.

    `candidates`, `run_passes`, `max_passes` and `max_refinements` are the model's own where they are not given: see `fitted`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    top_k: int = Field(default=5, ge=1)
    """Passages a search asks for."""
    max_evidence: int = Field(default=10, ge=1)
    """Passages shown to the model at once, over all hops."""
    candidates: int = Field(default=3, ge=1)
    """Drafts made in one batch."""
    extra_hops: int = Field(default=1, ge=0)
    """Further searches with the draft as the query."""
    max_refinements: int = Field(default=1, ge=0)
    """Tries to repair doubtful parts. 0 never re-masks."""
    run_passes: int = Field(default=2, ge=1)
    """Passes over the canvas in one run of the model."""
    max_passes: int = Field(default=16, ge=1)
    """Passes over the canvas for one question. The first draft is always finished."""
    max_seconds: float | None = Field(default=None, gt=0)
    """The agent's own time for one question. The first draft is always finished; whatever comes after is cut short."""
    seed: int = 0
    """The same seed, documents and model give the same answer."""

    support_share: float = Field(default=0.3, ge=0, le=1)
    """How much support counts in a candidate's weight; the rest is the model's confidence."""
    unsure_below: float = Field(default=0.35, ge=0, le=1)
    """A token with less confidence is doubtful."""
    rival_share: float = Field(default=0.7, ge=0, le=1)
    """Another candidate raises doubt when it has at least this share of the best one's weight."""
    weak_below: float = Field(default=0.35, ge=0, le=1)
    """A lighter draft is worth another search."""
    min_gain: float = Field(default=1e-6, ge=0)
    """A refined draft is kept when it weighs more than the old one by this much."""
    min_confidence: float = Field(default=0.15, ge=0, le=1)
    """The agent abstains when the best draft weighs less."""
    min_answerable: float = Field(default=0.2, ge=0, le=1)
    """The agent abstains when the model holds it less likely that the evidence carries an answer. Not tuned."""
    unsupported: Literal["flag", "drop"] = "flag"
    """What becomes of a statement that no sentence of the evidence carries after all tries to repair it. `flag`: it stays,
    and the trace's doubts name it; `drop`: it leaves the answer, and the trace's refinements tell."""
    known_names: bool = True
    """The agent abstains when the question names someone or something and what it read has none of these names."""
    calibration: tuple[tuple[float, float], ...] = ()
    """A map from the best draft's weight to the confidence that the answer tells; see `calibration`. Empty: the weight."""

    def fitted(self, budget: Budget) -> "AgentOptions":
        """With a model's own budget in place of what nobody set.

        >>> AgentOptions(max_passes=8).fitted(Budget(run_passes=64, max_passes=256)).run_passes
        64
        """
        own = {
            "candidates": budget.candidates,
            "run_passes": budget.run_passes,
            "max_passes": budget.max_passes,
            "max_refinements": budget.refinements,
        }
        return self.model_copy(update={k: v for k, v in own.items() if k not in self.model_fields_set})
