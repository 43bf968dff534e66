"""Searching again, doubting, re-masking, stopping: what the trace says the agent did."""

from collections.abc import Iterator

import pytest
from remask.agent import Agent, AgentOptions, Answer
from remask.dllm.draft import Draft, Passes, Prompt, Token
from remask.dllm.errors import BackendUnavailable
from remask.dllm.scripted import ScriptedGenerator, pointing

from .shelf import ANNE, LIBRARY, RIVER, Shelf, over

WHEN = "When did Mira Holt restore the fresco?"
HOW_MANY = "How many people does the chapel with Mira Holt's work hold?"


def test_the_heaviest_candidate_wins_not_the_first() -> None:
    def drafts(prompt: Prompt) -> list[Draft]:
        return [Draft("In 1964 she restored it.", confidence=0.7), pointing(prompt, "1952", confidence=0.6)]

    answer = over(LIBRARY, ScriptedGenerator(drafts), max_refinements=0).ask(WHEN)
    assert answer.text == "1952"
    assert [candidate.text for candidate in answer.trace.candidates] == ["1952", "In 1964 she restored it."]
    assert answer.trace.candidates[1].support == 0.0


def test_all_candidates_are_asked_for_in_one_run() -> None:
    model = ScriptedGenerator([Draft("1952", confidence=0.9)])
    over(LIBRARY, model, candidates=4).ask(WHEN)
    assert [call.candidates for call in model.calls] == [4]


def test_a_supported_draft_is_not_refined() -> None:
    model = ScriptedGenerator(lambda prompt: pointing(prompt, "1952"))
    answer = over(LIBRARY, model).ask(WHEN)
    assert (answer.trace.stopped, answer.trace.refinements, answer.trace.doubts) == ("supported", (), ())
    assert len(model.calls) == 1


def test_a_bridge_is_searched_for_and_read_together_with_what_was_there() -> None:
    def drafts(prompt: Prompt) -> Draft:
        if any(e.title == "Blau" for e in prompt.evidence):
            return pointing(prompt, "22 km")
        return pointing(prompt, "river", bridge="Blau spring")

    shelf = Shelf([ANNE, RIVER])
    agent = Agent(shelf, ScriptedGenerator(drafts), documents=shelf.document, options=AgentOptions(top_k=1))
    answer = agent.ask("How long is what the Saint Anne chapel is near to?")
    assert (answer.text, answer.citations[0].document_id) == ("22 km", "river")
    assert shelf.queries[1] == "How long is what the Saint Anne chapel is near to? Blau spring"
    assert [(hop.occasion, hop.added) for hop in answer.trace.hops] == [
        ("question", (f"anne#0-{len(ANNE.text)}",)),
        ("bridge", (f"river#0-{len(RIVER.text)}",)),
    ]
    assert [shown.document_id for shown in answer.trace.evidence] == ["anne", "river"]


def test_a_bridge_that_was_already_found_is_not_searched_for() -> None:
    shelf = Shelf(LIBRARY)
    model = ScriptedGenerator(lambda prompt: pointing(prompt, "1952", bridge="saint anne"))
    Agent(shelf, model, documents=shelf.document).ask(WHEN)
    assert shelf.queries == [WHEN]


def test_a_weak_draft_is_the_next_query() -> None:
    shelf = Shelf(LIBRARY)
    model = ScriptedGenerator([Draft("in spring", confidence=0.2)])
    answer = Agent(shelf, model, documents=shelf.document).ask(WHEN)
    assert shelf.queries == [WHEN, f"{WHEN} in spring"]
    assert answer.trace.hops[1].occasion == "weak draft"


def test_no_further_hop_is_made_when_none_is_allowed() -> None:
    shelf = Shelf(LIBRARY)
    model = ScriptedGenerator(lambda prompt: pointing(prompt, "1952", bridge="Blau"))
    Agent(shelf, model, documents=shelf.document, options=AgentOptions(extra_hops=0)).ask(WHEN)
    assert shelf.queries == [WHEN]


def test_a_second_reading_that_says_nothing_does_not_replace_an_answer() -> None:
    def drafts(prompt: Prompt) -> Draft:
        if len(prompt.evidence) > 1:
            return Draft("", kind="none", confidence=0.9)
        return pointing(prompt, "river", bridge="Blau spring")

    answer = over([ANNE, RIVER], ScriptedGenerator(drafts), top_k=1).ask("What is the Saint Anne chapel near to?")
    assert (answer.text, len(answer.trace.hops)) == ("river", 2)
    assert [shown.document_id for shown in answer.trace.evidence] == ["anne"]


def test_what_the_model_was_unsure_of_is_remasked_and_the_better_draft_kept() -> None:
    unsure = Draft("Holt in 1852", (Token(0, 4, 0.9), Token(5, 7, 0.9), Token(8, 12, 0.2)), confidence=0.5)
    model = ScriptedGenerator([unsure], [Draft("Holt in 1952", confidence=0.7)])
    answer = over(LIBRARY, model).ask(WHEN)
    assert answer.text == "Holt in 1952"
    call = model.calls[1]
    assert call.remask == ((0, 12),)  # the whole statement: nothing in the evidence has 1852
    (refinement,) = answer.trace.refinements
    assert (refinement.before, refinement.after, refinement.kept) == ("Holt in 1852", "Holt in 1952", True)
    assert {doubt.source for doubt in refinement.doubts} == {"unsure", "unsupported"}
    shown = next(made for made in answer.trace.passes if made.remasked)
    assert (shown.stage, shown.canvas, shown.remasked) == ("refine", "▒ ▒ ▒", ("Holt in 1852",))
    assert "unsure (confidence 0.20)" in shown.reason


def test_a_refined_draft_that_is_no_better_is_dropped() -> None:
    def unsure(prompt: Prompt) -> Draft:
        return pointing(prompt, "1952", confidence=0.3)

    model = ScriptedGenerator(unsure, [Draft("1990", confidence=0.3)])
    answer = over(LIBRARY, model).ask(WHEN)
    assert (answer.text, answer.trace.stopped) == ("1952", "stable")
    assert [refinement.kept for refinement in answer.trace.refinements] == [False]
    assert [doubt.source for doubt in answer.trace.doubts] == ["unsure"]


def test_a_place_where_candidates_disagree_is_remasked() -> None:
    def drafts(prompt: Prompt) -> list[Draft]:
        return [pointing(prompt, "1952", confidence=0.8), pointing(prompt, "1990", confidence=0.75)]

    model = ScriptedGenerator(drafts)
    answer = over(LIBRARY, model).ask(WHEN)
    assert model.calls[1].remask == ((0, 4),)
    assert model.calls[1].reason == "disputed (another candidate says '1990')"
    assert answer.trace.stopped == "stable"


def growing(prompt: Prompt) -> Iterator[Draft]:
    for confidence in (0.40, 0.41, 0.42, 0.43, 0.44):
        token = Token(0, 4, 0.1)
        yield Draft("1952 it was restored", (token,), confidence=confidence)


def unsettled() -> ScriptedGenerator:
    first, *later = growing(Prompt(WHEN))
    return ScriptedGenerator([first], later)


def test_refining_ends_after_its_rounds() -> None:
    model = unsettled()
    answer = over(LIBRARY, model, max_refinements=3).ask(WHEN)
    assert (len(model.calls), answer.trace.stopped) == (4, "out of rounds")


def test_refining_ends_when_the_passes_are_spent() -> None:
    model = unsettled()
    answer = over(LIBRARY, model, max_refinements=9, max_passes=6, run_passes=4).ask(WHEN)
    assert [call.max_passes for call in model.calls] == [4, 2, 1]
    assert (model.passes, answer.trace.stopped) == (6, "out of passes")


class Clock:
    """Ticks a second each time it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def timed(seconds: float | None) -> Answer:
    shelf = Shelf(LIBRARY)
    options = AgentOptions(max_seconds=seconds, max_refinements=9, max_passes=1000, run_passes=4)
    return Agent(shelf, unsettled(), documents=shelf.document, options=options, clock=Clock()).ask(WHEN)


def test_the_first_draft_is_finished_even_when_time_is_up() -> None:
    answer = timed(0.5)
    assert (answer.text, answer.trace.stopped) == ("1952 it was restored", "out of seconds")
    assert answer.trace.refinements == ()


def test_a_refining_run_is_cut_short_when_time_is_up() -> None:
    whole = timed(None)
    first = sum(whole.trace.seconds[stage] for stage in ("retrieve",)) + 7
    cut = timed(first + 1.5)
    assert cut.trace.stopped == "out of seconds"
    assert cut.trace.refinements == ()
    assert [made.stage for made in cut.trace.passes][-1] == "refine"


def test_seconds_are_split_by_stage_and_add_up() -> None:
    seconds = timed(None).trace.seconds
    assert list(seconds) == ["retrieve", "draft", "refine", "cite", "total"]
    assert seconds["total"] == seconds["retrieve"] + seconds["draft"] + seconds["refine"] + seconds["cite"]
    assert seconds["retrieve"] == 1.0


class FailsToRefine(ScriptedGenerator):
    def refine(self, *args: object, **kwargs: object) -> Passes:  # type: ignore[override]
        raise BackendUnavailable("the server is gone. Start it again")


def test_a_model_that_fails_while_refining_leaves_the_draft_and_a_note() -> None:
    answer = over(LIBRARY, FailsToRefine(lambda prompt: pointing(prompt, "1952", confidence=0.3))).ask(WHEN)
    assert (answer.text, answer.trace.stopped) == ("1952", "model failed")
    assert answer.trace.errors == ("BackendUnavailable: the server is gone. Start it again",)


def test_evidence_that_did_not_fit_is_listed() -> None:
    def drafts(prompt: Prompt) -> Draft:
        return pointing(prompt, "1952", left_out=(1,))

    answer = over(LIBRARY, ScriptedGenerator(drafts)).ask(WHEN)
    assert answer.trace.left_out == (answer.trace.evidence[1].passage_id,)


@pytest.mark.parametrize("shuffle", range(8))
def test_sources_are_resolved_through_the_evidence_that_was_shown_whatever_its_order(shuffle: int) -> None:
    answer = over(LIBRARY, ScriptedGenerator(lambda prompt: pointing(prompt, "120")), shuffle=shuffle).ask(HOW_MANY)
    (citation,) = answer.citations
    assert (citation.document_id, citation.quote) == ("anne", "The chapel holds 120 people.")
