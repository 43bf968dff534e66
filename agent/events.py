"""What happens while a question is answered, in order. `Agent.stream` yields these, `AnswerReady` last."""

from typing import Literal

from ..dllm.draft import Draft
from .answer import Answer, Candidate, Citation, Doubt, Hop, Record, RefinePass, Shown, Stage, ToolCall


class QuestionRewritten(Record):
    """A follow-up is asked in full. Comes first, and only from a conversation."""

    type: Literal["rewritten"] = "rewritten"
    asked: str
    """What was typed."""
    question: str
    because: str


class StageBegan(Record):
    """Something that takes time begins."""

    type: Literal["stage"] = "stage"
    stage: Stage
    detail: str = ""
    """The query, or what is re-masked."""


class ToolCalled(Record):
    """A tool was called. What it gave is evidence from here on."""

    type: Literal["tool"] = "tool"
    call: ToolCall


class EvidenceFound(Record):
    """A search ended. `number` counts searches from 1: from 2 on it is a further hop."""

    type: Literal["evidence"] = "evidence"
    number: int
    hop: Hop
    shown: tuple[Shown, ...]
    """What the model reads next."""


class PassMade(Record):
    """The model made a pass over the canvas."""

    type: Literal["pass"] = "pass"
    made: RefinePass


class DraftMade(Record):
    """All candidates of a run, heaviest first. `draft` is the first of them, with its tokens' confidences."""

    type: Literal["draft"] = "draft"
    draft: Draft
    candidates: tuple[Candidate, ...]


class DraftRefined(Record):
    """The doubtful parts were re-masked and denoised again. `draft` is what stands now: the new one if `kept`."""

    type: Literal["refined"] = "refined"
    draft: Draft
    doubts: tuple[Doubt, ...]
    kept: bool


class CitationsFound(Record):
    type: Literal["citations"] = "citations"
    citations: tuple[Citation, ...]


class AnswerReady(Record):
    type: Literal["answer"] = "answer"
    answer: Answer


Event = (
    QuestionRewritten
    | StageBegan
    | ToolCalled
    | EvidenceFound
    | PassMade
    | DraftMade
    | DraftRefined
    | CitationsFound
    | AnswerReady
)
