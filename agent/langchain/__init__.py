"""LangChain parts made of ours: a retriever, a chat model, embeddings, and an agent as a Runnable.

    from remask.agent.langchain import DiffusionChatModel, HybridRetriever, LocalEmbeddings, as_runnable

Needs the extra: pip install 'remask[langchain]'.
"""

from importlib.util import find_spec

from ...dllm.errors import BackendUnavailable

if find_spec("langchain_core") is None:
    raise BackendUnavailable(
        "remask.agent.langchain needs langchain-core. Install it with: pip install 'remask[langchain]'"
    )

from .chat import DiffusionChatModel
from .embeddings import LocalEmbeddings
from .retriever import HybridRetriever
from .runnable import as_runnable

__all__ = ["DiffusionChatModel", "HybridRetriever", "LocalEmbeddings", "as_runnable"]
