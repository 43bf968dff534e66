"""What a caller gets: an answer, its citations, and the trace of how it came about. Plain records that become JSON.

Every span counts characters from 0, and its end is exclusive.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from ..dllm.draft import Kind

Stage = Literal["retrieve", "draft", "refine", "cite"]
DoubtSource = Literal["unsure", "unsupported", "disputed"]
Stopped = Literal[
    "",
    "nothing found",
    "no answer",
    "supported",
    "stable",
    "out of rounds",
    "out of passes",
    "out of seconds",
    "model failed",
]
Occasion = Literal["question", "bridge", "weak draft", "tool call"]


class Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Citation(Record):
    """Where a part of the answer comes from. `document.text[start:end] == quote`, always."""

    answer_start: int = Field(description="Where the supported part of the answer begins, in characters of its text.")
    answer_end: int = Field(description="Where it ends, exclusive.")
    document_id: str = Field(description="The document that is quoted.")
    passage_id: str = Field(description="The passage of it that was read.")
    start: int = Field(description="Where the quotation begins, in characters of the document's text.")
    end: int = Field(description="Where it ends, exclusive.")
    quote: str = Field(
        description="The quoted evidence, whole sentences: exactly the document's text from start to end."
    )
    title: str = Field(default="", description="The document's title.")
    support: float = Field(
        ge=0, le=1, description="How well the quotation carries that part of the answer; see Trace.scorer."
    )


class Verdict(Record):
    """What one ranker said of a passage."""

    rank: int = Field(description="Its place in that ranker's own list, from 1.")
    score: float = Field(description="That ranker's raw score.")


class Found(Record):
    """A passage that a search found."""

    rank: int = Field(description="Its place in the list, from 1.")
    score: float = Field(description="The score it was ranked by.")
    passage_id: str
    document_id: str
    title: str
    start: int = Field(description="Where the passage begins in its document.")
    end: int = Field(description="Where it ends, exclusive.")
    text: str
    rankers: dict[str, Verdict] = Field(default={}, description="Each ranker's own verdict, by its name.")


class Hop(Record):
    """One search."""

    query: str = Field(description="What was searched for.")
    occasion: Occasion = Field(
        description="Why: the question itself, a bridge or a weak draft, or a search that the model called for."
    )
    hits: tuple[Found, ...] = Field(description="What was found, best first.")
    added: tuple[str, ...] = Field(description="The ids of the passages that were new, and are read next.")


class ToolCall(Record):
    """A tool that was called, and what it gave."""

    name: str
    arguments: dict[str, JsonValue]
    result: str = Field(default="", description="As it was read: the text of the document tool:NAME.")
    error: str = Field(default="", description="Why it gave nothing; empty where it did.")
    because: str = Field(default="", description="Why it was called.")
    seconds: float = 0.0


class Shown(Record):
    """A passage that the model was given, in the order it was given."""

    number: int = Field(description="Its place in the prompt, from 0.")
    passage_id: str
    document_id: str
    title: str


class Candidate(Record):
    """A draft and how it was weighed."""

    text: str
    kind: Kind
    confidence: float = Field(description="How likely the model holds this answer to be right, 0..1.")
    answerable: float = Field(description="How likely the model holds the evidence to carry an answer, 0..1.")
    support: float = Field(description="How well its citations carry it, 0..1.")
    weight: float = Field(description="Confidence and support in one number; the heaviest candidate wins.")
    stage: Stage = Field(description="Whether it was drafted or came from refining.")


class Doubt(Record):
    """A part of a draft that may be wrong, in characters of the draft's text."""

    start: int
    end: int
    text: str
    source: DoubtSource = Field(
        description="unsure: the model's confidence is low; unsupported: the cited evidence does not say it; "
        "disputed: another candidate says something else."
    )
    detail: str = Field(description="The confidence, or what the other candidate says.")


class RefinePass(Record):
    """One denoising pass as a person would watch it."""

    run: int = Field(description="Which run of the model it belongs to, from 1.")
    stage: Stage
    index: int = Field(description="The pass's number within its run; 0 shows the canvas before the first pass.")
    canvas: str = Field(description="The canvas's text with its masks.")
    committed: int = Field(description="How many slots this pass committed.")
    masked: int = Field(description="How many slots are still masked.")
    remasked: tuple[str, ...] = Field(default=(), description="What was masked again.")
    reason: str = Field(default="", description="Why it was masked again.")
    seconds: float = 0.0


class Refinement(Record):
    """One try to repair a draft."""

    before: str
    after: str
    doubts: tuple[Doubt, ...] = Field(description="What was masked again and why.")
    kept: bool = Field(description="Whether the new draft weighed more and replaced the old one.")


class Trace(Record):
    """How an answer came about."""

    question: str = Field(description="What was asked of the documents.")
    asked: str = Field(default="", description="What was typed, where the question was rewritten from a conversation.")
    request_id: str = Field(default="", description="The id of the request, as in logs and spans.")
    generator: str = Field(description="The model's name.")
    scorer: str = Field(description="What computed support.")
    seed: int
    hops: tuple[Hop, ...] = ()
    calls: tuple[ToolCall, ...] = Field(default=(), description="The tools that were called.")
    evidence: tuple[Shown, ...] = Field(
        default=(), description="What the answer was read from, in the order of the prompt."
    )
    left_out: tuple[str, ...] = Field(default=(), description="Ids of passages that did not fit the model's window.")
    candidates: tuple[Candidate, ...] = Field(default=(), description="Every draft, in the order they were weighed.")
    refinements: tuple[Refinement, ...] = ()
    passes: tuple[RefinePass, ...] = ()
    doubts: tuple[Doubt, ...] = Field(default=(), description="What is still doubtful about the answer.")
    stopped: Stopped = Field(default="", description="Why drafting ended. Empty while it goes on.")
    errors: tuple[str, ...] = Field(default=(), description="What went wrong with the model.")
    seconds: dict[Literal["retrieve", "draft", "refine", "cite", "total"], float] = Field(
        default={}, description="Time by stage. Time that a reader of the stream takes is not counted."
    )


class Answer(Record):
    """An answer to a question, or an honest abstention."""

    text: str
    kind: Kind = Field(description="span, yes, no, sentences (quoted whole), or none when it abstains.")
    citations: tuple[Citation, ...] = Field(default=(), description="In the order of the answer's text.")
    confidence: float = Field(
        ge=0, le=1, description="The model's confidence and the evidence's support in one number."
    )
    abstained: bool = Field(description="Whether the documents carry no answer as far as could be seen.")
    reason: str = Field(default="", description="Why it abstained; empty otherwise.")
    trace: Trace
