"""LangChain's own suites against our parts. A test is only left out with a reason."""

from functools import cache
from typing import Any

import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import (
    ChatModelIntegrationTests,
    EmbeddingsIntegrationTests,
    RetrieversIntegrationTests,
)
from langchain_tests.unit_tests import ChatModelUnitTests
from remask.agent.langchain import DiffusionChatModel, HybridRetriever, LocalEmbeddings
from remask.dllm.draft import Draft, Generator, Prompt
from remask.dllm.scripted import ScriptedGenerator
from remask.retrieval import HashEmbedder, Index

from ..shelf import LIBRARY


@cache
def reader() -> Generator:
    from remask.dllm.mini.reader import EmbeddedReader

    return EmbeddedReader.load()


class Hosted(ScriptedGenerator):
    """A double of a hosted model: it writes, has a JSON mode, and calls tools, always the same."""

    def __init__(self) -> None:
        super().__init__(lambda prompt: Draft("Hello to you.", confidence=0.9))

    def complete_json(self, prompt: Prompt, schema: Any) -> dict[str, Any]:
        return dict.fromkeys(schema["properties"], "a word")

    def call_tools(self, prompt: Prompt, tools: Any) -> list[tuple[str, dict[str, Any]]]:
        name, schema = next(iter(tools.items()))
        text = "你好 こんにちは" if "customer" in name else "x"
        values = {key: 3 if said.get("type") == "integer" else text for key, said in schema["properties"].items()}
        return [(name, values)]


class TestRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return HybridRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"retriever": Index.create(LIBRARY, embedder=HashEmbedder())}

    @property
    def retriever_query_example(self) -> str:
        return "the fresco by the river"


class TestEmbeddings(EmbeddingsIntegrationTests):
    @property
    def embeddings_class(self) -> type[Embeddings]:
        return LocalEmbeddings


class Chat:
    """What holds of the chat model whatever stands behind it."""

    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return DiffusionChatModel

    @property
    def supports_model_override(self) -> bool:
        return False  # a model is an object with weights, not a name


class TestUnit(Chat, ChatModelUnitTests):
    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"generator": Hosted()}

    @property
    def supports_json_mode(self) -> bool:
        return True


class TestHosted(Chat, ChatModelIntegrationTests):
    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"generator": Hosted()}

    @property
    def supports_json_mode(self) -> bool:
        return True


class TestEmbedded(Chat, ChatModelIntegrationTests):
    """The shipped reader itself. It only ever quotes: from "Hello!" no argument can be taken, and it makes no jokes."""

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"generator": reader()}

    @property
    def has_structured_output(self) -> bool:
        return False  # the suite asks for a joke, and nothing it is given to read holds one

    @pytest.mark.xfail(
        reason="of the two arguments, the reader finds no description in the question, and none is made up"
    )
    def test_unicode_tool_call_integration(self, model: BaseChatModel) -> None:  # type: ignore[override]
        super().test_unicode_tool_call_integration(model)

    @pytest.mark.xfail(reason="'Hello!' holds no argument that could be pointed at, and none is made up")
    def test_tool_choice(self, model: BaseChatModel) -> None:
        super().test_tool_choice(model)
