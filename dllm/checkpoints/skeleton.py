"""A JSON schema as a canvas: its skeleton given, a slot for every token of a value, and the words each slot may hold.

Pure. Whatever words the slots get within what they may hold, `read` makes a value of the schema of them: the text of the
canvas is never parsed. A text ends at its first quotation mark or filler, a number at its first filler.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from ..errors import GenerationFailed
from .vocabulary import QUOTE, Vocabulary

Slot = int
Schema = Mapping[str, Any]
_LISTED = 256
"""Bounded integers are chosen from a list up to so many."""
_SAID = {
    *("type", "enum", "const", "properties", "required", "items", "minItems", "maxItems", "minimum", "maximum"),
    *(
        "maxLength",
        "title",
        "description",
        "default",
        "examples",
        "additionalProperties",
        "$schema",
        "strict",
        "nullable",
    ),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several values. `words`: the ids of each, all of one length, filled up with the filler."""

    slots: tuple[Slot, ...]
    values: tuple[Any, ...]
    words: tuple[tuple[int, ...], ...]


@dataclass(slots=True)
class Template:
    """`ids` with `mask_id` where a slot is free; `allowed` says, for each free slot, which words it may hold, [V]."""

    ids: list[int]
    allowed: dict[Slot, Tensor]
    choices: list[Choice]
    texts: list[tuple[Slot, ...]]
    """The slots of each text: after one that ends it, the rest is filler."""
    read: Callable[[Sequence[int], Sequence[float]], Any] = field(repr=False)
    """The value, given the ids of all slots and how sure they are."""


Reader = Callable[[Sequence[int], Sequence[float]], Any]


def template(
    schema: Schema,
    vocabulary: Vocabulary,
    *,
    mask_id: int,
    encode: Callable[[str], list[int]],
    decode: Callable[[Sequence[int]], str],
    text_tokens: int = 16,
    digits: int = 6,
    items: int = 4,
) -> Template:
    """The canvas of a schema of type object, array, string, integer, number, boolean, null, or of an enum; nested at will.

    `text_tokens`, `digits`: slots of a text without `maxLength`, and of a number's whole part and of its fraction; `items`:
    of a list without `maxItems`. A property that is not required, or may be null, may come out as None. Raises
    GenerationFailed for what can't be promised (pattern, format, references, ...), naming it and its place.
    """
    build = _Build(vocabulary, mask_id, encode, decode, text_tokens, digits, items)
    read = build.value(schema, "the schema")
    return Template(build.ids, build.allowed, build.choices, build.texts, read)


@dataclass(slots=True)
class _Build:
    vocabulary: Vocabulary
    mask_id: int
    encode: Callable[[str], list[int]]
    decode: Callable[[Sequence[int]], str]
    text_tokens: int
    digits: int
    items: int
    ids: list[int] = field(default_factory=list)
    allowed: dict[Slot, Tensor] = field(default_factory=dict)
    choices: list[Choice] = field(default_factory=list)
    texts: list[tuple[Slot, ...]] = field(default_factory=list)

    def given(self, text: str) -> None:
        self.ids += self.encode(text)

    def slot(self, allowed_V: Tensor) -> Slot:
        self.allowed[len(self.ids)] = allowed_V
        self.ids.append(self.mask_id)
        return len(self.ids) - 1

    def value(self, schema: Schema, where: str) -> Reader:
        unknown = sorted(set(schema) - _SAID)
        if unknown:
            raise GenerationFailed(
                f"{unknown[0]!r} of {where} can't be promised by infilling. Leave it out, and check it"
            )
        kinds = schema.get("type", "object" if "properties" in schema else None)
        named = [kinds] if isinstance(kinds, str) else list(kinds or ())
        if schema.get("nullable"):
            named.append("null")
        if "const" in schema or "enum" in schema:
            return self.choice([schema["const"]] if "const" in schema else schema["enum"], where)
        kind = next((name for name in named if name != "null"), "null" if named else None)
        makers: dict[str | None, Callable[[Schema, str], Reader]] = {
            "object": self.object,
            "array": self.array,
            "string": self.text,
            "integer": self.integer,
            "number": self.number,
            "boolean": lambda schema, where: self.choice([True, False], where),
            "null": lambda schema, where: self.choice([None], where),
        }
        if kind not in makers or len([name for name in named if name != "null"]) > 1:
            raise GenerationFailed(
                f"{where} has type {kinds!r}. Give one of {', '.join(map(str, makers))}, or null beside it"
            )
        make = makers[kind]
        return self.maybe(lambda: make(schema, where)) if "null" in named and kind != "null" else make(schema, where)

    def maybe(self, make: Callable[[], Reader]) -> Reader:
        """A slot or more that says null, or nothing; then the value, which counts only where it says nothing."""
        null = self.choice(["null", ""], "null", shown=str)
        read = make()
        return lambda ids, sure: None if null(ids, sure) == "null" else read(ids, sure)

    def choice(self, values: Sequence[Any], where: str, *, shown: Callable[[Any], str] = json.dumps) -> Reader:
        if not values:
            raise GenerationFailed(f"{where} has an empty enum. Give it values")
        words = [self.encode(shown(value)) for value in values]
        longest, filler = max(1, *map(len, words)), self.vocabulary.filler
        filled = tuple((*each, *[filler] * (longest - len(each))) for each in words)
        if len(values) == 1:
            self.ids += filled[0]
            return lambda ids, sure: values[0]
        slots = tuple(self.slot(self.vocabulary.only([each[at] for each in filled])) for at in range(longest))
        made = Choice(slots, tuple(values), filled)
        self.choices.append(made)
        return lambda ids, sure: chosen(made, ids, sure)

    def object(self, schema: Schema, where: str) -> Reader:
        properties: Mapping[str, Schema] = schema.get("properties", {})
        required, readers = set(schema.get("required", properties)), {}
        for number, (name, inner) in enumerate(properties.items()):
            self.given((", " if number else "{") + json.dumps(name) + ": ")
            place = f"{name!r} of {where}"
            if name in required:
                readers[name] = self.value(inner, place)
            else:
                readers[name] = self.maybe(lambda inner=inner, place=place: self.value(inner, place))  # type: ignore[misc]
        self.given("}" if properties else "{}")
        return lambda ids, sure: {name: read(ids, sure) for name, read in readers.items()}

    def array(self, schema: Schema, where: str) -> Reader:
        least, most = schema.get("minItems", 0), schema.get("maxItems", max(self.items, schema.get("minItems", 0)))
        if "items" not in schema or least > most:
            raise GenerationFailed(
                f"{where} says no items, or minItems={least!r} above maxItems={most!r}. Give it both"
            )
        readers: list[tuple[Reader, Reader]] = []
        self.given("[")
        for number in range(most):
            more = self.choice([True], where) if number < least else self.more(first=not number)
            readers.append((more, self.value(schema["items"], f"an item of {where}")))
        self.given("]")

        def read(ids: Sequence[int], sure: Sequence[float]) -> list[Any]:
            values = []
            for more, item in readers:
                if not more(ids, sure):
                    break
                values.append(item(ids, sure))
            return values

        return read

    def more(self, *, first: bool) -> Reader:
        """Whether another item follows: a comma (a blank before the first) or the list's end."""
        return self.choice([True, False], "an item", shown=lambda more: (" " if first else ",") if more else "]")

    def text(self, schema: Schema, where: str) -> Reader:
        most = schema.get("maxLength")
        self.given(QUOTE)
        allowed_V = self.vocabulary.in_text_V | self.vocabulary.only([self.vocabulary.filler])
        slots = tuple(self.slot(allowed_V) for _ in range(min(self.text_tokens, most or self.text_tokens)))
        self.texts.append(slots)
        self.given(QUOTE)
        ends = {*self.vocabulary.closers, self.vocabulary.filler}

        def read(ids: Sequence[int], sure: Sequence[float]) -> str:
            said = [ids[slot] for slot in slots]
            stop = next((at for at, id_ in enumerate(said) if id_ in ends), len(said) - 1)
            value = self.decode(said[: stop + 1]).replace("\ufffd", "").split(QUOTE)[0].strip()
            return value[:most]

        return read

    def integer(self, schema: Schema, where: str) -> Reader:
        low, high = schema.get("minimum"), schema.get("maximum")
        if low is not None and high is not None:
            if not 0 <= high - low < _LISTED:
                raise GenerationFailed(
                    f"{where} has {high - low + 1} values between its bounds; up to {_LISTED} are chosen from"
                )
            return self.choice(list(range(int(low), int(high) + 1)), where)
        sign = self.sign(schema, where)
        whole = self.figures(self.digits, least=1)
        return lambda ids, sure: int((sign(ids, sure) if sign else "") + self.said(ids, whole))

    def number(self, schema: Schema, where: str) -> Reader:
        sign = self.sign(schema, where)
        whole = self.figures(self.digits, least=1)
        point = self.choice([".", ""], where, shown=str)
        part = self.figures(self.digits, least=0)

        def read(ids: Sequence[int], sure: Sequence[float]) -> float:
            fraction = self.said(ids, part) if point(ids, sure) else ""
            return float((sign(ids, sure) if sign else "") + self.said(ids, whole) + "." + (fraction or "0"))

        return read

    def sign(self, schema: Schema, where: str) -> Reader | None:
        if schema.get("maximum") is not None or schema.get("minimum", 0) != 0:
            raise GenerationFailed(f"one bound of {where} alone can't be promised by infilling, but for a minimum of 0")
        return None if schema.get("minimum") == 0 else self.choice(["-", ""], where, shown=str)

    def figures(self, count: int, *, least: int) -> tuple[Slot, ...]:
        digits_V = self.vocabulary.digits_V
        if not bool(digits_V.any()):
            raise GenerationFailed("the tokenizer has no digits, so no number can be infilled")
        more_V = digits_V | self.vocabulary.only([self.vocabulary.filler])
        slots = tuple(self.slot(digits_V if at < least else more_V) for at in range(count))
        self.texts.append(slots)
        return slots

    def said(self, ids: Sequence[int], slots: tuple[Slot, ...]) -> str:
        """The digits up to the first filler."""
        texts = [self.vocabulary.texts[ids[slot]] for slot in slots]
        stop = next((at for at, text in enumerate(texts) if not text.isdigit()), len(texts))
        return "".join(texts[:stop])


def chosen(choice: Choice, ids: Sequence[int], sure: Sequence[float]) -> Any:
    """The value whose words stand in the slots; where none's do, the one with most of them, by how sure they are.

    >>> chosen(Choice((0, 1), ("ab", "cd"), ((1, 2), (3, 4))), [1, 4], [0.9, 0.5])
    'ab'
    """

    def held(words: tuple[int, ...]) -> tuple[bool, float]:
        same = [ids[slot] == word for slot, word in zip(choice.slots, words, strict=True)]
        return all(same), sum(sure[slot] for slot, agrees in zip(choice.slots, same, strict=True) if agrees)

    best = max(range(len(choice.values)), key=lambda at: held(choice.words[at]))
    return choice.values[best]
