"""Conversations: a follow-up is asked in full, and what was said is kept in sessions that are bounded.

from remask.agent import Agent
from remask.agent.memory import Sessions

talk = Agent.from_documents("handbook/").session("anna", sessions=Sessions("sessions.sqlite3"))
talk.ask("Who makes the hull of the B-7?")
talk.ask("and who founded it?")
"""

from .conversation import Conversation
from .followup import Rewritten
from .rewriter import ModelRewriter, Rewriter, RuleRewriter
from .sessions import SessionInfo, SessionLimits, Sessions
from .turn import Turn

__all__ = [
    "Conversation",
    "ModelRewriter",
    "Rewriter",
    "Rewritten",
    "RuleRewriter",
    "SessionInfo",
    "SessionLimits",
    "Sessions",
    "Turn",
]
