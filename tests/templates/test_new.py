"""`remask new`: which names and folders are refused, that nothing is overwritten, and what a template may hold."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from remask.agent.cli import main
from remask.templates.catalog import Template, catalog, template
from remask.templates.errors import FolderUnusable, NameUnusable, TemplateBroken, UnknownTemplate
from remask.templates.project import checked_name, write
from remask.templates.render import render


def made(home: Path, name: str, *, description: str = 'title = "T"\nfirst = "ls"\n', **files: str) -> Template:
    """A template of one's own. `__` in a keyword stands for a dot."""
    (home / name / "project").mkdir(parents=True)
    (home / name / "template.toml").write_text(description, encoding="utf-8")
    for path, text in files.items():
        (home / name / "project" / path.replace("__", ".")).write_text(text, encoding="utf-8")
    return template(name, home)


# What a project may be called.


@pytest.mark.parametrize("name", ["bot", "my-bot", "My_Bot.2", "x"])
def test_a_name_that_a_package_can_have_is_taken(name: str) -> None:
    assert checked_name(name) == name


@pytest.mark.parametrize(
    "name", ["", "2bots", "-bot", "bot-", "my bot", "bøt", "../bot", "a/b", ".", "bot\n", "class", "json", "remask"]
)
def test_a_name_that_no_package_can_have_is_refused_by_name(name: str) -> None:
    with pytest.raises(NameUnusable) as refused:
        checked_name(name)
    assert repr(name) in str(refused.value)


def test_a_bad_name_is_one_line_and_makes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "my bot", "--template", "general", "--into", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("error: 'my bot' is no name for a package.")
    assert list(tmp_path.iterdir()) == []


# Where it may be.


def test_a_folder_that_exists_is_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "agent.py").write_text("mine")
    assert main(["new", "bot", "--template", "general", "--into", str(tmp_path)]) == 1
    assert "exists. Nothing is overwritten" in capsys.readouterr().err
    assert [path.read_text() for path in (tmp_path / "bot").iterdir()] == ["mine"]


def test_an_empty_folder_and_a_dangling_link_are_something_too(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("empty", "link"):
        with pytest.raises(FolderUnusable, match="exists"):
            write({"a": b""}, tmp_path / name)


def test_a_folder_to_make_it_in_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for parent in ("missing", "file"):
        with pytest.raises(FolderUnusable, match=parent):
            write({"a": b""}, tmp_path / parent / "bot")


def test_a_folder_without_write_permission_is_named_and_stays_empty(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    tmp_path.chmod(0o755)
    here = os.open(tmp_path, os.O_RDONLY)
    before = Path.cwd()
    os.fchdir(here)  # so that an ordinary user need not be able to enter the folders above
    try:
        with an_ordinary_user(), pytest.raises(FolderUnusable, match="Permission denied"):
            write({"a": b""}, Path("locked") / "bot")
    finally:
        os.chdir(before)
        os.close(here)
    assert list(locked.iterdir()) == []


@contextmanager
def an_ordinary_user() -> Iterator[None]:
    """Permissions don't bind root, as which containers often test."""
    root = sys.platform != "win32" and os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_a_project_that_can_not_be_written_whole_is_not_written_at_all(tmp_path: Path) -> None:
    with pytest.raises(FolderUnusable):
        write({"first": b"1", "first/inside": b"2"}, tmp_path / "bot")
    assert list(tmp_path.iterdir()) == []


# Which template.


def test_an_unknown_template_is_named_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "bot", "--template", "generall"]) == 1
    message = capsys.readouterr().err
    assert "'generall' is no template" in message
    assert all(each.name in message for each in catalog())


def test_the_list_has_a_line_for_each_template(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [each.name for each in catalog()]


@pytest.mark.parametrize("arguments", [[], ["bot"]])
def test_without_a_terminal_what_is_missing_is_said_and_not_asked(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", *arguments]) == 2
    assert "there is no terminal to ask at" in capsys.readouterr().err


def test_at_a_terminal_it_asks_for_name_and_template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with a_terminal(monkeypatch, "my-bot\n1\n"):
        assert main(["new", "--into", str(tmp_path)]) == 0
    assert 'name = "my-bot"' in (tmp_path / "my-bot" / "pyproject.toml").read_text(encoding="utf-8")
    assert (tmp_path / "my-bot" / "agent.py").read_bytes() == render(catalog()[0], "my-bot")["agent.py"]


def test_the_end_of_input_at_a_question_makes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with a_terminal(monkeypatch, "\x04"):
        assert main(["new", "--into", str(tmp_path)]) == 130
    assert list(tmp_path.iterdir()) == []


@contextmanager
def a_terminal(monkeypatch: pytest.MonkeyPatch, typed: str) -> Iterator[None]:
    """Standard input and error as a person's terminal, with what will be typed there."""
    person, program = os.openpty()
    os.write(person, typed.encode())
    with open(program, encoding="utf-8") as keys, open(os.dup(program), "w", encoding="utf-8") as screen:
        monkeypatch.setattr(sys, "stdin", keys)
        monkeypatch.setattr(sys, "stderr", screen)
        yield
        monkeypatch.undo()
    os.close(person)


# What a template may hold.


def test_only_files_called_jinja_are_filled_in(tmp_path: Path) -> None:
    raw = "{{ name }} ${{ github.ref }}"
    one = made(tmp_path, "one", raw__yml=raw, full__toml__jinja="{{ name }} {{ module }} {{ template }}\n")
    assert dict(render(one, "My-bot")) == {"raw.yml": raw.encode(), "full.toml": b"My-bot my_bot one\n"}


def test_values_of_the_description_are_names_in_files(tmp_path: Path) -> None:
    description = 'title = "T"\nfirst = "ls"\n[values]\nport = 8080\n'
    assert render(made(tmp_path, "one", description=description, a__jinja="{{ port }}"), "bot") == {"a": b"8080"}


def test_a_name_that_is_not_given_breaks_the_template_by_file(tmp_path: Path) -> None:
    with pytest.raises(TemplateBroken, match=r"a\.jinja.*'nonsense' is undefined"):
        render(made(tmp_path, "one", a__jinja="{{ nonsense }}"), "bot")


def test_files_whose_names_begin_with_a_dot_are_taken_and_leftovers_are_not(tmp_path: Path) -> None:
    one = made(tmp_path, "one", __env="A=1")
    (one.folder / "project" / "__pycache__").mkdir()
    (one.folder / "project" / "__pycache__" / "agent.pyc").write_bytes(b"\0")
    assert list(render(one, "bot")) == [".env"]


def test_a_template_with_shared_files_may_replace_one(tmp_path: Path) -> None:
    one = made(tmp_path, "one", description='title = "T"\nfirst = "ls"\nshared = true\n', Dockerfile="FROM scratch\n")
    files = render(one, "bot")
    assert files["Dockerfile"] == b"FROM scratch\n"
    assert b'name = "bot"' in files["pyproject.toml"]


@pytest.mark.parametrize("description", ["title =", 'title = "T"', 'title = "T"\nfirst = "ls"\ncolour = "red"\n'])
def test_a_description_that_makes_no_sense_is_named(tmp_path: Path, description: str) -> None:
    with pytest.raises(TemplateBroken, match=r"one/template\.toml"):
        made(tmp_path, "one", description=description)


def test_a_template_that_is_not_there_is_unknown(tmp_path: Path) -> None:
    made(tmp_path, "one", a="")
    with pytest.raises(UnknownTemplate, match="'two'"):
        template("two", tmp_path)
