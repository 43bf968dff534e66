"""How well a reader does on rows held out from training: what `remask train` prints while it runs."""

from collections.abc import Sequence

from ..draft import Draft, Prompt, finish
from ..score import best, exact_match, f1
from .layout import LayoutOptions, Words
from .mixture import Prepared, Source
from .model import Reader
from .reader import EmbeddedReader


def dev_score(
    reader: Reader, sources: Sequence[Source], words: Words, layout: LayoutOptions, *, rows: int = 60
) -> dict[str, float]:
    """F1 and exact match by source, over at most `rows` held-out rows of each; one pass, one candidate."""
    generator = EmbeddedReader(reader, words, layout)
    scores: dict[str, float] = {}
    for source in sources:
        name = source.options.file.split(".")[0]
        pairs = [(said(generator, p), p) for p in source.dev[:rows]]
        for label, metric in (("f1", f1), ("em", exact_match)):
            values = [best(metric, draft.text, p.example.answers) for draft, p in pairs]
            if values:
                scores[f"{name}_{label}"] = sum(values) / len(values)
    return scores


def said(generator: EmbeddedReader, prepared: Prepared) -> Draft:
    """The reader's first draft for a held-out row, all of its texts shown."""
    prompt = Prompt(prepared.example.question, prepared.example.texts)
    return finish(generator.draft(prompt, max_passes=1))[0]
