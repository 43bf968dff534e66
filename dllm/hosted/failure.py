"""What a server's refusal means, and whether asking again may help. Knows statuses and messages; sends nothing."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from ..errors import BackendUnavailable, GenerationFailed, ModelError, PromptTooLong
from .endpoint import Endpoint

_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_FINAL_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|maximum (?:input|model|sequence|prompt)? ?length|max_model_len"
    r"|(?:prompt|input|request)[^.]{0,60} (?:too long|too large|longer than|exceeds)|too many (?:input )?tokens",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"(?:context[ _](?:length|window|size)|maximum (?:input|model) length|max_model_len)(?: of the model)?"
    r"(?: is(?: only)?| of|:| =|=)?[\s(]*(\d{2,8})",
    re.IGNORECASE,
)
_TOKENS = re.compile(r"(\d{2,8})[)\s]*(?:input |prompt )?tokens", re.IGNORECASE)
_NUMBER = re.compile(r"\b\d{2,8}\b")
_NO_SYSTEM = re.compile(
    r"system (?:role|message|prompt)s? (?:is |are )?not supported|roles must alternate", re.IGNORECASE
)
_MOST_SHOWN = 300


class Refusal(Exception):
    """A server's answer that is no success, not yet judged."""

    def __init__(self, status: int, body: str, headers: Mapping[str, str]) -> None:
        super().__init__(f"{status}: {body[:_MOST_SHOWN]}")
        self.status, self.headers = status, headers
        error = _error(body)
        self.message = str(error.get("message") or error.get("detail") or body).strip()
        self.code, self.param = str(error.get("code") or ""), str(error.get("param") or "")

    @property
    def passing(self) -> bool:
        """Whether it may be gone on the next try."""
        return self.status in _AGAIN and self.code not in _FINAL_CODES

    @property
    def too_long(self) -> bool:
        said = bool(_TOO_LONG.search(self.message)) and self.status in (400, 413, 422)
        return self.code == "context_length_exceeded" or self.status == 413 or said

    @property
    def no_system(self) -> bool:
        """Whether the chat template knows no turn of the system."""
        return self.status in (400, 422, 500) and bool(_NO_SYSTEM.search(self.message))

    def names(self, field: str, words: tuple[str, ...] = ()) -> bool:
        """Whether it is about this field of the request."""
        if self.status not in (400, 403, 404, 415, 422, 500, 501) or self.too_long:
            return False
        if self.param:
            return re.split(r"[.\[]", self.param)[0] == field
        return any(re.search(rf"\b{re.escape(word)}\b", self.message, re.IGNORECASE) for word in (field, *words))


def wait_seconds(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """What Retry-After says, in seconds or as a date; None where it says nothing that can be read.

    >>> wait_seconds({"retry-after": "2"}), wait_seconds({"retry-after-ms": "1500"}), wait_seconds({"retry-after": "soon"})
    (2.0, 1.5, None)
    """
    for header, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            seconds = float(headers[header]) / unit
        except (KeyError, ValueError):
            continue
        return seconds if 0 <= seconds < float("inf") else None
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - (now or datetime.now(UTC))).total_seconds())


def judged(refusal: Refusal, endpoint: Endpoint, *, tries: int = 1, models: tuple[str, ...] = ()) -> ModelError:
    """The error that a caller can act on."""
    said, where = shown(refusal.message, endpoint), endpoint.shown_url
    variable = endpoint.dialect.key_variable
    if refusal.too_long:
        limit = int(found[1]) if (found := _LIMIT.search(refusal.message)) else None
        return PromptTooLong(
            f"question and evidence are too long for {endpoint.model!r}: {said}. Ask shorter, or show it fewer passages",
            limit=limit,
            asked=_asked(refusal.message, limit),
        )
    if refusal.status in (401, 403):
        does = f"Check {variable}" if endpoint.key else f"Set {variable} to one that it takes"
        what = "does not take the key" if endpoint.key else "asks for a key"
        return BackendUnavailable(f"{where} {what} ({refusal.status}: {said}). {does}")
    if refusal.status == 404:
        there = f"It has {', '.join(map(repr, models))}" if models else f"See {where}/models for those it has"
        return BackendUnavailable(f"{where} has no model {endpoint.model!r}, or no chat (404: {said}). {there}")
    if refusal.code in _FINAL_CODES or refusal.status == 402:
        return BackendUnavailable(
            f"the account at {where} has no credit left ({refusal.status}: {said}). Add some there"
        )
    if refusal.passing:
        again = f"in {counted_tries(tries)} " if tries > 1 else ""
        return BackendUnavailable(
            f"{where} is {_busy(refusal.status)} {again}({refusal.status}: {said}). Try again later"
        )
    return GenerationFailed(f"{where} refused the request ({refusal.status}: {said}). Check the model and its options")


def counted_tries(tries: int) -> str:
    return "one try" if tries == 1 else f"{tries} tries"


def shown(text: str, endpoint: Endpoint) -> str:
    """What a server said, on one line, not too long, and without the key: servers like to repeat it."""
    if endpoint.key:
        text = text.replace(endpoint.key, "***")
        # OpenAI shows the first and the last letters around asterisks.
        text = re.sub(r"\b[\w-]{2,12}\*{3,}[\w-]{0,8}", "***", text)
    line = " ".join(text.split()) or "no message"
    return line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]}…"


def _error(body: str) -> dict[str, Any]:
    """The object that describes it, wherever a server puts it: in `error`, in `detail`, or at the top."""
    try:
        held = json.loads(body)
    except ValueError:
        return {"message": "a page, not JSON" if body.lstrip()[:1] == "<" else body}
    if not isinstance(held, dict):
        return {"message": body}
    error = held.get("error", held)
    return error if isinstance(error, dict) else {"message": error}


def _asked(message: str, limit: int | None) -> int | None:
    """The tokens of the request, which every server words in its own way: the least number above the limit, of those that
    are said to be tokens if any are."""
    if limit is None:
        return None
    for pattern in (_TOKENS, _NUMBER):
        above = [number for number in map(int, pattern.findall(message)) if number > limit]
        if above:
            return min(above)
    return None


def _busy(status: int) -> str:
    return "too busy" if status in (429, 529) else "out of order"
