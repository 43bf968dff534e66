"""JSON as models write it: in a fence, with words around it, single quotes, trailing commas, comments, or cut off.

Repairs how a value is written, never what it says. Nothing is evaluated.
"""

import json
import re
from typing import Any

_FENCED = re.compile(r"```(?:json5?|javascript|js)?\s*\n?(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_BLANK = re.compile(r"(?:[\s\ufeff]+|//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z))*", re.DOTALL)
_BARE = re.compile(r"[^\s,:{}\[\]\"'“”]+")
_NUMBER = re.compile(r"[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z")
_WORDS = {"true": True, "false": False, "null": None, "none": None, "undefined": None}
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "`"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_DEEPEST = 64


def loaded(text: str) -> Any:
    """The first object or list in the text. ValueError where there is none.

    >>> loaded("Sure! ```json\\n{'name': 'Bo', // who\\n 'years': [1952, 1990,],}\\n```")
    {'name': 'Bo', 'years': [1952, 1990]}
    >>> loaded('{"name": "Bo", "years": [1952, 19')
    {'name': 'Bo', 'years': [1952]}
    """
    for part in (text, *_FENCED.findall(text)):
        try:
            held = json.loads(part, parse_constant=_refused)
        except (ValueError, RecursionError):
            continue
        if isinstance(held, dict | list):
            return _paired(held)
    inside = next((part for part in _FENCED.findall(text) if "{" in part or "[" in part), text)
    begins = [at for at in (inside.find("{"), inside.find("[")) if at >= 0]
    if not begins:
        raise ValueError("there is no JSON in it")
    # A bracket in the words before an object is seldom JSON.
    begin = inside.find("{") if "{" in inside and not re.match(r"\s*\[", inside) else min(begins)
    return _paired(_Reader(inside, begin).value(0))


def _paired(value: Any) -> Any:
    """With no half of a surrogate pair in any string: it would break every encoder behind."""
    if isinstance(value, dict):
        return {_paired(key): _paired(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_paired(each) for each in value]
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(value, str) else value


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


class _CutOff(Exception):
    """A number or word that the end may have cut short."""


class _Reader:
    def __init__(self, text: str, at: int) -> None:
        self._text, self._at = text, at

    def value(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError(f"it is nested more than {_DEEPEST} deep")
        opening = self._peek()
        if opening == "{":
            return self._object(depth)
        if opening == "[":
            return self._list(depth)
        if opening in _QUOTES:
            return self._string()
        return self._word()

    def _peek(self) -> str:
        blank = _BLANK.match(self._text, self._at)
        self._at = blank.end() if blank else self._at
        return self._text[self._at : self._at + 1]

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._at += 1
        while (character := self._peek()) not in ("", "}", "]"):
            if character == ",":
                self._at += 1
                continue
            key = self._string() if character in _QUOTES else self._key()
            if self._peek() != ":":
                break
            self._at += 1
            if self._peek() in ("", "}", ","):
                continue
            try:
                found[key] = self.value(depth + 1)
            except _CutOff:
                break
        self._at += 1
        return found

    def _list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self._at += 1
        while (character := self._peek()) not in ("", "]", "}"):
            if character in (",", ":"):
                self._at += 1
                continue
            try:
                found.append(self.value(depth + 1))
            except _CutOff:
                break
        self._at += character == "]"
        return found

    def _key(self) -> str:
        bare = _BARE.match(self._text, self._at)
        if bare is None:
            raise ValueError(f"a name is missing at character {self._at}")
        self._at = bare.end()
        return bare.group()

    def _word(self) -> Any:
        bare = _BARE.match(self._text, self._at)
        if bare is None:
            raise ValueError(f"a value is missing at character {self._at}")
        self._at = bare.end()
        if self._at == len(self._text):
            raise _CutOff
        if bare.group().lower() in _WORDS:
            return _WORDS[bare.group().lower()]
        if not _NUMBER.match(bare.group()):
            raise ValueError(f"{bare.group()[:40]!r} is no value")
        number = bare.group().replace("_", "").removeprefix("+")
        return float(number) if set(number) & set(".eE") else int(number)

    def _string(self) -> str:
        """Up to the quote that something of JSON follows, so that quotes inside a text stay in it."""
        closing = _QUOTES[self._text[self._at]]
        said: list[str] = []
        self._at += 1
        while self._at < len(self._text):
            character = self._text[self._at]
            if character == "\\":
                said.append(self._escaped())
                continue
            self._at += 1
            if character == closing and self._ends():
                break
            said.append(character)
        return "".join(said)

    def _ends(self) -> bool:
        after = self._text[self._at :].lstrip()[:1] if self._at < len(self._text) else ""
        return after in ("", ",", ":", "}", "]", "/", "#")

    def _escaped(self) -> str:
        character = self._text[self._at + 1 : self._at + 2]
        self._at += 2
        digits = self._text[self._at : self._at + 4]
        if character == "u" and re.fullmatch(r"[0-9a-fA-F]{4}", digits):
            self._at += 4
            return chr(int(digits, 16))
        return _ESCAPES.get(character, character)
