"""Bytes in, text out, and the name of the encoding that did it. Nothing here knows what a file format is."""

import codecs
import re
from pathlib import Path
from typing import NamedTuple

import charset_normalizer

from .errors import DocumentUnreadable


class Decoded(NamedTuple):
    """Text with its newlines as they were. `doubt` says why it may not be what the author wrote, or is empty."""

    text: str
    encoding: str
    doubt: str = ""


# UTF-32 first: its little-endian mark begins with the one of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# What people really have on disk. Detectors that may also answer "cp1006" or "hp_roman8" do so for German.
# The order settles ties, which short texts often give.
_LEGACY = (
    *("cp1252", "cp1251", "cp932", "euc_jp", "gb18030", "big5", "cp949"),
    *("cp1250", "cp1254", "cp1253", "cp1256", "cp1255", "koi8_r"),
)
_SAMPLE_BYTES = 64_000
_REPLACEMENT = "\ufffd"
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


def decode(data: bytes, path: Path | str) -> Decoded:
    """By byte order mark, else UTF-8, else the likeliest legacy encoding, else Windows-1252; a guess carries a doubt.

    No character is dropped: bytes that fit nowhere become U+FFFD, and the doubt counts them.
    Raises DocumentUnreadable for bytes that are not text; `path` is only named in its message.

    >>> decode("Größe ©".encode("cp1252"), "a.txt").text
    'Größe ©'
    >>> decode(b"\\xff\\xfeh\\x00i\\x00", "a.txt")
    Decoded(text='hi', encoding='utf-16-le', doubt='')
    """
    encoding, mark = declared(data)
    if encoding:
        return _strictly(data[mark:], encoding) or _replacing(data[mark:], encoding)
    decoded = _unmarked_utf16(data)
    if decoded:
        return decoded
    if b"\0" in data or len(_CONTROL.findall(data)) > len(data) // 50:
        raise DocumentUnreadable(path, "binary data, not text")
    return _strictly(data, "utf-8") or _mostly_utf8(data) or _legacy(data)


def declared(data: bytes) -> tuple[str, int]:
    """The encoding that a byte order mark names and the mark's length; ("", 0) without a mark."""
    return next(((name, len(mark)) for mark, name in _MARKS if data.startswith(mark)), ("", 0))


def well_formed(text: str) -> str:
    """The text with U+FFFD for lone surrogates, which no encoding can store. JSON and file names may hold them.

    >>> well_formed("a" + chr(0xD800))
    'a\ufffd'
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _strictly(data: bytes, encoding: str) -> Decoded | None:
    try:
        return Decoded(data.decode(encoding), encoding)
    except UnicodeDecodeError:
        return None


def _replacing(data: bytes, encoding: str) -> Decoded:
    text = data.decode(encoding, "replace")
    places = text.count(_REPLACEMENT)
    return Decoded(text, encoding, f"{places} places are not valid {encoding}; they are shown as U+FFFD")


def _unmarked_utf16(data: bytes) -> Decoded | None:
    """Some tools write UTF-16 without a mark. Every other byte of Latin text is then nearly always zero."""
    if len(data) % 2 or b"\0" not in data:
        return None
    for encoding, zeros, others in (("utf-16-le", data[1::2], data[::2]), ("utf-16-be", data[::2], data[1::2])):
        if zeros.count(0) > 0.7 * len(zeros) and 0 not in others and not _CONTROL.search(others):
            decoded = _strictly(data, encoding)
            return decoded and decoded._replace(doubt=f"no byte order mark; read as {encoding}")
    return None


def _mostly_utf8(data: bytes) -> Decoded | None:
    """One broken byte in a long UTF-8 text must not turn all its other letters into mojibake."""
    decoded = _replacing(data, "utf-8")
    valid = sum(map(len, re.findall(r"[^\x00-\x7f\ufffd]+", decoded.text)))
    return decoded if valid > 10 * decoded.text.count(_REPLACEMENT) else None


def _legacy(data: bytes) -> Decoded:
    guess = _likeliest(b" ".join(_words_beyond_ascii(data)))
    for encoding in dict.fromkeys((guess, "cp1252")):
        decoded = _strictly(data, encoding)
        if decoded:
            return decoded._replace(doubt=f"neither UTF-8 nor marked; read as {encoding}, which is a guess")
    return _replacing(data, "cp1252")


def _words_beyond_ascii(data: bytes) -> list[bytes]:
    """The bytes that tell encodings apart, from anywhere in the data, with a little of what is around them."""
    words, size = [], 0
    for found in re.finditer(rb"[^\n\x80-\xff]{0,40}[\x80-\xff][^\n]{0,200}", data):
        words.append(found[0])
        size += len(found[0])
        if size > _SAMPLE_BYTES:
            break
    return words


def _likeliest(sample: bytes) -> str:
    matches = list(charset_normalizer.from_bytes(sample, cp_isolation=list(_LEGACY)))
    if not matches:
        return "cp1252"
    best = min(matches, key=lambda match: (match.chaos, -match.coherence))
    equals = {
        name
        for match in matches
        if (match.chaos, match.coherence) == (best.chaos, best.coherence)
        for name in match.could_be_from_charset
    }
    return next((name for name in _LEGACY if name in equals), best.encoding)
