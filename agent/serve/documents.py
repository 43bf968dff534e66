"""`/documents`: what there is to ask, added, read and removed. Files are read by `upload`."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from ...retrieval.document import Document, Scalar
from .errors import InvalidRequest
from .service import Service
from .upload import Uploaded, uploaded

MOST_AT_ONCE = 1000
LONGEST_ID = 512
HIDDEN = ("path",)
"""Metadata that tells of this machine's files."""


class NewDocument(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1, max_length=LONGEST_ID)
    text: str = Field(min_length=1)
    title: str = Field(default="", max_length=LONGEST_ID)
    metadata: dict[str, Scalar] = Field(default={}, max_length=64)


class NewDocuments(BaseModel):
    """Documents to add. One whose id is taken is refused, with all the others, unless `replace` is true."""

    model_config = ConfigDict(extra="forbid")

    documents: list[NewDocument] = Field(min_length=1, max_length=MOST_AT_ONCE)
    replace: bool = False


def routes(service: Service) -> APIRouter:
    router = APIRouter(tags=["documents"])

    @router.get("/documents", response_class=Response)
    async def listed(
        offset: Annotated[int, Query(ge=0)] = 0, limit: Annotated[int, Query(ge=1, le=MOST_AT_ONCE)] = 100
    ) -> Response:
        """`limit` documents from the `offset`-th on, in the order in which they came."""
        found = await run_in_threadpool(service.library.documents, offset, limit)
        documents = [{"id": one.id, "title": one.title, "characters": len(one.text)} for one in found]
        index = service.library.index
        return JSONResponse({"documents": documents, "total": len(index.documents), "passages": len(index)})

    @router.get("/documents/{document_id:path}", response_class=Response)
    async def read(
        document_id: str, start: Annotated[int, Query(ge=0)] = 0, end: Annotated[int | None, Query(ge=0)] = None
    ) -> Response:
        """A document's text, or characters `start` to `end` of it. Counted in Unicode code points."""
        excerpt = service.library.excerpt(document_id, start=start, end=end)
        document = excerpt.document
        return JSONResponse(
            {
                "id": document.id,
                "title": document.title,
                "metadata": {k: v for k, v in document.metadata.items() if k not in HIDDEN},
                "characters": len(document.text),
                "start": excerpt.start,
                "end": excerpt.end,
                "text": excerpt.text,
            }
        )

    @router.post("/documents", status_code=201, response_class=Response)
    async def add(request: Request) -> Response:
        """Adds documents: JSON as in `NewDocuments`, or files as a form (fields `files`, and `replace`)."""
        with service.library.changing():
            if request.headers.get("content-type", "").startswith("multipart/form-data"):
                sent = await uploaded(request, max_bytes=service.options.max_upload_bytes)
            else:
                sent = _parsed(await request.body())
            changes = await service.library.add(sent.documents, replace=sent.replace)
        told: dict[str, Any] = {"added": changes.added, "updated": changes.updated, "unchanged": changes.unchanged}
        told |= {"ids": [d.id for d in sent.documents][:MOST_AT_ONCE], "notes": sent.notes}
        return JSONResponse(told, status_code=201)

    @router.delete("/documents/{document_id:path}", response_class=Response)
    async def remove(document_id: str) -> Response:
        """Removes a document and all that was made of it."""
        with service.library.changing():
            await service.library.delete(document_id)
        return JSONResponse({"deleted": document_id})

    return router


def _parsed(body: bytes) -> Uploaded:
    """Raises InvalidRequest, with the place and without the text."""
    try:
        sent = NewDocuments.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the body"
        raise InvalidRequest(f"{where}: {first['msg']}") from None
    return Uploaded(_documents(sent.documents), sent.replace, [])


def _documents(new: Sequence[NewDocument]) -> list[Document]:
    return [Document(id=n.id, text=n.text, title=n.title, metadata=n.metadata) for n in new]
