"""`/v1/models` and `/v1/embeddings`: which models there are, and the vectors of the one that embeds."""

import asyncio
import base64
from typing import Any, Literal

import numpy as np
from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict
from starlette.responses import JSONResponse, Response

from ...retrieval.postings import Floats
from .dialect import words
from .errors import InvalidRequest, NotThere
from .events import answered
from .service import Service


class EmbeddingRequest(BaseModel):
    model_config = ConfigDict(extra="allow")

    model: str = ""
    input: str | list[str]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None


def routes(service: Service) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["openai"])

    @router.get("/models", response_class=Response)
    async def models() -> Response:
        """The model that answers, and the one that embeds."""
        return JSONResponse({"object": "list", "data": [_model(name) for name in _names(service)]})

    @router.get("/models/{name:path}", response_class=Response)
    async def model(name: str) -> Response:
        if name not in _names(service):
            raise NotThere(f"there is no model {name!r}. There are {', '.join(map(repr, _names(service)))}")
        return JSONResponse(_model(name))

    @router.post("/embeddings", response_class=Response)
    async def embeddings(asked: EmbeddingRequest, request: Request) -> Response:
        """Vectors of texts, as the index has them of passages."""
        texts = _texts(service, asked)
        service.turns.check()
        vectors = await answered(request, _vectors(service, texts), seconds=service.options.request_seconds)
        if asked.dimensions not in (None, vectors.shape[1]):
            raise InvalidRequest(f"dimensions={asked.dimensions!r}: this model's vectors have {vectors.shape[1]}")
        return JSONResponse(_listed(service.library.index.embedder.name, texts, vectors, asked.encoding_format))

    return router


def _texts(service: Service, asked: EmbeddingRequest) -> list[str]:
    texts = [asked.input] if isinstance(asked.input, str) else asked.input
    name, most = service.library.index.embedder.name, service.options.max_embedded_texts
    if asked.model not in ("", "remask", name):
        raise NotThere(f"there is no model {asked.model!r} that embeds. Use {name!r}")
    if not texts or any(not text for text in texts):
        raise InvalidRequest("input: an empty text has no vector. Send texts that say something")
    if len(texts) > most:
        raise InvalidRequest(f"input: {len(texts)} texts, and {most} are allowed at once")
    return [text.encode("utf-8", "replace").decode() for text in texts]


async def _vectors(service: Service, texts: list[str]) -> Floats:
    async with service.turns.taken():
        return await asyncio.to_thread(service.library.index.embedder.embed_passages, texts)


def _listed(name: str, texts: list[str], vectors: Floats, encoding: str) -> dict[str, Any]:
    data = [
        {"object": "embedding", "index": row, "embedding": _encoded(vector, encoding)}
        for row, vector in enumerate(vectors)
    ]
    used = sum(map(words, texts))
    return {"object": "list", "model": name, "data": data, "usage": {"prompt_tokens": used, "total_tokens": used}}


def _encoded(vector: Floats, encoding: str) -> str | list[float]:
    """Base64 of little-endian 32-bit floats, as OpenAI's client asks for by itself."""
    if encoding == "base64":
        return base64.b64encode(vector.astype(np.dtype("<f4")).tobytes()).decode()
    return [float(x) for x in vector]


def _names(service: Service) -> tuple[str, str]:
    return service.generator.name, service.library.index.embedder.name


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "remask"}
