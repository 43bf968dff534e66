"""A report as one HTML page that opens from disk: tables, pictures, and every question. Nothing is fetched."""

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from .asking import Row

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: 1rem 0 }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top }
img { max-width: 100% } code { background: #f3f3f3; padding: .1rem .3rem }
.right { color: #2f6b2f } .wrong { color: #a33 } input { font: inherit; width: 100%; padding: .3rem }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd } th, td { border-color: #444 }
  code { background: #2a2a2a } .right { color: #8c8 } .wrong { color: #e99 } }
"""
SCRIPT = """
document.getElementById("find").addEventListener("input", event => {
  const wanted = event.target.value.toLowerCase();
  for (const row of document.querySelectorAll("#questions tbody tr"))
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
});
"""


def page(title: str, markdown: str, pictures: Mapping[str, bytes], rows: Sequence[Row]) -> str:
    """`pictures` are PNGs by what they show."""
    images = (
        f'<img alt="{escape(name)}" src="data:image/png;base64,{b64encode(data).decode()}">'
        for name, data in pictures.items()
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>\n"
        f"{''.join(_blocks(markdown))}\n{chr(10).join(images)}\n{_searchable(rows) if rows else ''}</body></html>\n"
    )


def _searchable(rows: Sequence[Row]) -> str:
    return f"{_questions(rows)}\n<script>{SCRIPT}</script>\n"


def _questions(rows: Sequence[Row]) -> str:
    """A line for each question and backend."""
    lines = (
        f"<tr><td>{escape(row.question)}</td><td>{escape(row.backend)}</td>"
        f'<td class="{"right" if _right(row) else "wrong"}">{escape(row.answer) or "–"}</td>'
        f"<td>{escape('; '.join(row.answers)) or '(none)'}</td><td>{100 * row.headline[1]:.0f}</td>"
        f"<td>{escape(' … '.join(citation.quote for citation in row.citations))}</td>"
        f"<td>{1000 * row.seconds['total']:.0f}</td></tr>\n"
        for row in sorted(rows, key=lambda row: row.id)
    )
    names = ("question", "backend", "answer", "right", rows[0].headline[0] if rows else "", "cited", "ms")
    head = "".join(f"<th>{name}</th>" for name in names)
    return (
        '<h2>Questions</h2>\n<input id="find" placeholder="show only rows with these words">\n'
        f'<table id="questions"><thead><tr>{head}</tr></thead><tbody>\n{"".join(lines)}</tbody></table>'
    )


def _right(row: Row) -> bool:
    return row.scores.get("em", row.headline[1]) == 1


def _blocks(markdown: str) -> Iterable[str]:
    """The Markdown that `report` writes, and no more of the language than that."""
    for block in markdown.strip().split("\n\n"):
        lines = block.split("\n")
        if heading := re.match(r"(#+) (.*)", block):
            level = len(heading[1])
            yield f"<h{level}>{_inline(heading[2])}</h{level}>\n"
        elif block.startswith("|"):
            yield _table(lines)
        elif block.startswith("- "):
            yield "<ul>" + "".join(f"<li>{_inline(line[2:])}</li>" for line in lines) + "</ul>\n"
        else:
            yield f"<p>{_inline(block)}</p>\n"


def _table(lines: Sequence[str]) -> str:
    head, _, *body = ([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines)
    rows = [("th", head), *(("td", cells) for cells in body)]
    made = ("".join(f"<{tag}>{_inline(cell)}</{tag}>" for cell in cells) for tag, cells in rows)
    return "<table>" + "".join(f"<tr>{row}</tr>\n" for row in made) + "</table>\n"


def _inline(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text.replace("\\|", "|")))
