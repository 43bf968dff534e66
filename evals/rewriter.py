"""Refining for models that can't hold a part of an answer fixed: everything is written again. Knows no model."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ..dllm.draft import Draft, Passes, Prompt


class Rewriter(ABC):
    """A `Generator` once `draft` and a name are there."""

    @abstractmethod
    def draft(self, prompt: Prompt, *, candidates: int = 1, max_passes: int = 4, seed: int = 0) -> Passes: ...

    def refine(
        self,
        prompt: Prompt,
        draft: Draft,
        remask: Sequence[tuple[int, int]],
        *,
        reason: str = "",
        max_passes: int = 4,
        seed: int = 0,
    ) -> Passes:
        """A new draft. What always says the same says the same again."""
        return self.draft(prompt, max_passes=max_passes, seed=seed)
