"""The scripted generator keeps to its script and to the `Generator` protocol."""

import pytest
from remask.dllm.draft import Draft, Evidence, Generator, Prompt, Source, finish
from remask.dllm.scripted import NOTHING, ScriptedGenerator, pointing

PROMPT = Prompt("Which city?", (Evidence("It is far."), Evidence("It is in New York City.")))


def texts(model: Generator, prompt: Prompt = PROMPT, candidates: int = 3) -> list[str]:
    return [draft.text for draft in finish(model.draft(prompt, candidates=candidates))]


def test_a_sequence_is_played_run_by_run_and_its_last_turn_repeated() -> None:
    model = ScriptedGenerator([Draft("one"), [Draft("two"), Draft("rival")]])
    assert [texts(model) for _ in range(3)] == [["one"], ["two", "rival"], ["two", "rival"]]


def test_a_mapping_answers_by_question_and_says_nothing_to_others() -> None:
    model = ScriptedGenerator({"Which city?": [Draft("one"), Draft("two")], "Why?": Draft("because")})
    assert [texts(model), texts(model), texts(model, Prompt("Why?"))] == [["one"], ["two"], ["because"]]
    assert finish(model.draft(Prompt("Who?")))[0].kind == NOTHING.kind == "none"


def test_a_function_sees_the_prompt() -> None:
    assert texts(ScriptedGenerator(lambda prompt: Draft(prompt.question.upper()))) == ["WHICH CITY?"]


def test_no_more_candidates_come_than_are_asked_for() -> None:
    assert texts(ScriptedGenerator([[Draft("a"), Draft("b"), Draft("c")]]), candidates=2) == ["a", "b"]


def test_passes_reveal_every_word_once_and_count() -> None:
    model = ScriptedGenerator([Draft("a b c d e")])
    made = list(model.draft(PROMPT, max_passes=3))
    assert [(each.index, each.committed, each.masked, each.canvas.count("▒")) for each in made] == [
        (0, 0, 5, 5),
        (1, 1, 4, 4),
        (2, 2, 2, 2),
        (3, 2, 0, 0),
    ]
    assert made[-1].canvas == "a b c d e"
    assert model.passes == 3


def test_the_seed_decides_the_order_in_which_words_appear() -> None:
    def canvases(seed: int) -> list[str]:
        return [each.canvas for each in ScriptedGenerator([Draft("a b c d e f")]).draft(PROMPT, seed=seed)]

    assert canvases(1) == canvases(1) != canvases(2)


def test_refining_masks_the_words_under_the_spans_only() -> None:
    model = ScriptedGenerator(refinements=[Draft("in New York")])
    made = list(model.refine(PROMPT, Draft("in Old York"), [(4, 5)], reason="unsure"))
    assert [(each.canvas, each.remasked, each.reason) for each in made] == [
        ("in ▒ York", ("l",), "unsure"),
        ("in New York", (), ""),
    ]
    assert model.calls[0].remask == ((4, 5),)


def test_without_a_refinement_the_draft_comes_back() -> None:
    assert finish(ScriptedGenerator().refine(PROMPT, Draft("York"), [(0, 4)]))[0].text == "York"


def test_closing_stops_before_the_next_pass() -> None:
    model = ScriptedGenerator([Draft("a b c d")])
    passes = model.draft(PROMPT)
    assert [next(passes).index for _ in range(2)] == [0, 1]
    passes.close()
    assert model.passes == 1


def test_pointing_gives_each_word_its_place() -> None:
    draft = pointing(PROMPT, "New York", bridge="city")
    assert [(draft.text[t.start : t.end], t.source) for t in draft.tokens] == [
        ("New", Source(1, 9, 12)),
        ("York", Source(1, 13, 17)),
    ]
    assert draft.bridge == "city"


def test_pointing_at_words_that_are_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match="no evidence has 'Boston'"):
        pointing(PROMPT, "Boston")
