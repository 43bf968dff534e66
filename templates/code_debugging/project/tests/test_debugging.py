"""Every broken program is found out: its tests fail, its fix passes them, and the right line is among the suspects."""

import difflib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from causes import index, known_causes
from fixes import Fix, changed, diff, try_all, worth_keeping
from remask.dllm import ScriptedGenerator
from remask.dllm.backends import backend
from sandbox import run_tests
from suspects import suspects

from agent import debug

HERE = Path(__file__).parent
PROGRAMS = sorted(path.stem for path in (HERE / "fixes").glob("*.py"))
FURTHER = (
    "from averages import moving_averages\n\n\ndef test_one_value():\n    assert moving_averages([2], 1) == [2.0]\n"
)


def source(name: str) -> str:
    return (HERE.parent / "programs" / f"{name}.py").read_text(encoding="utf-8")


def checks(name: str) -> str:
    return (HERE.parent / "programs" / f"test_{name}.py").read_text(encoding="utf-8")


def mended(name: str) -> str:
    return (HERE / "fixes" / f"{name}.py").read_text(encoding="utf-8")


def changed_lines(name: str) -> set[int]:
    """Lines of the broken program that its fix replaces, or before which it puts something."""
    matcher = difflib.SequenceMatcher(None, source(name).splitlines(), mended(name).splitlines(), autojunk=False)
    spans = [(i1, max(i2, i1 + 1)) for tag, i1, i2, _, _ in matcher.get_opcodes() if tag != "equal"]
    return {line + 1 for start, end in spans for line in range(start, end)}


def test_there_are_a_dozen_programs() -> None:
    assert len(PROGRAMS) >= 12


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_broken_program_fails_some_tests_and_its_fix_none(name: str) -> None:
    broken = run_tests(name, source(name), checks(name), trace=True)
    assert not broken.error
    assert 0 < broken.passed < len(broken.tests)
    assert run_tests(name, mended(name), checks(name)).all_passed
    assert changed_lines(name) & {suspect.line for suspect in suspects(source(name), broken)}


def test_the_line_to_change_is_most_often_among_the_first_five_suspects() -> None:
    """Not always: a line that every test runs can't be told apart by running tests."""
    hits = 0
    for name in PROGRAMS:
        broken = run_tests(name, source(name), checks(name), trace=True)
        hits += bool(changed_lines(name) & {suspect.line for suspect in suspects(source(name), broken)[:5]})
    assert hits >= 10


def test_the_fix_that_passes_most_and_changes_least_is_chosen() -> None:
    long = mended("averages") + "\n\nEXTRA = 1\n"
    fixes = [
        Fix(idea="nothing", code=source("averages")),
        Fix(idea="long", code=long),
        Fix(idea="short", code=mended("averages")),
    ]
    tried = try_all("averages", source("averages"), checks("averages"), fixes)
    assert [one.fix.idea for one in tried] == ["short", "long", "nothing"]
    assert tried[0].changed == changed(source("averages"), mended("averages")) == 2


def test_a_diff_names_the_file_and_the_lines() -> None:
    said = diff("averages.py", source("averages"), mended("averages"))
    assert said.startswith("--- a/averages.py\n+++ b/averages.py\n")
    assert "+    for start in range(len(values) - width + 1):" in said


def test_further_tests_are_told_apart_by_whether_the_broken_program_fails_them() -> None:
    outcome, catches = worth_keeping("averages", source("averages"), mended("averages"), FURTHER)
    assert outcome.all_passed
    assert catches


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import socket\nsocket.create_connection(('127.0.0.1', 9))", "not allowed"),
        ("import subprocess\nsubprocess.run(['true'])", "not allowed"),
        ("import os\nos.system('true')", "not allowed"),
        ("while True: pass", "seconds"),
        ("block = bytearray(3 << 30)", "MemoryError"),
        ("import os\nos._exit(3)", "ended with 3"),
        ("def broken(:", "SyntaxError"),
    ],
)
def test_code_that_misbehaves_is_stopped_and_named(code: str, said: str) -> None:
    outcome = run_tests("program", code, "import program\n\n\ndef test_it():\n    pass\n", seconds=4)
    assert said in outcome.error
    assert not outcome.all_passed


def test_a_program_can_not_see_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "hidden")
    check = "import os\n\n\ndef test_it():\n    assert 'SECRET_KEY' not in os.environ\n"
    assert run_tests("program", "", check).all_passed


BEHAVIOURS = {
    "shopping": ("A second basket begins with the first one's items.", "mutable_default.md"),
    "averages": ("The last window is missing.", "off_by_one.md"),
    "logbook": ("After many refused lines there are too many open files.", "resource_leak.md"),
    "prices": ("The price is a cent too low for half a cent.", "bankers_rounding.md"),
    "menu": ("Every command says the number of the last one.", "late_binding.md"),
    "report": ("The mean of a stream is 0, though readings were counted.", "exhausted_iterator.md"),
    "board": ("A mark on one square appears in every row.", "shallow_copy.md"),
    "cleaning": ("Of two gaps side by side one is left over.", "mutate_while_iterating.md"),
    "counter": ("With ten threads the count is too small.", "race_condition.md"),
    "lookup": ("Memory grows with every number that is looked up.", "unbounded_cache.md"),
    "unique": ("It takes seconds for a list of ten thousand values.", "quadratic.md"),
    "settings": ("A volume of zero is replaced by the default.", "truthiness.md"),
    "search": ("The first and last element are not found by the search.", "binary_search_bounds.md"),
}


def test_the_right_cause_is_most_often_among_the_three_that_are_named() -> None:
    assert set(BEHAVIOURS) == set(PROGRAMS)
    named = 0
    for behaviour, right in BEHAVIOURS.values():
        causes = known_causes(behaviour, [])
        named += right in [cause.document_id for cause in causes]
        for cause in causes:
            assert index().document(cause.document_id).text[cause.start : cause.end] == cause.quote
    assert named >= 11


def test_a_model_that_quotes_finds_the_line_and_says_what_it_can_not_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = HERE.parent / "programs" / "shopping.py"
    behaviour, _ = BEHAVIOURS["shopping"]
    code = debug(program, program.with_name("test_shopping.py"), behaviour, ScriptedGenerator({}))
    said = capsys.readouterr().out
    assert code == 4
    assert "shopping.py:4" in said
    assert "mutable_default.md" in said
    assert "can't write code" in said


@pytest.mark.parametrize(
    ("program", "code", "said"),
    [
        ("averages.py", 4, "can't write code"),
        ("nothing.py", 1, "No such file"),
        ("search.py", 4, "binary_search_bounds.md"),
    ],
)
def test_the_command_says_what_it_found_or_what_it_lacks(program: str, code: int, said: str) -> None:
    command = [sys.executable, "agent.py", f"programs/{program}", "The search does not find the first or last element."]
    done = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def recorded() -> Iterator[str]:
    """A server that gives the reply in `recorded.json`, as an OpenAI-compatible one would."""
    reply = (HERE / "recorded.json").read_bytes()

    class Recorded(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            assert "range(len(values) - width)" in json.dumps(asked)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Recorded)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_model_that_writes_code_has_its_fixes_tried_and_the_best_shown(
    recorded: str, capsys: pytest.CaptureFixture[str]
) -> None:
    program = HERE.parent / "programs" / "averages.py"
    behaviour, _ = BEHAVIOURS["averages"]
    model = backend(f"openai:{recorded}#recorded")
    code = debug(program, program.with_name("test_averages.py"), behaviour, model)
    said = capsys.readouterr().out
    assert code == 0
    assert "averages.py:9" in said
    _, tried = said.split("Fixes tried:")
    ends = [line.split(" lines")[0].strip() for line in tried.strip().splitlines()[:3]]
    assert ends[0] == "4 of 4 tests pass, 2"
    assert ends[1].startswith("4 of 4 tests pass, ")
    assert not ends[2].startswith("4 of 4")
    assert "+    for start in range(len(values) - width + 1):" in said
    assert "the broken one does not" in said
