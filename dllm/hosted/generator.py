"""A hosted model as a `Generator`: prompts out as conversations, pieces of a stream in as passes over a canvas."""

import logging
import math
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from collections.abc import Generator as Steps
from contextlib import aclosing, closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from ..conversation import Message, kind_of
from ..draft import Budget, CanvasPass, Draft, Passes, Prompt, Token
from ..errors import BackendUnavailable, ModelError, PromptTooLong
from ..marker import Unmarked, unmarked
from . import edit, structured
from .agree import distinct, weighed
from .ask import Ask
from .background import Background, Ended
from .client import Client, Patience
from .endpoint import Endpoint, mercury, openai
from .fit import conversation, fewer, plain
from .reply import Reply

_LOG = logging.getLogger(__name__)
_LABEL = "answer:"


class _Told(NamedTuple):
    """A reply so far, and how many texts the model was shown for it."""

    reply: Reply
    kept: int


@dataclass(slots=True)
class _Watch:
    """What one run has seen of its candidates."""

    begun: float
    told: dict[int, _Told] = field(default_factory=dict)
    errors: list[Exception] = field(default_factory=list)
    first: float = 0.0
    """Seconds until anything came."""
    passes: int = 0
    canvas: str = ""


class HostedGenerator:
    """One instance may serve many threads. Several candidates are several requests at once.

    A server makes as many passes as it likes: `max_passes` can't be heeded, and every piece of its stream is shown as one.
    """

    budget = Budget(candidates=3, run_passes=256, max_passes=4096)

    def __init__(self, endpoint: Endpoint, *, patience: Patience | None = None) -> None:
        self.endpoint = endpoint
        self._background: Background[_Told] = Background(partial(Client, endpoint, patience))

    @classmethod
    def mercury(cls, model: str, **options: Any) -> "HostedGenerator":
        """Inception's. Raises BackendUnavailable where INCEPTION_API_KEY is not set."""
        return cls(mercury(model), **options)

    @classmethod
    def openai(cls, url_and_model: str, **options: Any) -> "HostedGenerator":
        """URL#MODEL. Raises BackendUnavailable where that is no address with a model."""
        return cls(openai(url_and_model), **options)

    @property
    def name(self) -> str:
        return self.endpoint.name

    def looked_at(self) -> str:
        """What the server says of its models; asks it, but not the model. Raises BackendUnavailable."""

        async def listed(client: Client) -> tuple[str, ...]:
            return await client.models()

        there, model = self._background.call(listed), self.endpoint.model
        if there and model not in there:
            names = ", ".join(map(repr, there[:10]))
            raise BackendUnavailable(f"{self.endpoint.shown_url} has no model {model!r}. It has {names}")
        return f"{self.endpoint.shown_url} answers" + (f" and has {model!r}" if there else "; it lists no models")

    def close(self) -> None:
        """Drops requests and connections. A later use opens new ones."""
        self._background.close()

    def draft(self, prompt: Prompt, *, candidates: int = 1, max_passes: int = 4, seed: int = 0) -> Passes:
        """What the model says by itself, and beside it up to `candidates` - 1 answers drawn at a temperature. A candidate
        whose request fails is left out, unless none is left. Confidence is the model's own where the server tells it, or
        else how far the candidates agree."""
        watch = _Watch(time.perf_counter())
        yield CanvasPass(0, edit.BLOCK, committed=0, masked=1)
        asks = [Ask(messages=(), candidate=number, seed=seed) for number in range(max(1, candidates))]
        yield from self._watched(prompt, asks, (), watch)
        return distinct(weighed([self._draft(prompt, told, watch) for told in watch.told.values()]))

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
        """The answer is asked for again with the spans marked. The model is told to keep the rest, and may not. Without
        probabilities from the server the draft's confidence stays, so that support decides."""
        if not remask:
            return [draft]
        watch = _Watch(time.perf_counter())
        taken = tuple(draft.text[start:end] for start, end in remask)
        canvas = edit.masked(draft.text, remask)
        yield CanvasPass(0, canvas, committed=0, masked=len(remask), remasked=taken, reason=reason)
        turns = [
            {"role": "assistant", "content": plain(edit.annotated(draft, (), "", ""))},
            {"role": "user", "content": plain(edit.request(draft, remask, reason))},
        ]
        yield from self._watched(prompt, [Ask(messages=(), seed=seed)], turns, watch)
        written = self._draft(prompt, watch.told[0], watch, edited=draft)
        return [written if written.tokens else replace(written, confidence=draft.confidence)]

    def complete_json(self, prompt: Prompt, schema: Mapping[str, Any]) -> dict[str, Any]:
        """An object that the schema holds for, whatever the server makes of it. Raises ModelError."""
        return structured.complete_json(self._whole, prompt, schema)

    def call_tools(self, prompt: Prompt, tools: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
        """The calls that the model wants, in order, each with arguments that its schema holds for; empty for none.

        `tools` maps a name to the JSON schema of its arguments; its `description` says what the tool does.
        """
        return structured.call_tools(self._whole, prompt, tools)

    # Running.

    def _watched(
        self, prompt: Prompt, asks: Sequence[Ask], turns: Sequence[Message], watch: _Watch
    ) -> Steps[CanvasPass, None, None]:
        """Runs all requests; shows the first as it grows, the others when it has failed."""

        def all_turns(kept: int) -> list[Message]:
            return [*conversation(prompt, kept=kept), *turns]

        uses = [partial(_told, prompt=prompt, ask=ask, turns=all_turns) for ask in asks]
        alive = dict.fromkeys(range(len(asks)))
        with closing(self._background.together(uses)) as coming:
            for number, item in coming:
                shown = next(iter(alive), -1)
                if not isinstance(item, Ended):
                    watch.told[number] = item
                    watch.first = watch.first or time.perf_counter() - watch.begun
                elif item.error is not None:
                    watch.told.pop(number, None)
                    alive.pop(number)
                    watch.errors.append(_mendable(item.error))
                    shown = next(iter(alive), -1)
                if shown in watch.told and (number == shown or isinstance(item, Ended)):
                    yield from _pass(watch.told[shown].reply, watch)
        if not watch.told:
            raise watch.errors[0]
        for error in watch.errors:
            _LOG.warning("a candidate of %s was left out: %s", self.name, error)

    def _whole(self, prompt: Prompt, ask: Ask) -> Reply:
        """A reply to a prompt and the turns that the ask adds to it; evidence that is too long is left out."""

        async def last(client: Client) -> Reply:
            reply = Reply()
            async for told in _told(
                client, prompt=prompt, ask=ask, turns=partial(structured.conversation, prompt, ask)
            ):
                reply = told.reply
            return reply

        return self._background.call(last)

    # From a reply to a draft.

    def _draft(self, prompt: Prompt, told: _Told, watch: _Watch, edited: Draft | None = None) -> Draft:
        answer = _answer(told.reply.text) if edited is None else edit.without_signs(_answer(told.reply.text), edited)
        found = unmarked(answer, shown=told.kept)
        kind, seconds = kind_of(found.text), time.perf_counter() - watch.begun
        tokens = _tokens(told.reply, answer, found)
        sure = _likelihood(told.reply) if tokens else 0.0
        return Draft(
            "" if kind == "none" else found.text,
            () if kind == "none" else tokens,
            kind,
            confidence=sure,
            marks=() if kind == "none" else found.marks,
            left_out=tuple(range(told.kept, len(prompt.evidence))),
            passes=watch.passes,
            seconds=seconds,
            stages={"prefill": watch.first, "denoise": seconds - watch.first},
        )


async def _told(
    client: Client, *, prompt: Prompt, ask: Ask, turns: Callable[[int], list[Message]]
) -> AsyncGenerator[_Told, None]:
    """The replies to a prompt, shown as many of its texts as the server has room for; `turns` gives the conversation with
    the first so many."""
    kept = len(prompt.evidence)
    while True:
        try:
            async with aclosing(client.replies(replace(ask, messages=turns(kept)))) as growing:
                async for reply in growing:
                    yield _Told(reply, kept)
            return
        except PromptTooLong as error:
            kept = fewer(prompt, kept, error)


def _pass(reply: Reply, watch: _Watch) -> Iterable[CanvasPass]:
    """Nothing, where the reply looks as it did."""
    open_end = "" if reply.finish else edit.BLOCK
    canvas = f"{reply.text}{open_end}"
    if canvas in (watch.canvas, edit.BLOCK):
        return
    was, now = watch.canvas.removesuffix(edit.BLOCK).split(), reply.text.split()
    watch.canvas, watch.passes = canvas, watch.passes + 1
    new = sum(word != (was[at] if at < len(was) else None) for at, word in enumerate(now))
    yield CanvasPass(watch.passes, canvas, committed=new, masked=len(open_end))


def _answer(text: str) -> str:
    said = text.strip()
    return said[len(_LABEL) :].lstrip() if said.lower().startswith(_LABEL) else said


def _tokens(reply: Reply, answer: str, found: Unmarked) -> tuple[Token, ...]:
    """The server's tokens where they spell out the answer, else none."""
    spelled = "".join(word for word, _ in reply.words)
    begin = spelled.find(answer)
    if not answer or begin < 0:
        return ()
    tokens: list[Token] = []
    at = -begin
    for word, logprob in reply.words:
        start, end = found.span(max(at, 0), max(at + len(word), 0))
        at += len(word)
        if start < end:
            tokens.append(Token(start, end, min(1.0, math.exp(min(logprob, 0.0)))))
    return tuple(tokens)


def _likelihood(reply: Reply) -> float:
    """The geometric mean of the tokens' probabilities."""
    return math.exp(min(0.0, sum(logprob for _, logprob in reply.words) / len(reply.words)))


def _mendable(error: Exception) -> ModelError:
    """A programming error leaves at once."""
    if isinstance(error, ModelError):
        return error
    raise error
