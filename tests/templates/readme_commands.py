"""Runs the commands of a project's README in one process, so that models are loaded once. Run it in the project's folder.

`pip` resolves and installs nothing (a dry run, from what is installed); `python FILE`, `pytest` and `remask` run here, as they
would there, but for an eval, which asks its first question only. Any other command is an error.
"""

import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path


def commands(readme: str) -> list[str]:
    """The commands in the blocks marked as shell, those joined by && one by one; then the evals and indexes in the text."""
    blocks = re.findall(r"^```sh\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines() if line.strip()]
    named = re.findall(r"`(remask (?:eval|index) [^`]+)`", readme)
    return [command.strip() for line in lines for command in line.split("&&")] + named


def run(command: str) -> int:
    """The exit code."""
    words = shlex.split(command)
    sys.stdout.write(f"$ {command}\n")
    sys.stdout.flush()
    if words[:2] == ["pip", "install"]:
        dry = ["--dry-run", "--quiet", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
        return subprocess.run([sys.executable, "-m", "pip", "install", *dry, *words[2:]], check=False).returncode
    if words == ["pytest"]:
        import pytest

        sys.argv = words
        return int(pytest.main(["-q", "-p", "no:cacheprovider"]))
    if words[0] == "remask":
        from remask.agent.cli import main

        return main([*words[1:], *(["--limit", "1", "--out", "runs/first"] if words[1] == "eval" else [])])
    if words[0] == "python":
        sys.argv = words[1:]
        sys.path.insert(0, str(Path.cwd()))
        try:
            runpy.run_path(words[1], run_name="__main__")
        except SystemExit as left:
            return left.code if isinstance(left.code, int) else 0
        return 0
    raise ValueError(f"no way to run {command!r} in a test")


if __name__ == "__main__":
    for one in commands(Path("README.md").read_text(encoding="utf-8")):
        if run(one) != 0:
            sys.exit(f"failed: {one}")
