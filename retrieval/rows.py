"""Files of records: JSON, JSON lines, CSV. What a record means is in `records`."""

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import BinaryIO, NamedTuple, cast

from .document import Document
from .encoding import Decoded, declared, decode, well_formed
from .errors import DocumentUnreadable, InvalidDocuments
from .records import TEXT_FIELDS, left_out, record_document
from .source import Found, Source

_REPORTED_ROWS = 20
_DELIMITERS = ",;\t|"


def read_json(source: Source) -> Iterator[Found]:
    """A list of records, or one record."""
    decoded = decode(source.read(), source.path)
    if decoded.doubt:
        yield source.warning(decoded.doubt)
    content = _parsed(decoded.text)
    if isinstance(content, InvalidDocuments):
        raise DocumentUnreadable(source.path, str(content))
    records = content if isinstance(content, list) else [content]
    yield from _documents(source, (_Row(row, record, decoded.encoding) for row, record in enumerate(records, 1)))


def read_jsonl(source: Source) -> Iterator[Found]:
    """A record a line, one line in memory at a time; `.gz` is unpacked on the way. A bad line costs only itself."""
    opened = gzip.open if source.path.suffix.lower() == ".gz" else open
    with cast(BinaryIO, opened(source.path, "rb")) as file:
        try:
            yield from _documents(source, _json_lines(source, file))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DocumentUnreadable(source.path, f"damaged gzip data ({error})") from error


def read_csv(source: Source) -> Iterator[Found]:
    """A header, then a record a row. The delimiter is the one with which the header names a field for the text."""
    decoded = decode(source.read(), source.path)
    if decoded.doubt:
        yield source.warning(decoded.doubt)
    for delimiter in _DELIMITERS:
        rows = _cells(decoded.text, delimiter)
        header = [name.strip() for name in next(rows, [])]
        if any(name.lower() in TEXT_FIELDS for name in header):
            yield from _documents(source, _csv_rows(header, rows, decoded.encoding))
            return
    columns = ", ".join(next(_cells(decoded.text, ","), []))[:200]
    raise DocumentUnreadable(
        source.path, f"no column is called {', '.join(TEXT_FIELDS)}; the first line is {columns!r}"
    )


class _Row(NamedTuple):
    """`record` is what the file says, or the reason why it can't be read."""

    number: int
    record: object
    encoding: str
    doubt: str = ""


def _documents(source: Source, rows: Iterable[_Row]) -> Iterator[Found]:
    bad = doubtful = 0
    lost: dict[str, None] = {}
    for row in rows:
        if row.doubt and not doubtful:
            yield source.warning(f"row {row.number}: {row.doubt}")
        doubtful += bool(row.doubt)
        try:
            yield _document(source, row)
        except InvalidDocuments as error:
            bad += 1
            if bad <= _REPORTED_ROWS:
                yield source.skipped(str(error))
        else:
            if len(lost) < _REPORTED_ROWS:
                lost |= dict.fromkeys(left_out(cast(Mapping[str, object], row.record)))
    if bad > _REPORTED_ROWS:
        yield source.skipped(f"{bad - _REPORTED_ROWS} more rows, for reasons like these")
    if doubtful > 1:
        yield source.warning(f"{doubtful - 1} more rows with such doubts")
    if lost:
        yield source.warning(f"fields that hold lists or objects are left out: {', '.join(lost)}")


def _document(source: Source, row: _Row) -> Document:
    if isinstance(row.record, InvalidDocuments):
        raise InvalidDocuments(f"row {row.number}: {row.record}")
    document = record_document(row.record, row.number)
    about = {"path": well_formed(str(source.path)), "encoding": row.encoding}
    # A record's own fields win: they are its author's, and the path is in the id as well.
    return document.model_copy(update={"id": f"{source.id}#{document.id}", "metadata": {**about, **document.metadata}})


def _parsed(text: str) -> object:
    try:
        # NaN is how some tools write a missing value.
        return json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        return InvalidDocuments(f"not valid JSON ({error})")


def _json_lines(source: Source, file: BinaryIO) -> Iterator[_Row]:
    for number, line in enumerate(_lines(source, file), 1):
        if line.text.strip():
            yield _Row(number, _parsed(line.text), line.encoding, line.doubt)


def _lines(source: Source, file: BinaryIO) -> Iterator[Decoded]:
    lines = source.lines(file)
    first = next(lines, b"")
    encoding, mark = declared(first)
    if encoding not in ("", "utf-8"):
        whole = decode(first + b"".join(lines), source.path)
        yield from (whole._replace(text=line) for line in whole.text.split("\n"))
        return
    yield decode(first[mark:], source.path)
    # Not str.splitlines: JSON strings may hold the other line ends of Unicode.
    yield from (decode(line, source.path) for line in lines)


def _csv_rows(header: list[str], rows: Iterable[list[str]], encoding: str) -> Iterator[_Row]:
    for number, row in enumerate(rows, 1):
        if len(row) > len(header):
            reason = InvalidDocuments(f"{len(row)} cells, where the header has {len(header)}")
            yield _Row(number, reason, encoding)
        elif any(cell.strip() for cell in row):
            yield _Row(number, dict(zip(header, row, strict=False)), encoding)


def _cells(text: str, delimiter: str) -> Iterator[list[str]]:
    """Rows of any length. The csv module's limit of 131,072 characters is process-wide, so it is put back each time."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    while True:
        limit = csv.field_size_limit(max(len(text), 1))
        try:
            row = next(reader, None)
        finally:
            csv.field_size_limit(limit)
        if row is None:
            return
        yield row
