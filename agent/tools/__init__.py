"""Values with types: Python functions that an agent calls, and answers in a schema.

from remask.agent import Agent

def look_up_order(order_id: Annotated[str, Field(pattern=r"[A-Z]{2}-[0-9]{5}")]) -> dict[str, str]:
    \"\"\"Look up an order: its state, what was bought and when it arrives.\"\"\"

agent = Agent.from_documents("handbook/", tools=[look_up_order])
agent.ask("Where is my order AB-12345?").trace.calls
agent.ask("Describe the B-7.", schema=Buoy).value
"""

from ..answer import ToolCall
from ..errors import SchemaUnusable, ToolFailed
from .structured import FieldAnswer, Structured
from .tool import Tool
from .toolbox import Toolbox, by_embedder

__all__ = ["FieldAnswer", "SchemaUnusable", "Structured", "Tool", "ToolCall", "ToolFailed", "Toolbox", "by_embedder"]
