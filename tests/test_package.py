"""What is shipped: every module in the wheel, the same names as promised, the README true, imports one way."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("agent", "retrieval", "dllm", "evals", "templates")
LEFT_BEHIND = (
    ".git",
    ".venv*",
    ".*_cache",
    ".hypothesis",
    "__pycache__",
    "build",
    "dist",
    "*.egg-info",
    "runs",
)
MAY_IMPORT = {
    "retrieval": {"dllm"},
    "dllm": set(),
    "agent": {"retrieval", "dllm"},
    "evals": {"agent", "retrieval", "dllm"},
    "templates": {"agent", "retrieval", "dllm"},
}


def sources() -> Iterator[Path]:
    """Every module of ours, relative to the root. What a template scaffolds is data, not a module."""
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["package-dir"]
    for folder in packages.values():
        yield from sorted(path.relative_to(ROOT) for path in (ROOT / folder).glob("*.py"))


def module_name(path: Path) -> str:
    return "remask." + ".".join(path.with_suffix("").parts).removesuffix(".__init__")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds nothing but the built wheel, unpacked by pip."""
    tmp = tmp_path_factory.mktemp("wheel")
    # Built from a copy: a build folder left in the sources would slip old modules into the wheel.
    shutil.copytree(ROOT, tmp / "src", ignore=shutil.ignore_patterns(*LEFT_BEHIND))
    shutil.rmtree(tmp / "src" / "tests")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    built = [*pip, "wheel", "--no-deps", "--no-index", "--no-build-isolation", "-w", str(tmp), str(tmp / "src")]
    subprocess.run(built, check=True)
    wheel = next(tmp.glob("remask-*.whl"))
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", str(tmp / "site"), str(wheel)], check=True)
    return tmp / "site"


def test_every_module_is_in_the_wheel_and_imports(installed: Path) -> None:
    names = [module_name(path) for path in sources()]
    code = (
        "import importlib, sys\n"
        "for name in sys.argv[2:]:\n"
        "    module = importlib.import_module(name)\n"
        "    assert module.__file__.startswith(sys.argv[1]), module.__file__\n"
    )
    arguments = [sys.executable, "-P", "-c", code, str(installed), *names]
    run = subprocess.run(
        arguments, env={"PYTHONPATH": str(installed)}, cwd=installed, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr


def test_the_wheel_ships_type_marks_and_data(installed: Path) -> None:
    shipped = {
        str(path.relative_to(installed / "remask")) for path in (installed / "remask").rglob("*") if path.is_file()
    }
    wanted = {f"{folder}/py.typed" for folder in FOLDERS}
    for pattern in ("dllm/mini/*.toml", "dllm/mini/shipped/*", "templates/samples/*", "templates/*/template.toml"):
        wanted |= {str(path.relative_to(ROOT)) for path in ROOT.glob(pattern)}
    projects = [path for path in ROOT.glob("templates/*/project/**/*") if path.is_file()]
    wanted |= {str(path.relative_to(ROOT)) for path in projects if "__pycache__" not in path.parts}
    assert wanted <= shipped
    assert not [name for name in shipped if name.startswith("tests")]


def test_every_folder_of_modules_is_a_listed_package() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    inits = [path for folder in FOLDERS for path in (ROOT / folder).rglob("__init__.py") if "project" not in path.parts]
    found = {str(path.parent.relative_to(ROOT)) for path in inits}
    assert set(listed["package-dir"].values()) == found
    assert {name.removeprefix("remask.").replace(".", "/") for name in listed["packages"]} == found


def test_imports_across_folders_run_one_way() -> None:
    for path in sources():
        home = path.parts[0]
        for reached in _folders_reached(path):
            assert reached == home or reached in MAY_IMPORT[home], f"{path} imports {reached}"


def _folders_reached(path: Path) -> Iterator[str]:
    """The folders of ours that a module imports from, by relative or absolute import."""
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            parts = ["remask", *path.parent.parts]
            inside = parts[: len(parts) - node.level + 1] if node.level else []
            names = [".".join([*inside, node.module or alias.name]) for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (name.split(".")[1] for name in names if name.startswith("remask."))


def readme_map() -> list[str]:
    """The paths in the README's map of folders and files."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = text.split("## Map", 1)[1].split("```")[1]
    paths: list[str] = []
    folder = ""
    for line in block.splitlines():
        name = re.match(r"( *)(\S+)", line)
        if not name:
            continue
        folder = folder if name[1] else name[2]
        paths.append(folder + name[2] if name[1] else name[2])
    return paths


def test_every_path_in_the_readme_exists() -> None:
    assert [path for path in readme_map() if not (ROOT / path).exists()] == []


def test_every_module_is_in_the_readme() -> None:
    listed = set(readme_map())
    missing = [str(path) for path in sources() if path.name != "__init__.py" and str(path) not in listed]
    assert missing == []
