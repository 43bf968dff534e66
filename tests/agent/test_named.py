"""A question about something that no passage speaks of is not answered, however sure the model is."""

from remask.agent.named import names, unheard
from remask.dllm.scripted import ScriptedGenerator, pointing

from .shelf import LIBRARY, over


def test_a_word_that_begins_a_sentence_is_no_name() -> None:
    assert names("Where is it? Rivers flow. “Towers” stand in Ulm and in Blaubeuren.") == ("Blaubeuren",)


def test_one_name_that_is_heard_is_enough() -> None:
    assert unheard("Did Mira Holt ever meet Zbigniew?", ["Mira lived in Ulm."]) == ()
    assert unheard("Did Tilda ever meet Zbigniew?", ["Mira lived in Ulm."]) == ("Tilda", "Zbigniew")


def test_an_agent_abstains_where_nothing_it_read_speaks_of_whom_is_asked_about() -> None:
    model = ScriptedGenerator(lambda prompt: pointing(prompt, "1952", confidence=0.99))
    answer = over(LIBRARY, model).ask("When did Zbigniew restore the fresco?")
    assert answer.abstained
    assert answer.reason == "nothing that was read speaks of Zbigniew"
    assert over(LIBRARY, model, known_names=False).ask("When did Zbigniew restore the fresco?").text == "1952"
    assert over(LIBRARY, model).ask("When did Mira restore the fresco?").text == "1952"
