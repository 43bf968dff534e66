"""The baseline of many stages over writers and scores known by heart, and its encoder over real pairs."""

from collections.abc import Sequence
from pathlib import Path

from remask.dllm.draft import CanvasPass, Draft, Evidence, Prompt, finish
from remask.evals.autoregressive import AutoregressiveReader
from remask.evals.crossencoder import CrossEncoder
from remask.evals.pipeline import PipelineReader
from remask.evals.writer import Example, Step, Steps

BLAU = Evidence("The Blau is a river.", "Blau", ((0, 20),))
ANNE = Evidence("Saint Anne is a chapel. Its fresco is old.", "Saint Anne", ((0, 23), (24, 42)))
HOLT = Evidence("She was a painter. In 1952 Mira Holt restored the fresco.", "Mira Holt", ((0, 18), (19, 57)))
PROMPT = Prompt("Who restored the fresco?", (BLAU, ANNE, HOLT))


class Says:
    """A `Writer` that gives its answers in turn, a word a step."""

    model, runtime, path = "says", "here", Path("says.gguf")

    def __init__(self, *answers: str) -> None:
        self.answers, self.asked = list(answers), list[str]()

    def write(self, asked: str, *, max_tokens: int, examples: Sequence[Example] = ()) -> Steps:
        self.asked.append(asked)
        words = self.answers.pop(0).split()
        for end in range(1, len(words) + 1):
            yield Step(" ".join(words[:end]), 0.5, 1.0)


def by_length(question: str, texts: Sequence[str]) -> list[float]:
    return [float(len(text)) for text in texts]


def piped(says: Says, *, kept: int = 2) -> Draft:
    (draft,) = finish(PipelineReader(AutoregressiveReader(says), by_length, kept=kept).draft(PROMPT))
    return draft


def test_it_reads_the_best_of_what_was_ranked_again_and_names_the_rest() -> None:
    says = Says("Mira Holt", "Mira Holt")
    draft = piped(says)
    assert draft.text == "Mira Holt"
    assert draft.left_out == (0,)
    assert says.asked[0].index("She was a painter") < says.asked[0].index("Saint Anne is a chapel")
    assert "The Blau" not in says.asked[0]


def test_the_second_call_shows_the_same_passages_first_and_the_answer() -> None:
    says = Says("Mira Holt", "Mira Holt")
    piped(says)
    first, second = says.asked
    shown = f"Mira Holt: {HOLT.text}\n\nSaint Anne: {ANNE.text}\n\n"
    assert first.startswith(shown)
    assert second.startswith(shown)
    assert "Answer: Mira Holt\n" in second


def test_it_cites_the_sentence_with_the_answer_in_the_passage_that_the_check_names() -> None:
    (cited,) = piped(Says("Mira Holt", "Mira Holt")).cited
    assert (cited.evidence, cited.start, cited.end) == (2, 19, 57)
    (cited,) = piped(Says("Mira Holt", "Saint Anne")).cited
    assert (cited.evidence, cited.start) == (1, 24), "no sentence there has the answer; the fresco is in the second"


def test_no_passage_that_says_so_makes_it_unanswerable() -> None:
    assert piped(Says("Mira Holt", "None")).answerable == 0.0
    assert piped(Says("Mira Holt", "Mira Holt")).answerable == 1.0
    nothing = piped(Says(""))
    assert (nothing.kind, nothing.answerable, nothing.cited) == ("none", 0.0, ())


def test_every_stage_is_timed_and_every_step_is_a_pass_with_a_number_of_its_own() -> None:
    pipeline = PipelineReader(AutoregressiveReader(Says("Mira Holt", "Mira Holt")), by_length)
    passes: list[CanvasPass] = list(pipeline.draft(PROMPT))
    assert [made.index for made in passes] == [0, 1, 2, 3]
    draft = piped(Says("Mira Holt", "Mira Holt"))
    assert list(draft.stages) == ["rerank", "prefill", "decode", "check"]
    assert draft.passes == 4


def test_without_evidence_nothing_is_ranked_and_nothing_cited() -> None:
    pipeline = PipelineReader(AutoregressiveReader(Says("Mira", "none")), by_length)
    (draft,) = finish(pipeline.draft(Prompt("Who?")))
    assert (draft.text, draft.cited, draft.answerable) == ("Mira", (), 0.0)


def test_the_encoder_reads_each_pair_together_and_finds_the_passage_that_is_asked_for() -> None:
    encoder = CrossEncoder()
    texts = [f"{one.title}: {one.text}" for one in PROMPT.evidence]
    scores = encoder.scores(PROMPT.question, texts)
    assert max(range(3), key=scores.__getitem__) == 2
    assert all(-1 <= score <= 1 for score in scores)
    # A pair's score is its own, whatever else is in the batch; another question changes it.
    assert abs(encoder.scores(PROMPT.question, texts[2:])[0] - scores[2]) < 1e-4
    assert abs(encoder.scores("How long is the Blau?", texts[2:])[0] - scores[2]) > 1e-2
    assert encoder.scores("Who?", []) == []
