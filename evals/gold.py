"""The ceiling: told the right answer, says it where the evidence holds it, and nothing elsewhere.

So it measures the evidence: no reader that quotes can score higher on what was found and fitted in.
"""

import re
from collections.abc import Iterable, Iterator

from ..dllm.draft import CanvasPass, Draft, Passes, Prompt, Source, Token
from ..dllm.scripted import NOTHING
from .question import WHOLE, Question
from .rewriter import Rewriter


class GoldCeiling(Rewriter):
    """A `Generator` for the questions it was told of. Yes and no are said where all marked paragraphs are there."""

    name = "gold"

    def __init__(self, questions: Iterable[Question]) -> None:
        self._questions = {question.text.strip(): question for question in questions}

    def draft(self, prompt: Prompt, *, candidates: int = 1, max_passes: int = 4, seed: int = 0) -> Passes:
        """One pass, one draft, whatever is asked for."""
        question = self._questions.get(prompt.question)
        draft = self._told(prompt, question) if question else NOTHING
        yield CanvasPass(1, draft.text, 1, 0)
        return [draft]

    def _told(self, prompt: Prompt, question: Question) -> Draft:
        cited = tuple(_marked(prompt, question))
        for answer in question.answers:
            if answer.lower() in ("yes", "no"):
                found = question.gold_titles <= {evidence.title for evidence in prompt.evidence}
                if found:
                    kind = "yes" if answer.lower() == "yes" else "no"
                    return Draft(kind, kind=kind, confidence=1.0, cited=cited, passes=1)  # type: ignore[arg-type]
            elif draft := _quoted(prompt, answer, cited):
                return draft
        return NOTHING


def _quoted(prompt: Prompt, answer: str, cited: tuple[Source, ...]) -> Draft | None:
    """The answer where it stands, in a cited sentence if it can be."""
    whole = [Source(number, 0, len(evidence.text)) for number, evidence in enumerate(prompt.evidence)]
    for place in (*cited, *whole):
        text = prompt.evidence[place.evidence].text[place.start : place.end]
        if found := re.search(re.escape(answer), text, re.IGNORECASE):
            source = Source(place.evidence, place.start + found.start(), place.start + found.end())
            token = Token(0, len(found[0]), 1.0, source)
            return Draft(found[0], (token,), confidence=1.0, cited=cited, passes=1)
    return None


def _marked(prompt: Prompt, question: Question) -> Iterator[Source]:
    """The supporting sentences that are in the evidence."""
    for title, number in question.facts or ():
        paragraph = next((p for p in question.paragraphs if p.title == title), None)
        place = next((i for i, evidence in enumerate(prompt.evidence) if evidence.title == title), None)
        if paragraph is None or place is None or not WHOLE <= number < len(paragraph.sentences):
            continue
        said = "".join(paragraph.sentences) if number == WHOLE else paragraph.sentences[number]
        at = prompt.evidence[place].text.find(said.strip())
        if at >= 0 and said.strip():
            yield Source(place, at, at + len(said.strip()))
