"""Which reader a file's name asks for, and the readers of files that are one document each.

The modules that own a format's library are imported with the first file of that format: importing this stays cheap.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from .blocks import first_heading
from .document import Document, Scalar
from .encoding import Decoded, decode, well_formed
from .errors import DocumentUnreadable
from .rows import read_csv, read_json, read_jsonl
from .source import Found, Source

Reader = Callable[[Source], Iterator[Found]]
"""Yields documents and notes. Raises DocumentUnreadable or OSError when the file, or the rest of it, can't be read."""


def reader_for(path: Path) -> Reader | None:
    """By the end of the file's name, whatever its case; None for a kind of file that isn't read."""
    name = path.name.lower()
    return next((reader for suffix, reader in READERS.items() if name.endswith(suffix)), None)


def _read_text(source: Source) -> Iterator[Found]:
    decoded = decode(source.read(), source.path)
    yield from _decoded(source, decoded, decoded.text, "")


def _read_markdown(source: Source) -> Iterator[Found]:
    decoded = decode(source.read(), source.path)
    yield from _decoded(source, decoded, decoded.text, first_heading(decoded.text))


def _read_html(source: Source) -> Iterator[Found]:
    from .webpage import decode_page, read_page

    decoded = decode_page(source.read(), source.path)
    page = read_page(decoded.text)
    yield from _decoded(source, decoded, page.text, page.title)


def _read_pdf(source: Source) -> Iterator[Found]:
    from .office import read_pdf

    pdf = read_pdf(source.read(), source.path)
    yield _document(source, pdf.text, pdf.title, {"pages": pdf.pages})


def _read_docx(source: Source) -> Iterator[Found]:
    from .office import read_docx

    word = read_docx(source.read(), source.path, max_bytes=source.max_bytes)
    yield _document(source, word.text, word.title, {})


def _decoded(source: Source, decoded: Decoded, text: str, title: str) -> Iterator[Found]:
    document = _document(source, text, title, {"encoding": decoded.encoding})
    if decoded.doubt:
        yield source.warning(decoded.doubt)
    yield document


def _document(source: Source, text: str, title: str, about: dict[str, Scalar]) -> Document:
    if not text.strip():
        raise DocumentUnreadable(source.path, "no text")
    metadata = {"path": well_formed(str(source.path)), **about}
    title = well_formed(title or source.path.stem)
    return Document(id=source.id, text=well_formed(text), title=title, metadata=metadata)


READERS: dict[str, Reader] = {
    ".txt": _read_text,
    ".md": _read_markdown,
    ".html": _read_html,
    ".htm": _read_html,
    ".pdf": _read_pdf,
    ".docx": _read_docx,
    ".csv": read_csv,
    ".json": read_json,
    ".jsonl": read_jsonl,
    ".jsonl.gz": read_jsonl,
}
