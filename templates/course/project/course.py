"""What the lessons share: the documents, where pictures go, and which answers to the exercises are used."""

import os
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from remask.agent import Agent
from remask.dllm import EmbeddedReader
from remask.retrieval import Index, load

HERE = Path(__file__).parent
DOCUMENTS = HERE / "documents"


def exercise(number: int) -> ModuleType:
    """Your answers to a lesson's exercise; the course's own with COURSE_ANSWERS=solutions in the environment."""
    folder = os.environ.get("COURSE_ANSWERS", "exercises")
    return import_module(f"{folder}.ex_{number:02}")


def picture(name: str) -> Path:
    """Where a lesson saves a picture."""
    folder = HERE / "pictures"
    folder.mkdir(exist_ok=True)
    return folder / name


@cache
def index() -> Index:
    """The fourteen documents about the island, indexed once."""
    return Index.create(load(DOCUMENTS))


@cache
def reader() -> EmbeddedReader:
    """The model, loaded once."""
    return EmbeddedReader.load()


@cache
def agent() -> Agent:
    """An agent over the island's documents."""
    return Agent(index(), reader(), documents=index().document)
