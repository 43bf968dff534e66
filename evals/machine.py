"""Where and with what something was measured: machine, versions, commit, command. Knows nothing of what was measured."""

import os
import platform
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pydantic import BaseModel, ConfigDict

PACKAGES = (
    "remask",
    "torch",
    "transformers",
    "tokenizers",
    "sentence-transformers",
    "faiss-cpu",
    "bm25s",
    "numpy",
    "xllamacpp",
)


class Circumstances(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    command: str
    time: str
    commit: str
    """Of the checkout that the code ran from, "+" where it had changes; empty where it ran from an installed wheel."""
    machine: dict[str, str]
    versions: dict[str, str]


def circumstances() -> Circumstances:
    return Circumstances(
        command=shlex.join(["remask", *sys.argv[1:]]),
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        commit=commit(Path(__file__).resolve().parent),
        machine=machine(),
        versions=versions(),
    )


def machine() -> dict[str, str]:
    """No name of the machine or its user: reports are shared."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": str(_cores()),
        "threads": os.environ.get("OMP_NUM_THREADS", "as the libraries choose"),
        "load": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown",
        "gpu": _gpu(),
    }


def threads() -> int:
    """As many as OMP_NUM_THREADS says, as torch heeds it too; else one a core."""
    said = os.environ.get("OMP_NUM_THREADS", "")
    return int(said) if said.isdecimal() and int(said) else _cores()


def versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: found for name in PACKAGES if (found := _version(name))}}


def commit(folder: Path) -> str:
    """
    >>> commit(Path("/"))
    ''
    """
    head = _git(folder, "rev-parse", "--short=12", "HEAD")
    changed = head and _git(folder, "status", "--porcelain", "--untracked-files=no")
    return f"{head}+" if changed else head


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _git(folder: Path, *arguments: str) -> str:
    try:
        run = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return run.stdout.strip()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


def _gpu() -> str:
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
