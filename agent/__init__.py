"""Ask documents, get cited answers.

    from remask.agent import Agent

    agent = Agent.from_documents("handbook/")
    answer = agent.ask("How many days of leave are there?")

Each name is imported when it is first used: the program's help must not wait for numpy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agent import Agent
    from .answer import Answer, Candidate, Citation, Doubt, Found, Hop, Refinement, RefinePass, Shown, Trace, Verdict
    from .errors import AgentError, InvalidQuestion, InvalidSession, MemoryUnusable, ModelFailed
    from .events import (
        AnswerReady,
        CitationsFound,
        DraftMade,
        DraftRefined,
        Event,
        EvidenceFound,
        PassMade,
        QuestionRewritten,
        StageBegan,
        ToolCalled,
    )
    from .memory import Conversation, Sessions
    from .options import AgentOptions
    from .support import LexicalScorer, Scorer
    from .tools import FieldAnswer, SchemaUnusable, Structured, Tool, ToolCall, ToolFailed

__all__ = [
    "Agent",
    "AgentError",
    "AgentOptions",
    "Answer",
    "AnswerReady",
    "Candidate",
    "Citation",
    "CitationsFound",
    "Conversation",
    "Doubt",
    "DraftMade",
    "DraftRefined",
    "Event",
    "EvidenceFound",
    "FieldAnswer",
    "Found",
    "Hop",
    "InvalidQuestion",
    "InvalidSession",
    "LexicalScorer",
    "MemoryUnusable",
    "ModelFailed",
    "PassMade",
    "QuestionRewritten",
    "RefinePass",
    "Refinement",
    "SchemaUnusable",
    "Scorer",
    "Sessions",
    "Shown",
    "StageBegan",
    "Structured",
    "Tool",
    "ToolCall",
    "ToolCalled",
    "ToolFailed",
    "Trace",
    "Verdict",
]

_HOMES = ("answer", "errors", "events", "options", "support", "memory", "tools", "agent")  # light ones first


def __getattr__(name: str) -> Any:
    if name in __all__:
        for home in _HOMES:
            module = import_module(f".{home}", __name__)
            if name in vars(module):
                return vars(module)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
