"""The program as its user meets it: through `main` with both streams captured, and as a real process."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import typer
from remask.agent import cli
from remask.agent.answer import Answer
from remask.agent.cli import app, main
from typer.main import get_command

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "templates" / "samples"
COMMANDS = ("index", "ask", "chat", "train", "schema", "samples")
HASH = ("--embedder", "hash:64")  # no model is loaded where what is found does not matter


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "cat.txt").write_text("The cat is called Mia. She was born in 2019.", encoding="utf-8")
    (folder / "dog.md").write_text("# Dog\n\nThe dog is called Rex.\n", encoding="utf-8")
    return folder


def process(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    """The program as the shell runs it, both streams piped."""
    code = "import sys; from remask.agent.cli import main; sys.exit(main())"
    given: dict[str, object] = {"capture_output": True, "text": True, "check": False, "stdin": subprocess.DEVNULL}
    environment = {key: value for key, value in os.environ.items() if key not in ("FORCE_COLOR", "CLICOLOR_FORCE")}
    return subprocess.run([sys.executable, "-c", code, *arguments], env=environment, **(given | options))  # type: ignore[call-overload,no-any-return]


def one_line(text: str) -> bool:
    return text.startswith("error: ") and text.count("\n") == 1


# Help.


def test_help_names_each_command_and_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for word in (*COMMANDS, "0 done", "130"):
        assert word in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    assert f"remask {command}" in capsys.readouterr().out


def test_help_shows_what_stands_in_brackets(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    seen = 0
    for path, command in _commands(get_command(app), ()):
        said = " ".join([command.help or "", *(getattr(option, "help", None) or "" for option in command.params)])
        main([*path, "--help"])
        shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
        for bracketed in re.findall(r"\[[^\]]*\]", said):
            assert bracketed in shown, path
            seen += 1
    assert seen > 10


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            yield from _commands(command.get_command(None, name), (*path, name))


def test_without_a_command_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "Commands" in capsys.readouterr().out


def test_help_loads_no_model_library() -> None:
    code = (
        "import sys; from remask.agent.cli import main; main(['--help']); main(['ask', '--help']);"
        "print([name for name in ('torch', 'numpy', 'faiss', 'transformers') if name in sys.modules], file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr.strip() == "[]"


def test_version_is_the_package_s(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("remask 0.")


# Commands of other packages.


def offered(name: str, value: str) -> dict[str, EntryPoint]:
    return {name: EntryPoint(name, value, cli.EXTENSIONS)}


def greet(name: str) -> None:
    """Greets."""
    typer.echo(f"hello {name}")


group = typer.Typer()
group.command("greet")(greet)
group.command("again")(greet)


def test_an_entry_point_adds_a_function(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(cli, "_extensions", lambda: offered("hail", f"{__name__}:greet"))
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    assert main(["hail", "Bo"]) == 0
    assert capsys.readouterr().out == "hello Bo\n"


def test_an_entry_point_adds_a_group(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(cli, "_extensions", lambda: offered("say", f"{__name__}:group"))
    assert main(["say", "again", "Bo"]) == 0
    assert capsys.readouterr().out == "hello Bo\n"


def test_a_broken_extension_does_not_break_the_rest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "_extensions", lambda: offered("broken", "no_such_module:app"))
    assert main(["--help"]) == 0
    shown = capsys.readouterr()
    assert "schema" in shown.out
    assert one_line(shown.err)
    assert "'broken'" in shown.err


# Indexing.


def test_index_says_what_it_did_and_a_second_run_embeds_nothing(
    notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["index", str(notes), "--out", str(tmp_path / "index"), *HASH]
    assert main(command) == 0
    first = capsys.readouterr().out
    assert "2 documents: 2 new, 0 changed, 0 as before; 0 files skipped" in first
    assert "2 passages in the index; 2 embedded now" in first
    assert main(command) == 0
    second = capsys.readouterr().out
    assert "2 documents: 0 new, 0 changed, 2 as before" in second
    assert "nothing had to be embedded" in second


def test_a_file_that_cannot_be_read_is_named_and_the_rest_is_kept(
    notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["index", str(notes), "--out", str(tmp_path / "index"), *HASH]
    assert main(command) == 0
    (notes / "cat.txt").write_bytes(b"\0\1\2\3")
    (notes / "cow.txt").write_text("The cow is called Ida.", encoding="utf-8")
    capsys.readouterr()
    assert main(command) == 3
    shown = capsys.readouterr()
    assert shown.err.startswith(f"skipped: {notes / 'cat.txt'}: ")
    assert "2 documents: 1 new, 0 changed, 1 as before; 1 file skipped" in shown.out
    assert "3 passages in the index; 1 embedded now" in shown.out  # what the index knew of the cat is still there


def test_a_path_that_does_not_exist_changes_nothing(
    notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["index", str(notes), str(tmp_path / "typo"), "--out", str(tmp_path / "index")]) == 1
    shown = capsys.readouterr().err
    assert one_line(shown)
    assert "typo' does not exist" in shown
    assert not (tmp_path / "index").exists()


def test_an_empty_folder_is_an_error_that_says_what_can_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["index", str(tmp_path / "empty"), "--out", str(tmp_path / "index")]) == 1
    shown = capsys.readouterr().err
    assert one_line(shown)
    assert ".pdf" in shown
    assert not (tmp_path / "index").exists()


def test_an_index_that_is_a_file_is_refused(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (
        ["index", str(notes), "--out", str(notes / "cat.txt")],
        ["ask", "q?", "--index", str(notes / "cat.txt")],
    ):
        assert main(command) == 1
        shown = capsys.readouterr().err
        assert one_line(shown)
        assert "cat.txt" in shown
    assert (notes / "cat.txt").read_text(encoding="utf-8").startswith("The cat")


def test_a_missing_index_says_how_to_make_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "q?", "--index", str(tmp_path / "none")]) == 1
    shown = capsys.readouterr().err
    assert one_line(shown)
    assert "remask index" in shown


def test_debug_shows_where_an_error_comes_from() -> None:
    run = process("ask", "q?", "--index", "no-such-index", "--debug")
    assert run.returncode == 1
    assert "Traceback" in run.stderr
    assert "Traceback" not in process("ask", "q?", "--index", "no-such-index").stderr


# Usage.


@pytest.mark.parametrize(
    "arguments",
    [
        ["ask"],
        ["ask", "q?", "--colour"],
        ["dance"],
        ["index", "x"],
        ["train", "--data", "x", "--out", "y", "--tokens", "0"],
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_code_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert one_line(shown.err)
    assert "--help" in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("where", [[], ["--index", "a", "--docs", "b"]])
def test_ask_wants_an_index_or_documents(where: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "q?", *where]) == 2
    assert one_line(capsys.readouterr().err)


# Asking.


@pytest.mark.parametrize("question", ["", "  \n "])
def test_an_empty_question_is_refused(question: str, notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", question, "--docs", str(notes)]) == 1
    shown = capsys.readouterr()
    assert one_line(shown.err)
    assert shown.out == ""


def test_json_is_an_answer_and_nothing_else(notes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["ask", "What is the cat called?", "--docs", str(notes), "--json"])
    answer = Answer.model_validate_json(capsys.readouterr().out)
    assert code == (4 if answer.abstained else 0)
    for citation in answer.citations:
        text = (notes / citation.document_id).read_text(encoding="utf-8")
        assert text[citation.start : citation.end] == citation.quote


def test_the_main_job_needs_no_network_and_its_piped_output_is_plain(tmp_path: Path) -> None:
    code = (
        "import socket, sys\n"
        "class Refused(socket.socket):\n"
        "    def __init__(self, *args, **more): raise RuntimeError('a socket was opened')\n"
        "socket.socket = Refused\n"
        "from remask.agent.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    index = str(tmp_path / "index")
    runs = []
    for arguments in (
        ["index", str(SAMPLES), "--out", index],
        ["ask", "Who designed the B-7 wave buoy?", "--index", index],
    ):
        command = [sys.executable, "-c", code, *arguments]
        runs.append(subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL))
    assert [run.returncode for run in runs] in ([0, 0], [0, 4]), runs[-1].stderr
    assert "confidence" in runs[1].stdout
    for run in runs:
        assert run.stderr == ""
        assert "\x1b" not in run.stdout


def test_chat_answers_each_line_and_ends_with_the_last(notes: Path) -> None:
    run = process("chat", "--docs", str(notes), input="What is the cat called?\nAnd the dog?\n", stdin=None)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("; retrieve ") == 2


def test_schema_is_that_of_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == Answer.model_json_schema()


# The rest.


def test_samples_are_copied_and_never_overwrite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "samples"
    assert main(["samples", "--out", str(out)]) == 0
    assert sorted(path.name for path in out.iterdir()) == sorted(path.name for path in SAMPLES.iterdir())
    (out / "leave.md").write_text("mine", encoding="utf-8")
    capsys.readouterr()
    assert main(["samples", "--out", str(out)]) == 1
    assert one_line(capsys.readouterr().err)
    assert (out / "leave.md").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    "wrong", [["--data", "no-such-folder"], ["--mixture", "no-such-file.toml"], ["--device", "abacus"]]
)
def test_training_with_what_is_not_there_is_one_line(
    wrong: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "--data", str(tmp_path), "--out", str(tmp_path / "run"), *wrong]) == 1
    shown = capsys.readouterr().err.splitlines()
    assert shown[-1].startswith("error: ")
    assert wrong[1] in shown[-1]


def test_an_interrupt_ends_quietly_with_130() -> None:
    code = "import os, signal, sys, time; from remask.agent import cli\n"
    # Whatever started the tests in the background may have had interrupts ignored.
    code += "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "cli.commands.output = lambda: (os.kill(os.getpid(), signal.SIGINT), time.sleep(60))\n"
    code += "sys.exit(cli.main(['schema']))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "")


def test_a_reader_that_leaves_early_is_no_error() -> None:
    shell = (
        f"{sys.executable} -c 'import sys; from remask.agent.cli import main; sys.exit(main([\"schema\"]))' | head -1"
    )
    run = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False)
    assert run.stdout == "{\n"
    assert run.stderr == ""
