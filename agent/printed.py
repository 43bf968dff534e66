"""An answer as a person reads it: text with numbered citations, their quotations, and times. Knows no model."""

from collections.abc import Sequence

from rich.text import Text

from .answer import Answer, Citation, Trace
from .console import counted, printable


def printed(answer: Answer) -> Text:
    """The whole page. Its plain text is the same whether or not a terminal shows the styles."""
    parts = [_headline(answer), *_citations(answer.citations), *_notes(answer.trace), Text(_footer(answer), "dim")]
    return Text("\n").join(parts)


def _headline(answer: Answer) -> Text:
    if answer.abstained:
        return Text.assemble(("No answer. ", "bold"), printable(answer.reason))
    # Words quoted across a line end stand on one line.
    return Text(" ".join(printable(numbered(answer.text, answer.citations)).split()), "bold")


def numbered(text: str, citations: Sequence[Citation]) -> str:
    """The text with the number of each citation behind the part that it carries. Equal quotations share a number."""
    numbers = {_place(citation): number for number, citation in enumerate(_distinct(citations), 1)}
    marks: dict[int, list[int]] = {}
    for citation in citations:
        here = marks.setdefault(citation.answer_end, [])
        if numbers[_place(citation)] not in here:
            here.append(numbers[_place(citation)])
    for at in sorted(marks, reverse=True):
        text = f"{text[:at]} {''.join(f'[{n}]' for n in marks[at])}{text[at:]}"
    return text


def _citations(citations: Sequence[Citation]) -> list[Text]:
    lines: list[Text] = []
    for number, citation in enumerate(_distinct(citations), 1):
        place = f"characters {citation.start} to {citation.end}, support {citation.support:.2f}"
        lines.append(Text.assemble(f"\n[{number}] ", (printable(citation.document_id), "cyan"), (f", {place}", "dim")))
        # One quotation stays one line when piped, so that it can be searched for.
        lines.append(Text(f'    "{" ".join(printable(citation.quote).split())}"'))
    return lines


def _distinct(citations: Sequence[Citation]) -> list[Citation]:
    return list({_place(citation): citation for citation in reversed(citations)}.values())[::-1]


def _place(citation: Citation) -> tuple[str, int, int]:
    return citation.document_id, citation.start, citation.end


def _notes(trace: Trace) -> list[Text]:
    """What a reader should know before believing the answer."""
    notes = [f'asked as "{trace.question}"'] if trace.asked else []
    notes += [f'searched again for "{hop.query}"' for hop in trace.hops[1:]]
    notes += [f'doubtful: "{doubt.text}" ({doubt.source}: {doubt.detail})' for doubt in trace.doubts]
    if trace.left_out:
        notes.append(f"not read, as the model's window was full: {counted(len(trace.left_out), 'passage')}")
    notes += [f"the model failed: {error}" for error in trace.errors]
    return [
        Text(f"{'' if at else chr(10)}{' '.join(printable(note).split())}", "yellow") for at, note in enumerate(notes)
    ]


def _footer(answer: Answer) -> str:
    trace = answer.trace
    stages = ", ".join(f"{stage} {1000 * seconds:.0f} ms" for stage, seconds in trace.seconds.items())
    passes = sum(1 for made in trace.passes if made.index)
    return f"\nconfidence {answer.confidence:.2f}; {passes} {'pass' if passes == 1 else 'passes'}; {stages}"
