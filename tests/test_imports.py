"""No import cycles, and nothing heavy before it is needed. That imports run one way is in `test_package.py`."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("agent", "retrieval", "dllm", "evals", "templates")
MODULES = {
    ".".join(("remask", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "project" not in path.parts
}


def at_import(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported: none inside functions, none for type checkers only."""
    for node in body:
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from at_import(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in ("body", "orelse", "handlers", "finalbody"):
                yield from at_import(getattr(node, part, []))


def imported(name: str, path: Path) -> set[str]:
    """The modules of ours that a module imports by name. A package counts where it is imported from itself."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    found: set[str] = set()
    for node in at_import(ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            found |= {inner if (inner := f"{origin}.{alias.name}") in MODULES else origin for alias in node.names}
    return found & MODULES.keys()


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {name: imported(name, path) for name, path in MODULES.items()}
    assert graph["remask.dllm.denoise"] >= {"remask.dllm.policy", "remask.dllm.noise"}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


@pytest.mark.parametrize("folder", FOLDERS)
def test_importing_a_folder_does_not_load_torch(folder: str) -> None:
    code = (
        f"import sys, remask.{folder}; sys.exit(sorted({{'torch', 'transformers', 'faiss'}} & sys.modules.keys()) or 0)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("folder", ["agent", "retrieval", "dllm"])
def test_every_promised_name_is_there(folder: str) -> None:
    module = import_module(f"remask.{folder}")
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_a_name_that_is_not_promised_is_refused_by_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = import_module("remask.dllm").nonsense
