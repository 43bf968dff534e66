"""The sample documents that come with the package, copied out for a first look: `remask samples --out DIR`."""

from importlib.resources import as_file, files
from pathlib import Path
from shutil import copyfile
from typing import Annotated

import typer

from ..agent.console import CommandError, output


def samples(
    out: Annotated[
        Path, typer.Option("--out", help="The folder to write them to; made if need be.", show_default=False)
    ],
) -> None:
    """Copy the sample documents: the handbook of a made-up company, and a few pages on real things.

    Files of the same name that differ are left alone, and nothing is copied then.
    """
    for path in copy_samples(out):
        output().print(str(path))


def copy_samples(out: Path) -> list[Path]:
    """The files written, in order. Raises CommandError, nothing written, where one would overwrite another text."""
    with as_file(files(__package__) / "samples") as folder:
        sources = sorted(folder.iterdir())
        for source in sources:
            there = out / source.name
            if there.exists() and there.read_bytes() != source.read_bytes():
                raise CommandError(f"{str(there)!r} exists and differs. Choose another folder with --out.")
        out.mkdir(parents=True, exist_ok=True)
        for source in sources:
            copyfile(source, out / source.name)
        return [out / source.name for source in sources]
