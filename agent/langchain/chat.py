"""A diffusion model as a LangChain chat model: the last message asks, the others are read. Knows no index.

Text can't be streamed from left to right, as it comes into being everywhere at once. A stream has an empty chunk a pass, with
the canvas in `additional_kwargs["passes"]`, and then the text.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LangSmithParams, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.output_parsers import JsonOutputParser, PydanticOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnablePassthrough
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_json_schema, convert_to_openai_tool
from langchain_core.utils.pydantic import is_basemodel_subclass
from pydantic import BaseModel, Field

from ...dllm.draft import CanvasPass, Draft, Generator, finish
from ...dllm.structured import completes, infills
from ...retrieval.split import split
from ..cite import cite, settled
from ..evidence import Reading
from ..memory.rewriter import RuleRewriter
from ..run import ABSTENTION
from ..support import LexicalScorer
from ..tools.schema import slots_of
from ..tools.structured import field_question
from ..tools.toolbox import by_embedder, shared_words
from ..tools.values import read
from .calls import calls_for
from .cited import text_block
from .messages import Asked, asked

_WORD = re.compile(r"\w+|[^\w\s]")


class DiffusionChatModel(BaseChatModel):
    """Any generator of ours, `EmbeddedReader.load()` or `remask.dllm.backends.backend("name:argument")`.

    Texts to read are the system messages, the results of tools, and what stands in the last human message before a blank line
    and the question. Where none of them answers, it says so. Tools are called and schemas filled in by infilling, or in the
    model's own way where it has one.
    """

    generator: Any = None
    """The default is the embedded reader, loaded when it is first asked."""
    embedder: Any = None
    """Tells whether a tool is meant; words in common do without it."""
    max_passes: int = Field(default=4, ge=1)
    candidates: int = Field(default=1, ge=1)
    seed: int = 0
    stop: list[str] | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    """Longer answers are cut after so many words."""
    timeout: float | None = Field(default=None, gt=0)
    """Seconds; a model that takes longer is stopped before its next pass, with TimeoutError."""
    temperature: float | None = None
    """Taken for LangChain's sake: drafts are made without chance but for the seed."""
    max_retries: int | None = None
    """Taken for LangChain's sake: a hosted generator has its own."""

    @property
    def _llm_type(self) -> str:
        return "remask-diffusion"

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        return {"model": self._name, "max_passes": self.max_passes, "candidates": self.candidates, "seed": self.seed}

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        known = super()._get_ls_params(stop=stop, **kwargs)
        named: LangSmithParams = {**known, "ls_provider": "remask", "ls_model_name": kwargs.get("model") or self._name}
        return named

    @property
    def _name(self) -> str:
        return "embedded" if self.generator is None else str(self.generator.name)

    @property
    def _model(self) -> Generator:
        if self.generator is None:
            from ...dllm.mini.reader import EmbeddedReader  # brings torch

            self.generator = EmbeddedReader.load()
        model: Generator = self.generator
        return model

    # LangChain's side.

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        whole = None
        for chunk in self._stream(messages, stop, run_manager, **kwargs):
            whole = chunk if whole is None else whole + chunk
        assert whole is not None, "a stream has a last chunk"
        said = whole.message
        assert isinstance(said, AIMessageChunk)
        message = AIMessage(
            content=said.content,
            additional_kwargs=said.additional_kwargs,
            response_metadata=said.response_metadata,
            tool_calls=said.tool_calls,
            usage_metadata=said.usage_metadata,
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        question = self._in_full(asked(messages))
        tools, choice = kwargs.get("tools") or (), kwargs.get("tool_choice")
        if tools and not question.answered:
            calls = calls_for(question.question, tools, choice, self._model, self._match)
            if calls:
                yield self._last(AIMessageChunk(content="", tool_calls=calls), messages, json.dumps(calls), run_manager)
                return
        if kwargs.get("response_schema"):
            said = json.dumps(self._filled(question, kwargs["response_schema"]), ensure_ascii=False)
            yield self._last(AIMessageChunk(content=said), messages, said, run_manager)
            return
        yield from self._answer(question, messages, [*(stop or ()), *(self.stop or ())], run_manager)

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """`tool_choice`: "auto", "none", "any", or a tool's name."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], tool_choice=tool_choice, **kwargs)

    def with_structured_output(
        self, schema: dict[str, Any] | type, *, include_raw: bool = False, **kwargs: Any
    ) -> Runnable[LanguageModelInput, dict[str, Any] | BaseModel]:
        """A value for each field of the schema, or null. `method` makes no difference: the values alone are the model's."""
        wanted = convert_to_json_schema(schema)
        options = {"kwargs": {"method": kwargs.get("method", "json_schema")}, "schema": wanted}
        bound = self.bind(response_schema=wanted, ls_structured_output_format=options)
        parser: Runnable[Any, Any] = JsonOutputParser()
        if isinstance(schema, type) and is_basemodel_subclass(schema):
            model: type[Any] = schema  # of pydantic 2, or of its version 1
            parser = PydanticOutputParser(pydantic_object=model)
        if not include_raw:
            return bound | parser
        parsed = RunnablePassthrough.assign(parsed=lambda x: parser.invoke(x["raw"]), parsing_error=lambda _: None)
        failed = RunnablePassthrough.assign(parsed=lambda _: None)
        return {"raw": bound} | parsed.with_fallbacks([failed], exception_key="parsing_error")

    # Our side.

    def _in_full(self, question: Asked) -> Asked:
        full = RuleRewriter()(question.question, question.turns).question
        return Asked(full, question.turns, question.texts, question.answered)

    @property
    def _match(self) -> Callable[[str, str], float]:
        return by_embedder(self.embedder) if self.embedder is not None else shared_words

    def _answer(
        self,
        question: Asked,
        messages: Sequence[BaseMessage],
        stop: Sequence[str],
        run_manager: CallbackManagerForLLMRun | None,
    ) -> Iterator[ChatGenerationChunk]:
        reading = Reading.of(question.question, [p for document in question.texts for p in split(document)])
        begin, drafts = time.monotonic(), []
        steps = self._model.draft(
            reading.prompt, candidates=self.candidates, max_passes=self.max_passes, seed=self.seed
        )
        with closing(steps) as passes:
            while True:
                try:
                    made = next(passes)
                except StopIteration as end:
                    drafts = end.value
                    break
                yield ChatGenerationChunk(
                    message=AIMessageChunk(content=[], additional_kwargs={"passes": [_shown(made)]})
                )
                if self.timeout is not None and time.monotonic() - begin > self.timeout:
                    raise TimeoutError(f"the model {self._name!r} took longer than {self.timeout} s")
        draft = settled(drafts[0], reading) if drafts else Draft("", kind="none")
        yield self._last(self._said(draft, reading, stop), messages, draft.text, run_manager)

    def _said(self, draft: Draft, reading: Reading, stop: Sequence[str]) -> AIMessageChunk:
        text = "" if draft.kind == "none" else draft.text
        cut = self._cut(text, stop)
        if not text.strip():
            return AIMessageChunk(content=[text_block(ABSTENTION, ())])
        citations = [c for c in cite(draft, reading, LexicalScorer()) if c.answer_end <= len(cut)]
        return AIMessageChunk(content=[text_block(cut, citations)])

    def _cut(self, text: str, stop: Sequence[str]) -> str:
        """Before the first stop sequence, and after `max_tokens` words."""
        end = min([text.find(mark) for mark in stop if mark and mark in text], default=len(text))
        words = list(_WORD.finditer(text, 0, end))
        if self.max_tokens is not None and len(words) > self.max_tokens:
            end = words[self.max_tokens - 1].end()
        return text[:end]

    def _last(
        self,
        message: AIMessageChunk,
        messages: Sequence[BaseMessage],
        said: str,
        run_manager: CallbackManagerForLLMRun | None,
    ) -> ChatGenerationChunk:
        """The chunk with the text, the model's name and the usage, counted in words and marks."""
        read_, wrote = sum(len(_WORD.findall(m.text)) for m in messages), len(_WORD.findall(said))
        message.usage_metadata = UsageMetadata(input_tokens=read_, output_tokens=wrote, total_tokens=read_ + wrote)
        message.response_metadata = {"model_name": self._name, "model_provider": "remask"}
        message.chunk_position = "last"
        chunk = ChatGenerationChunk(message=message)
        if run_manager:
            run_manager.on_llm_new_token(chunk.text, chunk=chunk)
        return chunk

    def _filled(self, question: Asked, schema: Mapping[str, Any]) -> dict[str, Any]:
        """A value for each property; null where none was found."""
        passages = [passage for document in question.texts for passage in split(document)]
        model, prompt = self._model, Reading.of(question.question, passages).prompt
        if infills(model):
            return model.infill_json(schema, prompt, seed=self.seed)
        if completes(model):
            return model.complete_json(prompt, schema)
        values: dict[str, Any] = {}
        for slot in slots_of(schema):
            small = Reading.of(field_question(question.question, slot), passages)
            draft = _drafted(model, small, self.max_passes, self.seed)
            found = read(slot, draft.text) if draft.kind not in ("none",) else None
            values[slot.name] = found.value if found else None
        return values


def _drafted(model: Generator, reading: Reading, max_passes: int, seed: int) -> Draft:
    return settled(finish(model.draft(reading.prompt, max_passes=max_passes, seed=seed))[0], reading)


def _shown(made: CanvasPass) -> dict[str, Any]:
    return {"index": made.index, "canvas": made.canvas, "committed": made.committed, "masked": made.masked}
