"""Where a hosted model is and which dialect it speaks. The one place that reads the environment for one."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from ..errors import BackendUnavailable

Effort = Literal["instant", "low", "medium", "high"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How a kind of server differs from the others. Whatever is optional here is left out when a server refuses it."""

    name: str
    key_variable: str
    diffusing: bool = False
    """Streams the whole canvas again and again: each piece replaces what came before it."""
    seeds: bool = True
    logprobs: bool = True
    length_field: str = "max_tokens"
    effort: Effort | None = None
    tool_effort: Effort | None = None
    """The least that tools work with."""
    temperatures: tuple[float | None, float | None] = (0.0, 0.7)
    """Of the first candidate and of those after it; None: the server's own."""
    max_tokens: int = 512
    """Of an answer, what the model thinks before it included."""


OPENAI = Dialect(name="openai", key_variable="OPENAI_API_KEY")
# Facts from the SDK inceptionai 0.3.0: no seed, no logprobs, no n; reasoning counts as completion.
MERCURY = Dialect(
    name="mercury",
    key_variable="INCEPTION_API_KEY",
    diffusing=True,
    seeds=False,
    logprobs=False,
    length_field="max_completion_tokens",
    effort="low",
    tool_effort="low",
    temperatures=(None, 1.0),
    max_tokens=4096,
)
MERCURY_URL = "https://api.inceptionlabs.ai/v1"
_NEEDS_KEY = ("api.openai.com",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A model on a server. `key` is sent to it, and never shown."""

    dialect: Dialect
    url: str
    """Up to and with its version, as in http://127.0.0.1:8000/v1."""
    model: str
    key: str = field(default="", repr=False)

    @property
    def name(self) -> str:
        """As the table of backends writes it."""
        return f"mercury:{self.model}" if self.dialect is MERCURY else f"openai:{self.url}#{self.model}"

    @property
    def shown_url(self) -> str:
        """Without a password that may stand in it."""
        parts = urlsplit(self.url)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def mercury(model: str, *, environment: Mapping[str, str] | None = None) -> Endpoint:
    """Key from INCEPTION_API_KEY; INCEPTION_BASE_URL instead of Inception's own address. Raises BackendUnavailable."""
    given = os.environ if environment is None else environment
    key = _key(given.get(MERCURY.key_variable, ""), MERCURY.key_variable)
    if not key:
        raise BackendUnavailable(
            f"'mercury:{model}' needs a key. Get one at platform.inceptionlabs.ai and set {MERCURY.key_variable} to it"
        )
    return Endpoint(dialect=MERCURY, url=_url(given.get("INCEPTION_BASE_URL") or MERCURY_URL), model=model, key=key)


def openai(argument: str, *, environment: Mapping[str, str] | None = None) -> Endpoint:
    """URL#MODEL; key from OPENAI_API_KEY, which a server of one's own may do without. Raises BackendUnavailable.

    >>> openai("http://127.0.0.1:8000#m", environment={}).url
    'http://127.0.0.1:8000/v1'
    """
    given = os.environ if environment is None else environment
    url, _, model = argument.partition("#")
    if not model.strip():
        raise BackendUnavailable(f"'openai:{argument}' names no model. Write openai:URL#MODEL; URL/models lists them")
    url = _url(url)
    key = _key(given.get(OPENAI.key_variable, ""), OPENAI.key_variable)
    if not key and urlsplit(url).hostname in _NEEDS_KEY:
        raise BackendUnavailable(f"{urlsplit(url).hostname} needs a key. Set {OPENAI.key_variable} to yours")
    return Endpoint(dialect=OPENAI, url=url, model=model.strip(), key=key)


def _url(given: str) -> str:
    """The base that "/chat/completions" is put behind."""
    text = given.strip().rstrip("/").removesuffix("/chat/completions")
    try:
        parts = urlsplit(text)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        known = False
    if not known or parts.query:
        raise BackendUnavailable(f"{given!r} is no address of a server. Write one such as http://127.0.0.1:8000/v1")
    return text if parts.path.strip("/") else f"{text}/v1"


def _key(given: str, variable: str) -> str:
    key = given.strip()
    if not all(33 <= ord(character) <= 126 for character in key):
        raise BackendUnavailable(f"{variable} holds blanks or letters that no key has. Set it to the key alone")
    return key
