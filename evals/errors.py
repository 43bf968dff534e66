"""What can go wrong when measuring, sorted by what a caller can do about it.

EvalError
├── DataUnusable    a file of questions, predictions or texts can't be measured on; file, row and key are named
├── DownloadFailed  the published questions can't be had, or are not the published ones
└── RunUnusable     a folder of results is damaged, or holds another run than the one asked for

Trouble with models and indexes stays their own errors. A question that a model fails on is no error: its row says so,
and it counts as wrong.
"""

from ..agent.console import CommandError


class EvalError(CommandError):
    """Any trouble with measuring that a user can mend."""


class DataUnusable(EvalError):
    pass


class DownloadFailed(EvalError):
    pass


class RunUnusable(EvalError):
    pass
