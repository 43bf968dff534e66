"""Where a collection is: "milvus:URI#NAME". Reads the one environment variable of this package; connects to nothing."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from ..errors import IndexUnusable

SCHEME = "milvus:"
TOKEN = "REMASK_MILVUS_TOKEN"
"""The environment variable with the server's token, or `user:password`: it has no place in an address."""

DEFAULT_NAME = "remask"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_SERVER = re.compile(r"(https?|tcp):/+(?=[^/])")


@dataclass(frozen=True, slots=True)
class Address:
    """`uri` is an http, https or tcp address of a server, or a file of Milvus Lite, which ends in .db."""

    uri: str
    name: str = DEFAULT_NAME

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Without `#NAME` the collection is called "remask".

        >>> Address.parse("milvus:http://localhost:19530#handbook")
        Address(uri='http://localhost:19530', name='handbook')
        >>> Address.parse("milvus:passages.db").name
        'remask'
        """
        uri, _, name = text.removeprefix(SCHEME).partition("#")
        uri = _SERVER.sub(r"\1://", uri)  # a path type that the text passed through has made one slash of two
        if not text.startswith(SCHEME) or not (_SERVER.match(uri) or uri.endswith(".db")):
            raise IndexUnusable(
                f"{text!r} is no address of a Milvus collection. Write milvus:http://HOST:19530#NAME for a server,"
                " or milvus:FILE.db#NAME for a file of Milvus Lite"
            )
        if not _NAME.fullmatch(name or DEFAULT_NAME):
            raise IndexUnusable(
                f"{name!r} can't name a Milvus collection. Use letters, digits and underscores, no digit first"
            )
        return cls(uri, name or DEFAULT_NAME)

    @property
    def file(self) -> Path | None:
        """The file of Milvus Lite; None for a server."""
        return None if _SERVER.match(self.uri) else Path(self.uri)

    @property
    def token(self) -> str:
        return "" if self.file else os.environ.get(TOKEN, "")

    def __str__(self) -> str:
        return f"{SCHEME}{self.uri}#{self.name}"


def is_address(place: Path | str) -> bool:
    """Whether this names a Milvus collection rather than a folder."""
    return str(place).startswith(SCHEME)
