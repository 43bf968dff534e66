"""What is kept of conversations, how much of it, and what a bad name or file does."""

import os
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from remask.agent import InvalidSession, MemoryUnusable
from remask.agent.answer import Answer, Trace
from remask.agent.memory import SessionLimits, Sessions


def said(text: str, question: str = "Who?") -> Answer:
    trace = Trace(question=question, generator="scripted", scorer="lexical", seed=0)
    return Answer(text=text, kind="span", confidence=1.0, abstained=False, trace=trace)


def test_turns_come_back_in_order_after_the_file_is_opened_again(tmp_path: Path) -> None:
    first = Sessions(tmp_path / "s.sqlite3", clock=lambda: 7.0)
    first.add("anna", "who?", said("Mira Holt", "Who was it?"))
    first.add("anna", "and when?", said("1952"))
    first.close()
    turns = Sessions(tmp_path / "s.sqlite3").turns("anna")
    assert [(t.asked, t.question, t.answer, t.at) for t in turns] == [
        ("who?", "Who was it?", "Mira Holt", 7.0),
        ("and when?", "Who?", "1952", 7.0),
    ]


def test_sessions_are_listed_last_used_first_and_deleted() -> None:
    times = iter(range(10))
    sessions = Sessions(clock=lambda: float(next(times)))
    for name in ("a", "b", "a"):
        sessions.add(name, "Who?", said("x"))
    assert [(info.name, info.turns, info.created, info.used) for info in sessions.list()] == [
        ("a", 2, 0.0, 2.0),
        ("b", 1, 1.0, 1.0),
    ]
    assert sessions.delete("a")
    assert not sessions.delete("a")
    assert [info.name for info in sessions.list()] == ["b"]
    assert sessions.turns("a") == ()


def test_turns_sessions_and_texts_are_bounded() -> None:
    sessions = Sessions(limits=SessionLimits(max_sessions=2, max_turns=3, max_characters=5))
    for number in range(6):
        sessions.add("a", f"{number} " + "x" * 1000, said("y" * 1000))
    assert [turn.asked for turn in sessions.turns("a")] == ["3 xxx", "4 xxx", "5 xxx"]
    assert sessions.turns("a")[0].answer == "yyyyy"
    sessions.add("b", "?", said(""))
    sessions.add("c", "?", said(""))
    assert [info.name for info in sessions.list()] == ["c", "b"]


def test_owners_of_one_file_see_only_their_own(tmp_path: Path) -> None:
    anna = Sessions(tmp_path / "s.sqlite3", owner="anna")
    bert = anna.of("bert")
    anna.add("work", "Who?", said("x"))
    assert bert.list() == ()
    assert not bert.delete("work")
    assert [info.name for info in Sessions(tmp_path / "s.sqlite3", owner="anna").list()] == ["work"]


def test_many_threads_lose_no_turn(tmp_path: Path) -> None:
    files = [Sessions(tmp_path / "s.sqlite3", limits=SessionLimits(max_turns=100)) for _ in range(2)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: files[n % 2].add("a", str(n), said("x")), range(40)))
    assert sorted(int(turn.asked) for turn in files[0].turns("a")) == list(range(40))


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_the_file_is_for_its_users_eyes_only(tmp_path: Path) -> None:
    Sessions(tmp_path / "new" / "s.sqlite3")
    assert stat.S_IMODE((tmp_path / "new" / "s.sqlite3").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "name",
    [
        "", "   ", " a", "a ", "..", "../../etc/passwd", "/etc/passwd", "a/b", "a\\b", "a\x00b", "a\nb", "\x1b[31m", "a'b",
        "'; drop table turn; --", '"', "%s", "a" * 81, "\u202eanna", "\ud83d", "${HOME}", "<script>", "a\u200bb", None, 7,
    ],
)  # fmt: skip
def test_a_malicious_name_is_refused_by_name_and_touches_nothing(name: str, tmp_path: Path) -> None:
    sessions = Sessions(tmp_path / "s.sqlite3")
    sessions.add("anna", "Who?", said("x"))
    for use in (sessions.turns, sessions.delete, lambda n: sessions.add(n, "Who?", said("x"))):
        with pytest.raises(InvalidSession, match="can't be a session's name"):
            use(name)
    assert [info.name for info in sessions.list()] == ["anna"]
    assert {path.name for path in tmp_path.iterdir()} == {"s.sqlite3"}


@given(st.text())
def test_a_name_is_refused_or_finds_its_own_turn(name: str) -> None:
    sessions = Sessions()
    try:
        sessions.add(name, "Who?", said("x"))
    except InvalidSession:
        return
    assert len(sessions.turns(name)) == 1
    assert sessions.delete(sessions.list()[0].name)


def test_names_that_look_alike_are_the_same() -> None:
    sessions = Sessions()
    sessions.add("Zoe\u0308", "Who?", said("x"))
    assert len(sessions.turns("Zo\u00eb")) == 1


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("my notes, " * 500, encoding="utf-8")
    with pytest.raises(MemoryUnusable, match=r"notes\.txt"):
        Sessions(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "my notes, " * 500


def test_another_programs_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("create table turn (x)")
    other.close()
    before = (tmp_path / "other.db").read_bytes()
    with pytest.raises(MemoryUnusable, match="something else"):
        Sessions(tmp_path / "other.db")
    assert (tmp_path / "other.db").read_bytes() == before


def test_a_newer_file_is_refused(tmp_path: Path) -> None:
    Sessions(tmp_path / "s.sqlite3").close()
    newer = sqlite3.connect(tmp_path / "s.sqlite3")
    newer.execute("pragma user_version = 99")
    newer.close()
    with pytest.raises(MemoryUnusable, match="version 99"):
        Sessions(tmp_path / "s.sqlite3")


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MemoryUnusable, match="Choose another file"):
        Sessions(tmp_path)
