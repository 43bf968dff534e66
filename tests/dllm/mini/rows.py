"""A few training rows of our own, in the files' format."""

import gzip
import json
from pathlib import Path
from typing import Any

NAMES = ["Ada", "Bruno", "Clara", "Dmitri", "Edith", "Farid", "Greta", "Hugo", "Iris", "Jonas"]
THINGS = ["lantern", "bridge", "novel", "engine", "garden", "violin", "harbour", "clock"]


def row(number: int) -> dict[str, Any]:
    name, thing = NAMES[number % len(NAMES)], THINGS[number % len(THINGS)]
    sentences = [f"The {thing} was made by {name} in 19{number % 90 + 10}. ", "It stood near the old market."]
    return {
        "id": f"row-{number}",
        "question": f"Who made the {thing}?",
        "answers": [name],
        "supporting_facts": [[thing, 0]],
        "context": [[thing, sentences]],
    }


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(r) + "\n" for r in rows)
    return path
