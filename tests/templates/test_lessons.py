"""The course and the debugger, rendered: their lessons, their own tests, and the first command of their READMEs."""

import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from remask.evals.task import read_task
from remask.templates.catalog import template
from remask.templates.project import write
from remask.templates.render import render


def made(home: Path, name: str) -> Path:
    write(render(template(name), f"my-{name}"), home / name)
    return home / name


def run(project: Path, *command: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    quiet = {"OMP_WAIT_POLICY": "passive", "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_ADDOPTS": "-p no:cacheprovider"}
    return subprocess.run(
        [sys.executable, *command],
        cwd=project,
        env={**os.environ, **quiet, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_lesson_runs_and_every_solution_is_right(tmp_path: Path) -> None:
    project = made(tmp_path, "course")
    done = run(project, "-m", "pytest", "-q", COURSE_ANSWERS="solutions")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout
    assert {path.name for path in (project / "pictures").iterdir()} >= {f"lesson_0{n}.png" for n in (2, 3, 4, 7, 8)}


def test_an_exercise_not_begun_is_skipped_and_a_wrong_one_fails(tmp_path: Path) -> None:
    project = made(tmp_path, "course")
    done = run(project, "-m", "pytest", "-q", "tests/test_ex_04.py", "tests/test_ex_09.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" not in done.stdout
    mine = project / "exercises" / "ex_04.py"
    mine.write_text(
        mine.read_text(encoding="utf-8").replace('raise NotImplementedError("your turn")', "return [(0, 1)]")
    )
    assert run(project, "-m", "pytest", "-q", "tests/test_ex_04.py").returncode == 1


def test_the_debuggers_own_tests_pass(tmp_path: Path) -> None:
    done = run(made(tmp_path, "code_debugging"), "-m", "pytest", "-q")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "code", "said"), [("course", 0, "The wind station"), ("code_debugging", 4, "mutable_default.md")]
)
def test_what_one_is_told_to_type_first_works(tmp_path: Path, name: str, code: int, said: str) -> None:
    project = made(tmp_path, name)
    first = template(name).first
    assert first in (project / "README.md").read_text(encoding="utf-8")
    done = run(project, *shlex.split(first)[1:])
    assert done.returncode == code, done.stderr
    assert said in done.stdout
    assert tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"] == f"my-{name}"


def test_the_debugger_has_all_that_was_promised(tmp_path: Path) -> None:
    project = made(tmp_path, "code_debugging")
    assert len((project / "agent.py").read_text(encoding="utf-8").splitlines()) < 60
    assert len(list((project / "documents").glob("*.md"))) >= 40
    assert len(list((project / "programs").glob("test_*.py"))) >= 12
    task = read_task(project / "evals" / "task.toml")
    assert len(task.question) >= 40
    assert {"unanswerable", "adversarial"} <= {case.tags[0] for case in task.question}
