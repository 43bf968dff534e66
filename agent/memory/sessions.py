"""Sessions in one SQLite file: bounded, listed, deleted. Knows turns; not how a question is answered.

Names and texts go in as parameters, never into a statement or a path.
"""

import json
import os
import sqlite3
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ..answer import Answer, Record
from ..errors import InvalidSession, MemoryUnusable
from .turn import Turn

_APPLICATION = 0x724D6B53
_VERSION = 1
_LONGEST_NAME = 80
_ALSO_IN_NAMES = " ._@:+-"
_TABLES = """
create table session (
    id integer primary key, owner text not null, name text not null, created real not null, used real not null,
    unique (owner, name)
);
create table turn (
    session integer not null references session (id) on delete cascade,
    number integer not null, asked text not null, question text not null, answer text not null, titles text not null,
    at real not null,
    primary key (session, number)
) without rowid;
"""


class SessionLimits(BaseModel):
    """What is kept. Frozen, keyword-only."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_sessions: int = Field(default=1000, ge=1)
    """Sessions of one owner; beyond it the one used longest ago is forgotten."""
    max_turns: int = Field(default=50, ge=1)
    """Turns of a session; beyond it the oldest is forgotten."""
    max_characters: int = Field(default=4000, ge=1)
    """Of each text that is kept; the rest of a longer one is not remembered."""


class SessionInfo(Record):
    name: str
    turns: int = Field(description="How many turns it remembers.")
    created: float = Field(description="Seconds since 1970.")
    used: float = Field(description="When it last got a turn, in seconds since 1970.")


class Sessions:
    """The sessions of one owner, in a file or, without one, in memory. Safe for threads; processes may share a file.

    `owner` keeps callers apart who share a file: a server gives each key its own.
    """

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        owner: str = "",
        limits: SessionLimits | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Makes the file, for its user's eyes only, where there is none. Raises MemoryUnusable where it is another's."""
        self.owner = owner
        self.limits = limits or SessionLimits()
        self._clock = clock
        self._store = _Store(path)

    def of(self, owner: str) -> "Sessions":
        """The same file as another owner sees it."""
        other = object.__new__(Sessions)
        other.owner, other.limits, other._clock, other._store = owner, self.limits, self._clock, self._store
        return other

    def list(self) -> tuple[SessionInfo, ...]:
        """The one used last first."""
        rows = self._store.read(
            "select name, (select count(*) from turn where session = session.id), created, used from session"
            " where owner = ? order by used desc, id desc",
            (self.owner,),
        )
        return tuple(SessionInfo(name=name, turns=n, created=created, used=used) for name, n, created, used in rows)

    def turns(self, name: str) -> tuple[Turn, ...]:
        """Oldest first; empty for a session that does not exist. Raises InvalidSession."""
        rows = self._store.read(
            "select asked, question, answer, titles, at from turn where session ="
            " (select id from session where owner = ? and name = ?) order by number",
            (self.owner, checked_name(name)),
        )
        return tuple(
            Turn(asked=asked, question=question, answer=answer, titles=tuple(json.loads(titles)), at=at)
            for asked, question, answer, titles, at in rows
        )

    def add(self, name: str, asked: str, answer: Answer) -> Turn:
        """Remembers a turn; a session comes into being with its first. Raises InvalidSession."""
        name, now = checked_name(name), self._clock()
        turn = Turn.of(asked, answer, at=now, longest=self.limits.max_characters)
        with self._store.writing() as connection:
            connection.execute(
                "insert into session (owner, name, created, used) values (?, ?, ?, ?)"
                " on conflict (owner, name) do update set used = excluded.used",
                (self.owner, name, now, now),
            )
            (session,) = connection.execute(
                "select id from session where owner = ? and name = ?", (self.owner, name)
            ).fetchone()
            connection.execute(
                "insert into turn select ?, coalesce(max(number), 0) + 1, ?, ?, ?, ?, ? from turn where session = ?",
                (session, turn.asked, turn.question, turn.answer, json.dumps(turn.titles), now, session),
            )
            self._forget_excess(connection, session)
        return turn

    def delete(self, name: str) -> bool:
        """Whether there was one. Raises InvalidSession."""
        with self._store.writing() as connection:
            done = connection.execute(
                "delete from session where owner = ? and name = ?", (self.owner, checked_name(name))
            )
            return done.rowcount > 0

    def close(self) -> None:
        self._store.close()

    def _forget_excess(self, connection: sqlite3.Connection, session: int) -> None:
        connection.execute(
            "delete from turn where session = ? and number <= (select max(number) from turn where session = ?) - ?",
            (session, session, self.limits.max_turns),
        )
        connection.execute(
            "delete from session where owner = ? and id not in"
            " (select id from session where owner = ? order by used desc, id desc limit ?)",
            (self.owner, self.owner, self.limits.max_sessions),
        )


def checked_name(name: str) -> str:
    """The name as it is kept, so that equal-looking names are equal. Raises InvalidSession.

    >>> checked_name("Anna B. 2")
    'Anna B. 2'
    """
    whole = unicodedata.normalize("NFC", name) if isinstance(name, str) else ""
    known = all(character.isalnum() or character in _ALSO_IN_NAMES for character in whole)
    if not known or whole != whole.strip() or not any(c.isalnum() for c in whole) or len(whole) > _LONGEST_NAME:
        shown = repr(name) if len(repr(name)) < 2 * _LONGEST_NAME else f"{repr(name)[:_LONGEST_NAME]}…"
        raise InvalidSession(
            f"{shown} can't be a session's name. Use up to {_LONGEST_NAME} letters, digits, blanks and any of"
            f" {_ALSO_IN_NAMES.strip()}, with a letter or digit"
        )
    return whole


class _Store:
    """One connection, used by one thread at a time."""

    def __init__(self, path: Path | str | None) -> None:
        self._turn = Lock()
        self._where = ":memory:" if path is None else str(Path(path).expanduser())
        try:
            if path is not None:
                _make_private(Path(self._where))
            self._connection = sqlite3.connect(self._where, check_same_thread=False, isolation_level=None, timeout=10)
        except (OSError, sqlite3.Error, ValueError) as error:
            raise MemoryUnusable(f"can't open {self._where!r} for sessions: {error}. Choose another file") from error
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def read(self, statement: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        with self._turn, self._explained():
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All or nothing."""
        with self._turn, self._explained():
            self._connection.execute("begin immediate")
            try:
                yield self._connection
                self._connection.execute("commit")
            except BaseException:
                self._connection.execute("rollback")
                raise

    def close(self) -> None:
        with self._turn:
            self._connection.close()

    def _prepare(self) -> None:
        with self.writing() as connection:
            (application,) = connection.execute("pragma application_id").fetchone()
            (version,) = connection.execute("pragma user_version").fetchone()
            (tables,) = connection.execute("select count(*) from sqlite_schema").fetchone()
            if (tables or application) and application != _APPLICATION:
                raise MemoryUnusable(f"{self._where!r} is a database of something else. Choose another file")
            if application and version != _VERSION:
                raise MemoryUnusable(
                    f"{self._where!r} holds sessions of version {version}, and this program reads {_VERSION}."
                    " Update remask or choose another file"
                )
            if not tables:
                for statement in _TABLES.split(";"):
                    connection.execute(statement)
                connection.execute(f"pragma application_id = {_APPLICATION}")
                connection.execute(f"pragma user_version = {_VERSION}")
        self._connection.execute("pragma foreign_keys = on")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise MemoryUnusable(f"the sessions in {self._where!r} can't be used: {error}") from error


def _make_private(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
