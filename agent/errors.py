"""What can go wrong when asking, sorted by what a caller can do about it.

AgentError
├── InvalidQuestion   the question can't be asked as given; nothing was searched and no model was run
├── InvalidSession    a session can't have this name
├── SchemaUnusable    a function or a model that is to be filled in has a name, a type or a pattern that can't be
├── ToolFailed        a tool could not do what it was asked; a tool raises it itself for a mistake of its caller
├── GuardUnusable    a file of rules can't be read as such
├── MemoryUnusable    a file of sessions is damaged, locked, newer than this program, or something else
└── ModelFailed       the model gave no draft; `trace` says how far the run came. Its cause is the model's own error

Trouble with documents and indexes stays `remask.retrieval`'s own error. An unanswerable question is no error: the
answer abstains.
"""

from .answer import Trace


class AgentError(Exception):
    """Any trouble with asking that a user can mend."""


class InvalidQuestion(AgentError):
    pass


class GuardUnusable(AgentError):
    pass


class InvalidSession(AgentError):
    pass


class SchemaUnusable(AgentError):
    pass


class ToolFailed(AgentError):
    pass


class MemoryUnusable(AgentError):
    pass


class ModelFailed(AgentError):
    def __init__(self, message: str, trace: Trace) -> None:
        super().__init__(message)
        self.trace = trace
