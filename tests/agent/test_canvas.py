"""What a person sees while the canvas fills in. A recording console stands for the terminal."""

import io
from collections.abc import Iterator

import pytest
from remask.agent.answer import Answer, Candidate, Hop, RefinePass, Trace
from remask.agent.canvas import CanvasView, canvas, watch, weighed
from remask.agent.events import AnswerReady, DraftMade, DraftRefined, Event, EvidenceFound, PassMade, StageBegan
from remask.dllm.draft import Draft, Token
from rich.console import Console

ANSWER = Answer(
    text="Bo",
    kind="span",
    confidence=0.5,
    abstained=False,
    trace=Trace(question="q?", generator="g", scorer="s", seed=0),
)


def made(index: int, text: str, **more: object) -> RefinePass:
    given = {"run": 1, "stage": "draft", "index": index, "canvas": text, "committed": 1, "masked": text.count("▒")}
    return RefinePass.model_validate(given | more)


def happened() -> Iterator[Event]:
    hop = Hop(query="q?", occasion="question", hits=(), added=())
    yield StageBegan(stage="retrieve", detail="q?")
    yield EvidenceFound(number=1, hop=hop, shown=())
    yield PassMade(made=made(0, "▒ ▒"))
    yield PassMade(made=made(1, "Ada ▒"))
    candidate = Candidate(
        text="Ada", kind="span", confidence=0.5, answerable=0.9, support=0.1, weight=0.3, stage="draft"
    )
    yield DraftMade(draft=Draft("Ada", (Token(0, 3, 0.2),)), candidates=(candidate,))
    yield PassMade(made=made(0, "▒", stage="refine", remasked=("Ada",), reason="unsupported"))
    yield DraftRefined(draft=Draft("Bo", (Token(0, 2, 0.9),)), doubts=(), kept=True)
    yield AnswerReady(answer=ANSWER)


def screen(*, color: bool = False) -> Console:
    system = "standard" if color else None
    return Console(file=io.StringIO(), force_terminal=True, width=80, color_system=system)  # type: ignore[arg-type]


def test_every_pass_and_what_was_remasked_stays_on_the_screen() -> None:
    console = Console(file=io.StringIO(), width=80)
    with CanvasView(console) as view:
        assert watch(happened(), view) is ANSWER
    shown = [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    assert shown == [
        "evidence   0 passages from 0 documents",
        "canvas     ▒ ▒   1 committed, 2 masked",
        "pass 1     Ada ▒   1 committed, 1 masked",
        "draft      Ada",
        're-masked  "Ada": unsupported',
        "canvas     ▒   1 committed, 1 masked",
        "refined    Bo",
    ]


def test_new_words_stand_out_and_masks_recede() -> None:
    styles = {str(span.style) for span in canvas(made(2, "Ada Bo ▒"), before="Ada ▒").spans}
    assert styles == {"bold green", "bright_black", "dim"}


def test_words_that_the_model_doubts_are_marked() -> None:
    shown = weighed("Ada Bo", [Token(0, 3, 0.9), Token(4, 6, 0.1)])
    assert [(span.start, span.end, str(span.style)) for span in shown.spans] == [
        (0, 3, "bold"),
        (4, 6, "yellow underline"),
    ]


def test_an_error_in_the_stream_leaves_the_terminal_usable() -> None:
    console = screen()

    def broken() -> Iterator[Event]:
        yield StageBegan(stage="retrieve")
        raise RuntimeError

    view = CanvasView(console)
    with pytest.raises(RuntimeError), view:
        watch(broken(), view)
    assert console.file.getvalue().endswith("\x1b[?25h")  # type: ignore[attr-defined]
