"""What `remask new` makes: a project that is whole, whose README's commands work and whose own tests pass."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from remask.agent.cli import main
from remask.evals.task import read_task
from remask.templates.catalog import catalog, template

from .readme_commands import commands

ASSISTANTS = ("general", "healthcare", "customer_service", "research")
NAMES = [each.name for each in catalog()]


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a project of each template, called by the template's name."""
    home = tmp_path_factory.mktemp("projects")
    for name in NAMES:
        assert main(["new", f"my-{name}", "--template", name, "--into", str(home)]) == 0
    return home


def test_there_is_a_template_for_each_purpose() -> None:
    assert set(ASSISTANTS) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_project_is_named_and_left_without_templates_marks(projects: Path, name: str) -> None:
    files = [path for path in (projects / f"my-{name}").rglob("*") if path.is_file()]
    pyproject = tomllib.loads((projects / f"my-{name}" / "pyproject.toml").read_text(encoding="utf-8"))
    assert pyproject["project"]["name"] == f"my-{name}"
    assert [path for path in files if path.suffix == ".jinja" or "__pycache__" in path.parts] == []
    readme = (projects / f"my-{name}" / "README.md").read_text(encoding="utf-8")
    assert readme.startswith(f"# my-{name}\n")


@pytest.mark.parametrize("name", ASSISTANTS)
def test_an_assistant_has_all_that_was_promised(projects: Path, name: str) -> None:
    project = projects / f"my-{name}"
    assert len((project / "agent.py").read_text(encoding="utf-8").splitlines()) < 60
    assert len(list((project / "documents").glob("*.md"))) >= 40
    task = read_task(project / "evals" / "task.toml")
    assert len(task.question) >= 40
    assert {"unanswerable", "adversarial"} <= {case.tags[0] for case in task.question}
    assert list((project / "prompts").iterdir())
    for path in (".gitignore", ".dockerignore", ".env.example"):
        assert (project / path).is_file()


@pytest.mark.parametrize("name", ASSISTANTS)
def test_an_assistants_agent_uses_the_public_api_only(projects: Path, name: str) -> None:
    text = (projects / f"my-{name}" / "agent.py").read_text(encoding="utf-8")
    modules = re.findall(r"^from (remask[\w.]*) import|^import (remask[\w.]*)", text, re.MULTILINE)
    assert modules
    assert not re.search(r"\._[a-z]", text), "a private name"


@pytest.mark.parametrize("name", ASSISTANTS)
def test_a_container_is_built_from_files_that_are_there_and_runs_as_nobody_special(projects: Path, name: str) -> None:
    """What a linter of Dockerfiles would mind: no tag or `latest`, root, shell forms, `ADD`."""
    project = projects / f"my-{name}"
    lines = instructions((project / "Dockerfile").read_text(encoding="utf-8"))
    words = [word for word, _ in lines]
    said = dict(lines)
    assert words[0] == "FROM"
    assert re.fullmatch(r"[\w./-]+:(?!latest)\S+", said["FROM"])
    assert said["USER"] not in ("root", "0")
    assert "ADD" not in words
    assert len({"CMD", "ENTRYPOINT"} & set(words)) == 1
    assert said.get("CMD", said.get("ENTRYPOINT", "")).startswith("[")
    for word, rest in lines:
        if word == "COPY":
            assert all((project / source).exists() for source in rest.split()[:-1])


def instructions(dockerfile: str) -> list[tuple[str, str]]:
    """Each instruction and the rest of its line, continued lines joined."""
    joined = re.sub(r"\\\n", " ", "\n".join(line for line in dockerfile.splitlines() if not line.startswith("#")))
    pairs = [line.split(maxsplit=1) for line in joined.splitlines() if line.strip()]
    assert all(re.fullmatch("[A-Z]+", word) and len(rest) == 1 for word, *rest in pairs)
    return [(word, rest.strip()) for word, rest in pairs]


@pytest.mark.parametrize("name", ASSISTANTS)
def test_compose_and_ci_are_sound(projects: Path, name: str) -> None:
    project = projects / f"my-{name}"
    service = yaml.safe_load((project / "compose.yaml").read_text(encoding="utf-8"))["services"][f"my_{name}"]
    assert (service["build"], service["cap_drop"]) == (".", ["ALL"])
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    ci = yaml.safe_load((project / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    steps = ci["jobs"]["test"]["steps"]
    assert ci["permissions"] == {"contents": "read"}
    assert steps[-1]["run"] == "pytest"
    assert all(re.search(r"@v\d", step["uses"]) for step in steps if "uses" in step)


@pytest.mark.parametrize("name", ASSISTANTS)
def test_every_command_of_an_assistants_readme_works_its_tests_among_them(projects: Path, name: str) -> None:
    project = projects / f"my-{name}"
    listed = commands((project / "README.md").read_text(encoding="utf-8"))
    assert [command.split()[0] for command in listed[:4]] == ["pip", "python", "pip", "pytest"]
    assert any(command.startswith("remask eval task") for command in listed)
    assert listed[1] == template(name).first
    script = Path(__file__).with_name("readme_commands.py")
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=project,
        env={**os.environ, "OMP_WAIT_POLICY": "passive", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "passed" in done.stdout
