"""What can go wrong with a model, sorted by what a caller can do about it.

ModelError
├── BackendUnavailable    a backend's library, weights, key or server is missing; the message says how to get it
├── WeightsUnusable       weights are damaged, of another version, or not the ones expected
├── TrainingDataUnusable  a mixture or a data file can't be trained on; file, row and reason are named
└── GenerationFailed      a backend answered with something no draft can be made of
    └── PromptTooLong     question and evidence don't fit its window; says how much would, where the backend said it
"""


class ModelError(Exception):
    """Any trouble with a model that a user can mend."""


class BackendUnavailable(ModelError):
    pass


class WeightsUnusable(ModelError):
    pass


class TrainingDataUnusable(ModelError):
    pass


class GenerationFailed(ModelError):
    pass


class PromptTooLong(GenerationFailed):
    """`limit` and `asked` count tokens, None where the backend named none."""

    def __init__(self, message: str, *, limit: int | None = None, asked: int | None = None) -> None:
        super().__init__(message)
        self.limit, self.asked = limit, asked
