"""Options that several commands of `remask eval` take, in words."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class PlaceName(StrEnum):
    FIRST = "first"
    MIDDLE = "middle"
    LAST = "last"


class KindName(StrEnum):
    DISTRACTORS = "distractors"
    DUPLICATES = "duplicates"
    CONTRADICTIONS = "contradictions"


class SettingName(StrEnum):
    DISTRACTOR = "distractor"
    GOLD = "gold"
    OPEN = "open"


Data = Annotated[
    Path,
    typer.Option(
        "--data",
        help="Questions: HotpotQA's JSON, its Hugging Face layout, or JSON lines; .gz too.",
        show_default=False,
    ),
]
DataOrDownload = Annotated[
    Path | None,
    typer.Option(
        "--data",
        help="Questions, as a file in one of HotpotQA's layouts. [default: its development set, downloaded to runs/data]",
        show_default=False,
    ),
]
Url = Annotated[
    str | None, typer.Option("--url", help="Where to download from instead, such as a mirror.", show_default=False)
]
Sha256 = Annotated[
    str | None,
    typer.Option(
        "--sha256", help="The hash that a download must have instead of the recorded one.", show_default=False
    ),
]
SettingOption = Annotated[
    SettingName,
    typer.Option(
        "--setting",
        help="distractor: all paragraphs of the question are read. gold: only those with the answer. open: it searches.",
    ),
]
Main = Annotated[
    str,
    typer.Option(
        "--backend", help="embedded[:FILE], smollm2, pipeline, floor, gold, or any other; a wrong name lists them."
    ),
]
Baselines = Annotated[
    list[str] | None,
    typer.Option("--baseline", help="Another backend to compare with. May be repeated.", show_default=False),
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, help="Only the first so many questions.", show_default=False)
]
Seed = Annotated[int, typer.Option("--seed", help="Of the model's choices and of the resampling.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", help="The folder of results; a run that was stopped goes on. [default: in runs/]", show_default=False
    ),
]
IndexFolder = Annotated[
    Path | None, typer.Option("--index", help="An index, for the open setting.", show_default=False)
]
CorpusFile = Annotated[
    Path | None,
    typer.Option(
        "--corpus", help="Texts, JSON lines, to index first; into --index if that is given.", show_default=False
    ),
]
RayAddress = Annotated[
    str | None,
    typer.Option("--ray", help="Ask on a Ray cluster: its address, auto, or local.", show_default=False),
]
TopK = Annotated[int | None, typer.Option("--top-k", min=1, help="Passages a search asks for.", show_default=False)]
AtOnce = Annotated[
    list[int] | None,
    typer.Option(
        "--at-once",
        min=1,
        help="Under load, so many questions at a time. May be repeated. [default: 1 2 4]",
        show_default=False,
    ),
]
Load = Annotated[int, typer.Option("--load", min=0, help="How many questions to ask under load; 0 leaves it out.")]
Abstain = Annotated[
    bool, typer.Option("--abstain", help="Let the agent abstain; without this it must say its best guess.")
]


def default_out(command: str, setting: str, data: Path) -> Path:
    """
    >>> str(default_out("hotpotqa", "open", Path("in/dev.jsonl.gz")))
    'runs/hotpotqa-open-dev'
    """
    return Path("runs") / f"{command}-{setting}-{data.name.split('.')[0]}"
