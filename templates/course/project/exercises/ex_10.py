"""Exercise 10: read a stream of server-sent events."""

from collections.abc import Iterable, Iterator


def events(pieces: Iterable[bytes]) -> Iterator[str]:
    """The data of each event. An event ends at a blank line; its lines that begin with "data:" are joined with line breaks, one
    blank after the colon left out. Other lines are comments and fields of no interest, and an event without data is none.

    A network cuts where it likes: between the letters of "data:", and between the bytes of one letter.
    """
    raise NotImplementedError("your turn")
