"""The canvas as a person watches it fill in, pass by pass, in a terminal. Knows events; not how they come about."""

from collections.abc import Iterable, Sequence
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from ..dllm.draft import Token
from .answer import Answer, RefinePass
from .console import counted, printable
from .events import AnswerReady, DraftMade, DraftRefined, Event, EvidenceFound, PassMade, QuestionRewritten, StageBegan

BLOCK = "▒"
SURE, UNSURE = 0.8, 0.4
"""Confidence from which a token is shown bright, and below which it is shown as doubtful."""
DOING = {"retrieve": "searching", "draft": "drafting", "refine": "denoising again", "cite": "looking up the citations"}


class CanvasView:
    """A growing list of lines with a note of what is going on below it. The lines stay on the screen, the note goes."""

    def __init__(self, console: Console) -> None:
        self._lines: list[Text] = []
        self._before = ""
        self._live = Live(console=console, refresh_per_second=20)

    def __enter__(self) -> "CanvasView":
        self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._live.update(Group(*self._lines), refresh=True)
        self._live.stop()

    def note(self, doing: str) -> None:
        """What takes the time right now."""
        spinner = Spinner("dots", Text(doing, "dim"))
        self._live.update(Group(*self._lines, spinner), refresh=True)

    def line(self, name: str, text: Text | str) -> None:
        self._lines.append(Text.assemble((f"{name:<11}", "cyan"), text))
        self._live.update(Group(*self._lines), refresh=True)

    def show(self, made: RefinePass) -> None:
        """One pass. Words that it committed are bright."""
        if made.remasked:
            self.line("re-masked", remasked(made))
        self.line(f"pass {made.index}" if made.index else "canvas", canvas(made, self._before))
        self._before = made.canvas


def watch(events: Iterable[Event], view: CanvasView) -> Answer:
    """Shows what happens as it happens; gives the answer."""
    for event in events:
        match event:
            case QuestionRewritten():
                view.line("question", printable(event.question))
            case StageBegan():
                view.note(f"{DOING[event.stage]} {printable(event.detail)}")
            case EvidenceFound():
                view.line("evidence", found(event))
            case PassMade():
                view.show(event.made)
            case DraftMade():
                view.line("draft", weighed(event.draft.text, event.draft.tokens))
            case DraftRefined():
                outcome = Text("" if event.kept else "  (no better; the draft before stays)", "dim")
                view.line("refined", weighed(event.draft.text, event.draft.tokens).append_text(outcome))
            case AnswerReady():
                return event.answer
    raise AssertionError("a stream ends with an answer")


def found(event: EvidenceFound) -> Text:
    """What a search gave, and what it looked for if that was not the question."""
    documents = {hit.document_id for hit in event.hop.hits}
    text = Text(f"{counted(len(event.hop.hits), 'passage')} from {counted(len(documents), 'document')}")
    if event.number > 1:
        text.append(f', {len(event.hop.added)} of them new, for "{printable(event.hop.query)}"', "dim")
    return text


def canvas(made: RefinePass, before: str = "") -> Text:
    """The canvas after a pass: masks dim, words that were not there before bold.

    >>> canvas(RefinePass(run=1, stage="draft", index=1, canvas="a ▒", committed=1, masked=1)).plain
    'a ▒   1 committed, 1 masked'
    """
    known = set(before.split())
    text = Text()
    for word in printable(made.canvas).split(" "):
        style = "bright_black" if BLOCK in word else "" if word in known else "bold green"
        text.append(word, style)
        text.append(" ")
    return text.append(f"  {made.committed} committed, {made.masked} masked", "dim")


def remasked(made: RefinePass) -> Text:
    """What a pass masked again and why.

    >>> first = RefinePass(run=2, stage="refine", index=0, canvas="▒", committed=0, masked=1)
    >>> remasked(first.model_copy(update={"remasked": ("1994",), "reason": "unsure"})).plain
    '"1994": unsure'
    """
    text = Text()
    for number, part in enumerate(made.remasked):
        text.append(", " if number else "")
        text.append(f'"{printable(part)}"', "yellow strike")
    return text.append(f": {printable(made.reason)}" if made.reason else "", "yellow")


def weighed(text: str, tokens: Sequence[Token]) -> Text:
    """A draft's text: bright where the model was sure, underlined where it doubts, as it is where it did not say.

    >>> [str(span.style) for span in weighed("so what", [Token(0, 2, 0.9), Token(3, 7, 0.1)]).spans]
    ['bold', 'yellow underline']
    """
    shown = Text(printable(text))
    for token in tokens:
        style = "bold" if token.confidence >= SURE else "yellow underline" if token.confidence < UNSURE else ""
        if style:
            shown.stylize(style, token.start, token.end)
    return shown
