"""A file with what a scripted generator is to say, for dry runs of everything around a model. JSON, read as data."""

import json
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from .draft import Draft, Kind
from .errors import BackendUnavailable
from .scripted import ScriptedGenerator, Turn


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class Line:
    """What is said. A bare text stands for a line with that text."""

    text: str
    confidence: float = 0.9
    kind: Kind = "span"


Said = str | Line
Lines = Said | list[Said]


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class Script:
    """For each question what the first run says, the second, and so on; the same when a draft is refined."""

    drafts: dict[str, Lines]
    refinements: dict[str, Lines] = field(default_factory=dict)


def scripted(path: Path, *, name: str = "") -> ScriptedGenerator:
    """A generator that plays a file such as {"drafts": {"Who built it?": ["Mira Holt", "Mira Holt in 1871"]}}.

    A question that isn't in it gets no answer. Raises BackendUnavailable for a file that is no script.
    """
    try:
        script = TypeAdapter(Script).validate_python(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise BackendUnavailable(f"{str(path)!r} can't be read: {error.strerror}. Give a script's file") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise BackendUnavailable(f"{str(path)!r} is no script: {where}: {first['msg']}") from error
    except ValueError as error:
        raise BackendUnavailable(
            f"{str(path)!r} is no JSON: {error}. See remask.dllm.script for what it holds"
        ) from error
    return ScriptedGenerator(_turns(script.drafts), _turns(script.refinements), name=name or f"scripted:{path}")


def _turns(lines: Mapping[str, Lines]) -> dict[str, Turn | list[Turn]]:
    return {
        question: [_draft(each) for each in (said if isinstance(said, list) else [said])]
        for question, said in lines.items()
    }


def _draft(said: Said) -> Draft:
    line = Line(said) if isinstance(said, str) else said
    return Draft(line.text, kind=line.kind, confidence=line.confidence, answerable=0.0 if line.kind == "none" else 1.0)
