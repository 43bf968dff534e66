"""What a server refuses, and with which status. Every refusal is one JSON object in the shape that OpenAI's clients read.

ServeError                  (an AgentError)
├── Unservable              the server can't start as it was told to
└── Refusal                 one request is refused; nothing was changed by it
    ├── InvalidRequest      400  it can't be understood or asks for what is not there
    │   └── AmbiguousLength      a body with two lengths, as in request smuggling
    ├── KeyWanted           401  no key, or an unknown one
    ├── Forbidden           403  from another site, to another host, or writing where only reading is allowed
    ├── NotThere            404
    ├── BodySlow            408  the body did not arrive in time
    ├── AlreadyThere        409  a document would be replaced without being asked to
    ├── BodyTooLarge        413
    ├── Unreadable          422  an upload that could not be turned into text
    ├── TooBusy             503  the queue is full; `Retry-After` says when to come back
    └── OutOfTime           504  the answer took longer than a request may
"""

from ..errors import AgentError

SECRET = "something went wrong here. The server's log tells more"
"""What clients are told of our own mistakes."""


class ServeError(AgentError):
    """Any trouble with serving that a user can mend."""


class Unservable(ServeError):
    pass


class Refusal(ServeError):
    status = 500
    code = "internal_error"

    @property
    def headers(self) -> dict[str, str]:
        return {}


class InvalidRequest(Refusal):
    status, code = 400, "invalid_request"


class AmbiguousLength(InvalidRequest):
    @property
    def headers(self) -> dict[str, str]:
        # What follows may be meant as another request, by someone else.
        return {"connection": "close"}


class KeyWanted(Refusal):
    status, code = 401, "invalid_api_key"

    @property
    def headers(self) -> dict[str, str]:
        return {"www-authenticate": "Bearer"}


class Forbidden(Refusal):
    status, code = 403, "forbidden"


class NotThere(Refusal):
    status, code = 404, "not_found"


class BodySlow(Refusal):
    status, code = 408, "body_too_slow"

    @property
    def headers(self) -> dict[str, str]:
        return {"connection": "close"}


class AlreadyThere(Refusal):
    status, code = 409, "already_there"


class BodyTooLarge(Refusal):
    status, code = 413, "body_too_large"

    @property
    def headers(self) -> dict[str, str]:
        # Else the server would go on reading what it has refused.
        return {"connection": "close"}


class Unreadable(Refusal):
    status, code = 422, "unreadable"


class TooBusy(Refusal):
    status, code = 503, "busy"

    def __init__(self, message: str, *, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds

    @property
    def headers(self) -> dict[str, str]:
        return {"retry-after": str(self.retry_after_seconds)}


class OutOfTime(Refusal):
    status, code = 504, "out_of_time"


def shape(message: str, code: str, status: int, request_id: str = "") -> dict[str, dict[str, str | None]]:
    """What is sent of an error, in the shape of OpenAI's.

    >>> shape("no such thing", "not_found", 404)["error"]["type"]
    'invalid_request_error'
    """
    kind = "invalid_request_error" if status < 500 else "server_error"
    error: dict[str, str | None] = {"message": message, "type": kind, "param": None, "code": code}
    return {"error": error | ({"request_id": request_id} if request_id else {})}
