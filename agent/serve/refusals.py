"""Which status and which words a client gets for an error, before and in the middle of an answer."""

import json
import logging

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ...dllm.errors import ModelError
from ...retrieval.errors import DocumentUnreadable, IndexBusy, InvalidDocuments, RetrievalError
from ..errors import AgentError, InvalidQuestion, InvalidSession, ModelFailed
from .body import BodyRefused
from .errors import SECRET, InvalidRequest, OutOfTime, Refusal, TooBusy, Unreadable, shape
from .events import ClientGone, event

LOG = logging.getLogger("remask.serve")


def refusal(error: Exception) -> Refusal:
    """The refusal that an error becomes. What is our own mistake, or names our files, is not told to clients."""
    match error:
        case Refusal():
            return error
        case TimeoutError():
            return OutOfTime("the answer took too long. Ask again when there is less to do")
        case InvalidQuestion() | InvalidSession():
            return InvalidRequest(str(error))
        case DocumentUnreadable():
            return Unreadable(f"{error.path.name}: {error.reason}")
        case InvalidDocuments():
            return Unreadable(str(error))
        case IndexBusy():
            return TooBusy("another process changes the index. Try again in 5 s", retry_after_seconds=5)
        case ModelFailed():
            return _failed("model_failed", str(error))
        case AgentError() | ModelError() | RetrievalError():
            LOG.error("%s: %s", type(error).__name__, error)
            return _failed("failed", SECRET)
        case _:
            return _failed("internal_error", SECRET)


def told(error: Exception) -> bytes:
    """An error as the last event of a stream."""
    known = refusal(error)
    return event(json.dumps(shape(str(known), known.code, known.status)), "error")


def told_plainly(error: Exception) -> bytes:
    """The same for OpenAI's clients, which look for `error` in the data and know no names of events."""
    known = refusal(error)
    return event(json.dumps(shape(str(known), known.code, known.status)))


def install(app: FastAPI) -> None:
    app.add_exception_handler(ClientGone, _unsent)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    for kind in (AgentError, ModelError, RetrievalError, TimeoutError):
        app.add_exception_handler(kind, _refused)


async def _refused(request: Request, error: Exception) -> Response:
    return _response(request, refusal(error))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if isinstance(error, BodyRefused):
        return _response(request, error.refusal)
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "invalid_request")
    body = shape(str(error.detail), code, error.status_code, request.state.request_id)
    return JSONResponse(body, status_code=error.status_code, headers=dict(error.headers or {}))


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body") or "the body"
    return _response(request, InvalidRequest(f"{where}: {first['msg']}"))


async def _unsent(request: Request, error: Exception) -> Response:
    return Response(status_code=499)  # nobody reads it; it is what logs and metrics show


def _response(request: Request, known: Refusal) -> Response:
    body = shape(str(known), known.code, known.status, request.state.request_id)
    return JSONResponse(body, status_code=known.status, headers=known.headers)


def _failed(code: str, message: str) -> Refusal:
    failed = Refusal(message)
    failed.status, failed.code = (502 if code == "model_failed" else 500), code
    return failed
