"""The table of backends: what is known, what is missing, what is loaded."""

import subprocess
import sys
from pathlib import Path

import pytest
from remask.dllm.backends import BACKENDS, backend
from remask.dllm.draft import Prompt, finish
from remask.dllm.errors import BackendUnavailable

from .checkpoints.tiny import checkpoint


@pytest.mark.parametrize(
    ("name", "kind"),
    [("llada", "llada"), ("lladamoe", "llada"), ("dream", "dream"), ("sdar", "sdar"), ("llada2", "llada2")],
)
def test_a_checkpoint_is_opened_by_its_family_and_folder(tmp_path: Path, name: str, kind: str) -> None:
    folder = checkpoint(tmp_path / name, name)
    opened = backend(f"{kind}:{folder}")
    assert opened.name == f"{kind}:{folder}"
    assert len(finish(opened.draft(Prompt("Who?"), max_passes=1))) == 1


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BackendUnavailable, match="no backend is called 'gpt'") as caught:
        backend("gpt:4")
    assert all(name in str(caught.value) for name in BACKENDS)


@pytest.mark.parametrize("name", ["llada", "llada:", "dream:", "sdar", "llada2:", "embedded:"])
def test_an_argument_that_is_missing_is_asked_for(name: str) -> None:
    with pytest.raises(BackendUnavailable, match="says not which"):
        backend(name)


def test_the_table_costs_nothing_to_import() -> None:
    code = "import sys, remask.dllm.backends; print([m for m in ('torch', 'transformers') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
