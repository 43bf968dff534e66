"""PDF and Word files in, text out. Layout, images, footnotes and headers are left behind."""

import io
import logging
import re
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import docx
import pypdf
from docx.document import Document as WordDocument
from docx.table import Table, _Cell
from docx.text.paragraph import Paragraph

from .blocks import first_heading
from .errors import DocumentUnreadable


class Pages(NamedTuple):
    """The text of a PDF. A form feed stands between pages, so a character's page is 1 plus the form feeds before it."""

    text: str
    title: str
    pages: int


class WordText(NamedTuple):
    """Headings are marked as in Markdown, so that `split` sees them; a table has a line for each row."""

    text: str
    title: str


def read_pdf(data: bytes, path: Path) -> Pages:
    """Raises DocumentUnreadable for what is no PDF, needs a password, or holds only pictures of text."""
    with _quietly():
        try:
            reader = pypdf.PdfReader(io.BytesIO(data))
            # An empty password opens files that only forbid printing.
            if reader.is_encrypted and not reader.decrypt(""):
                raise DocumentUnreadable(path, "encrypted; save a copy without a password")
            pages = [page.extract_text().strip() for page in reader.pages]
            title = str((reader.metadata and reader.metadata.title) or "")
        except DocumentUnreadable:
            raise
        except pypdf.errors.DependencyError as error:
            raise DocumentUnreadable(path, "encrypted with AES; pip install cryptography to read it") from error
        # A broken PDF makes its parser fail in any way whatever, and the next file can still be read.
        except Exception as error:
            raise DocumentUnreadable(path, f"not a readable PDF ({_first_line(error)})") from error
    if not any(pages):
        raise DocumentUnreadable(path, "no text in this PDF; if it is a scan, run OCR on it first")
    return Pages("\n\f\n".join(pages), "" if _MEANINGLESS_TITLE.search(title) else title.strip(), len(pages))


def read_docx(data: bytes, path: Path, *, max_bytes: int) -> WordText:
    """Raises DocumentUnreadable for a broken file, or one that unpacks to more than `max_bytes`."""
    if data.startswith(_OLD_OFFICE):
        raise DocumentUnreadable(path, "an old .doc file, or protected by a password; save it as .docx without one")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
        if unpacked > max_bytes:
            raise DocumentUnreadable(path, f"unpacks to {unpacked:,} bytes; max_bytes is {max_bytes:,}")
        with _quietly():
            document = docx.Document(io.BytesIO(data))
            text = "\n\n".join(filter(str.strip, _blocks(document)))
            title = document.core_properties.title.strip()
    except DocumentUnreadable:
        raise
    # As with PDF: a zip file of anything may stand behind the name.
    except Exception as error:
        raise DocumentUnreadable(path, f"not a readable Word document ({_first_line(error)})") from error
    return WordText(text, title or first_heading(text))


_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MEANINGLESS_TITLE = re.compile(
    r"^\W*(?:untitled|anonymous|microsoft word|powerpoint|slide 1)|\.\w{2,4}\W*$", re.IGNORECASE
)
_HEADING_STYLE = re.compile(r"(?:Heading|heading) ?([1-9])$")


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__


@contextmanager
def _quietly() -> Iterator[None]:
    """What a library has to say about a file is in its exception, not on somebody's terminal."""
    log = logging.getLogger("pypdf")
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)


def _blocks(container: WordDocument | _Cell) -> Iterator[str]:
    for block in container.iter_inner_content():
        if isinstance(block, Table):
            yield "\n".join(_rows(block))
        else:
            yield _marked(block)


def _marked(paragraph: Paragraph) -> str:
    style = (paragraph.style and paragraph.style.name) or ""
    heading = _HEADING_STYLE.match(style)
    level = min(int(heading[1]), 6) if heading else int(style == "Title")
    mark = "#" * level + " " if level else "- " if style.startswith("List") else ""
    return mark + paragraph.text if paragraph.text.strip() else ""


def _rows(table: Table) -> Iterator[str]:
    for row in table.rows:
        # Merged cells are the same element, once for each column they span.
        cells = {cell._tc: cell for cell in row.cells}
        texts = (" ".join(" ".join(_blocks(cell)).split()) for cell in cells.values())
        line = " | ".join(texts)
        if line.strip(" |"):
            yield line
