"""A `Generator` that says what it was told to say, pass by pass: for tests, demonstrations and dry runs. No model.

Everything that a real backend does around a draft it does too: passes with masks, several candidates, pointed sources,
refining, stopping when closed.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Generator as Steps
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

from .draft import CanvasPass, Draft, Passes, Prompt, Source, Token

BLOCK = "▒"
NOTHING = Draft("", kind="none", answerable=0.0)

Turn = Draft | Sequence[Draft]
"""What one run gives: a draft, or candidates, best first."""
Script = Sequence[Turn] | Mapping[str, Turn | Sequence[Turn]] | Callable[[Prompt], Turn]
"""Turns for one run after the other, the last one again and again; or such turns by question; or a function."""


@dataclass(frozen=True, slots=True)
class Call:
    """What the generator was asked. `remask` and `reason` are empty for a draft."""

    prompt: Prompt
    candidates: int = 1
    remask: tuple[tuple[int, int], ...] = ()
    reason: str = ""
    max_passes: int = 4
    seed: int = 0


class ScriptedGenerator:
    """Plays `drafts` and `refinements`. A question that the script does not know gets `NOTHING`; a draft that has no
    refinement left comes back as it was. `calls` and `passes` tell what happened.

    >>> from .draft import finish
    >>> model = ScriptedGenerator([Draft("Mira Holt", confidence=0.9)])
    >>> finish(model.draft(Prompt("Who painted it?"), max_passes=2))[0].text
    'Mira Holt'
    """

    def __init__(self, drafts: Script = (), refinements: Script = (), *, name: str = "scripted") -> None:
        self.name = name
        self.calls: list[Call] = []
        self.passes = 0
        """How many passes were made, over all runs; the picture of the empty canvas is none."""
        self._drafts, self._refinements = drafts, refinements
        self._played: dict[tuple[str, str], int] = {}
        self._turn = Lock()

    def draft(self, prompt: Prompt, *, candidates: int = 1, max_passes: int = 4, seed: int = 0) -> Passes:
        self.calls.append(Call(prompt, candidates, max_passes=max_passes, seed=seed))
        drafts = self._next("draft", self._drafts, prompt) or [NOTHING]
        text = drafts[0].text
        yield CanvasPass(0, _canvas(text, set(range(len(_words(text))))), 0, len(_words(text)))
        made = yield from self._commit(text, list(range(len(_words(text)))), max_passes, seed)
        return [replace(draft, passes=made) for draft in drafts[: max(1, candidates)]]

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
        spans = tuple((start, end) for start, end in remask)
        self.calls.append(Call(prompt, 1, spans, reason, max_passes, seed))
        drafts = self._next("refine", self._refinements, prompt) or [draft]
        hidden = _under(draft.text, spans)
        taken = tuple(draft.text[start:end] for start, end in spans)
        yield CanvasPass(0, _canvas(draft.text, set(hidden)), 0, len(hidden), remasked=taken, reason=reason)
        text = drafts[0].text
        open_words = hidden if len(_words(text)) == len(_words(draft.text)) else list(range(len(_words(text))))
        made = yield from self._commit(text, open_words, max_passes, seed)
        return [replace(each, passes=made) for each in drafts]

    def _next(self, act: str, script: Script, prompt: Prompt) -> list[Draft]:
        if callable(script):
            return _drafts(script(prompt))
        turns: Any = script.get(prompt.question, ()) if isinstance(script, Mapping) else script
        if isinstance(turns, Draft):
            return [turns]
        if not turns:
            return []
        key = (act, prompt.question if isinstance(script, Mapping) else "")
        with self._turn:
            played = self._played.get(key, 0)
            self._played[key] = played + 1
        return _drafts(turns[min(played, len(turns) - 1)])

    def _commit(self, text: str, words: list[int], max_passes: int, seed: int) -> Steps[CanvasPass, None, int]:
        """Reveals the given words in a seeded order, about equally many a pass, at least one pass."""
        order = random.Random(seed).sample(words, len(words))
        passes = max(1, min(max_passes, len(order)))
        for index in range(1, passes + 1):
            shown = len(order) * index // passes
            self.passes += 1
            left = order[shown:]
            committed = shown - len(order) * (index - 1) // passes
            yield CanvasPass(index, _canvas(text, set(left)), committed, len(left))
        return passes


def pointing(
    prompt: Prompt, quote: str, *, confidence: float = 0.9, evidence: int | None = None, **fields: Any
) -> Draft:
    """A draft as a pointer model makes it: `quote` word by word, each with its place in the first evidence that has it.

    `fields` are those of `Draft`. ValueError where no evidence has the words.
    """
    for number, text in enumerate(e.text for e in prompt.evidence):
        at = text.find(quote) if evidence in (None, number) else -1
        if at >= 0:
            tokens = tuple(
                Token(start, end, confidence, Source(number, at + start, at + end)) for start, end in _words(quote)
            )
            return Draft(quote, tokens, confidence=confidence, **fields)
    raise ValueError(f"no evidence has {quote!r}. Point at words that stand in the prompt")


def _drafts(turn: Turn) -> list[Draft]:
    return [turn] if isinstance(turn, Draft) else list(turn)


def _words(text: str) -> list[tuple[int, int]]:
    return list(_spans(text))


def _spans(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for word in text.split():
        at = text.index(word, at)
        yield at, at + len(word)
        at += len(word)


def _under(text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
    return [
        number
        for number, (start, end) in enumerate(_words(text))
        if any(start < stop and begin < end for begin, stop in spans)
    ]


def _canvas(text: str, masked: set[int]) -> str:
    words = (text[start:end] for start, end in _words(text))
    return " ".join(BLOCK if number in masked else word for number, word in enumerate(words))
