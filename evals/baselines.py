"""The commands of `remask eval` that prepare a comparison and keep what it found, in words. They import late."""

from pathlib import Path
from typing import Annotated

import typer

from .arguments import Data, Limit, Out, Seed, SettingName, SettingOption, default_out


def prompts(
    data: Data,
    setting: SettingOption = SettingName.DISTRACTOR,
    backend: Annotated[
        str, typer.Option("--backend", help="A model that writes: smollm2[:RUNTIME], gemma3.")
    ] = "smollm2",
    prompt: Annotated[
        list[str] | None,
        typer.Option("--prompt", help="Which prompts. May be repeated. [default: all]", show_default=False),
    ] = None,
    limit: Limit = None,
    seed: Seed = 0,
    out: Out = None,
) -> None:
    """Try the prompts of a baseline on training questions, so that it is measured with the one that does best.

    Each question goes through all prompts before the next. Ctrl-C stops it; the same command goes on.
    """
    from .tuning import tune

    folder = out or default_out("prompts", setting.value, data)
    tune(data, setting.value, backend, prompt or [], folder, limit=limit, seed=seed)


def results(
    runs: Annotated[list[Path], typer.Argument(help="Folders of results.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="The page; pictures go into a folder beside it.")] = Path(
        "RESULTS.md"
    ),
) -> None:
    """Put runs on one page to be kept: what they found, how each is repeated, and their pictures."""
    from ..agent.console import output
    from .results import write_results

    output().print(str(write_results(runs, out)))
