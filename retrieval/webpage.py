"""HTML in, readable text out. Scripts and styles are left out, and nothing is fetched."""

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PreformattedString, Tag

from .blocks import first_heading
from .encoding import Decoded, declared, decode


class Webpage(NamedTuple):
    """A blank line between paragraphs; headings and list items are marked as in Markdown, so that `split` sees them."""

    text: str
    title: str


def read_page(markup: str) -> Webpage:
    """The title is the page's own, else its first heading, else empty.

    >>> read_page("<title>Fruit</title><h1>Apples</h1><p>Ripe  is <b>best</b>.<script>x()</script><ul><li>red<li>green")
    Webpage(text='# Apples\\n\\nRipe is best.\\n\\n- red\\n- green', title='Fruit')
    """
    with warnings.catch_warnings():
        # Beautiful Soup warns of XHTML and of pages as short as a file name; both are read well.
        warnings.simplefilter("ignore")
        # lxml takes linear time where html.parser takes minutes for some hundred kilobytes of "<!--".
        soup = BeautifulSoup(markup, "lxml")
    title = soup.find("title")
    text = _readable(soup)
    return Webpage(text, (" ".join(title.get_text().split()) if title else "") or first_heading(text))


def decode_page(data: bytes, path: Path | str) -> Decoded:
    """Like `decode`, but a page that names its own encoding is believed when its bytes agree."""
    named = _DECLARED.search(data[:4096])
    if named and not declared(data)[0] and b"\0" not in data:
        encoding = named[1].decode("ascii", "replace").lower()
        # Browsers read a page that says latin-1 as Windows-1252, and so were such pages written.
        encoding = "cp1252" if encoding in ("iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii") else encoding
        try:
            return Decoded(data.decode(encoding), encoding)
        except (LookupError, UnicodeError):
            pass
    return decode(data, path)


_DECLARED = re.compile(
    rb"<(?:meta|\?xml)[^>]{0,300}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE
)

_INVISIBLE = ("script", "style", "noscript", "template", "svg", "iframe", "object", "head", "title")
_LISTS_AND_TABLES = (
    "table",
    "ul",
    "ol",
    "dl",
    "div",
    "blockquote",
    "pre",
    "figure",
    "form",
    "fieldset",
    "address",
    "hr",
)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = (*_LISTS_AND_TABLES, *_HEADINGS, "section", "article", "aside", "header", "footer", "main", "nav", "details")
_LINES = ("br", "tr", "li", "dt", "dd", "option", "caption", "figcaption", "legend", "summary")
_PREFIXES = {"li": "- ", **{name: "#" * level + " " for level, name in enumerate(_HEADINGS, 1)}}
_CELLS = ("td", "th")


def _readable(soup: BeautifulSoup) -> str:
    lines = _Lines()
    # Not recursive: pages nest as deeply as they like.
    open_tags: list[tuple[Tag, Iterator[object]]] = [(soup, iter(soup.contents))]
    while open_tags:
        tag, children = open_tags[-1]
        child = next(children, None)
        if child is None:
            lines.leave(tag)
            open_tags.pop()
        elif isinstance(child, Tag) and child.name not in _INVISIBLE:
            lines.enter(child)
            open_tags.append((child, iter(child.contents)))
        elif isinstance(child, NavigableString) and not isinstance(child, PreformattedString):
            lines.write(child)
    return "".join(lines.parts)


class _Lines:
    """Text as it is laid out. What separates two words is kept back until the second one comes."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._gap = ""
        self._mark = ""
        self._cells_in_row = 0
        self._inside_plain_cell: Tag | None = None
        self._preformatted = 0

    def enter(self, tag: Tag) -> None:
        self._edge(tag)
        self._mark = _PREFIXES.get(tag.name, self._mark)
        self._preformatted += tag.name == "pre"
        if tag.name == "tr":
            self._cells_in_row = 0
        if tag.name in _CELLS:
            # A cell that holds whole blocks is there for the layout; any other is a value in a row.
            plain = tag.find(_BLOCKS) is None
            self._mark += "| " if plain and self._cells_in_row else ""
            self._gap = self._gap or " "
            self._cells_in_row += 1
            self._inside_plain_cell = self._inside_plain_cell or (tag if plain else None)

    def leave(self, tag: Tag) -> None:
        self._edge(tag)
        self._preformatted -= tag.name == "pre"
        if self._inside_plain_cell is tag:
            self._inside_plain_cell = None

    def write(self, text: str) -> None:
        words = text if self._preformatted else " ".join(text.split())
        if text[:1].isspace():
            self._gap = self._gap or " "
        if words.strip():
            self.parts += [self._gap if self.parts else "", self._mark, words]
            self._gap = self._mark = ""
        if text[-1:].isspace():
            self._gap = self._gap or " "

    def _edge(self, tag: Tag) -> None:
        if tag.name in _BLOCKS or tag.name == "p":
            gap = "\n\n"
        elif tag.name in _LINES:
            gap = "\n"
        else:
            return
        if self._inside_plain_cell:
            self._gap = self._gap or " "
        else:
            self._gap = max(self._gap, gap, key=len)
            self._mark = ""
