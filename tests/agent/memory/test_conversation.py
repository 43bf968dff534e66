"""A conversation over the whole loop: what is asked of the documents, what is remembered, what the command does."""

import asyncio
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from remask.agent import InvalidQuestion, Sessions
from remask.agent.cli import main
from remask.agent.events import AnswerReady, QuestionRewritten
from remask.agent.memory import ModelRewriter, RuleRewriter, Turn
from remask.dllm.draft import Draft, Prompt
from remask.dllm.errors import GenerationFailed
from remask.dllm.scripted import ScriptedGenerator, pointing
from remask.retrieval import Document

from ..shelf import LIBRARY, over

FOUNDERS = Document(
    id="gryf",
    title="Stocznia Gryf",
    text="Stocznia Gryf was founded by Ewa Lis in 1971. It makes hulls of polyethylene.",
)
BUOY = Document(id="b7", title="B-7 buoy", text="The hull of the B-7 is made by Stocznia Gryf. It floats.")


def hulls(prompt: Prompt) -> Draft:
    return pointing(prompt, "Ewa Lis" if "founded" in prompt.question else "Stocznia Gryf")


def test_a_followup_is_rewritten_before_anything_is_searched() -> None:
    model = ScriptedGenerator(hulls)
    talk = over([FOUNDERS, BUOY, *LIBRARY], model).session()
    assert talk.ask("Which company makes the hull of the B-7?").text == "Stocznia Gryf"
    answer = talk.ask("and who founded it?")
    assert answer.text == "Ewa Lis"
    assert (answer.trace.question, answer.trace.asked) == ("Who founded Stocznia Gryf?", "and who founded it?")
    assert answer.trace.hops[0].query == "Who founded Stocznia Gryf?" == model.calls[-1].prompt.question
    assert [citation.document_id for citation in answer.citations] == ["gryf"]


def test_the_first_event_says_how_the_question_was_understood() -> None:
    talk = over([FOUNDERS, BUOY], ScriptedGenerator(hulls)).session()
    assert not isinstance(next(talk.stream("Which company makes the hull of the B-7?")), QuestionRewritten)
    talk.ask("Which company makes the hull of the B-7?")
    first = next(talk.stream("and who founded it?"))
    assert isinstance(first, QuestionRewritten)
    assert (first.asked, first.question) == ("and who founded it?", "Who founded Stocznia Gryf?")


def test_a_stream_left_early_and_a_refused_question_are_not_remembered() -> None:
    talk = over(LIBRARY, ScriptedGenerator(lambda prompt: pointing(prompt, "1952"))).session()
    stream = talk.stream("When was the fresco restored?")
    next(stream)
    stream.close()
    with pytest.raises(InvalidQuestion):
        talk.stream("  ")
    assert talk.turns == ()
    for event in talk.stream("When was the fresco restored?"):
        if isinstance(event, AnswerReady):
            break
    assert [turn.answer for turn in talk.turns] == ["1952"]
    assert talk.forget()
    assert talk.turns == ()


def test_async_conversations_are_kept_apart_and_remember() -> None:
    agent = over([FOUNDERS, BUOY], ScriptedGenerator(hulls))
    sessions = Sessions()

    async def talk(name: str) -> list[str]:
        conversation = agent.session(name, sessions=sessions)
        questions = ("Which company makes the hull of the B-7?", "and who founded it?")
        return [(await conversation.aask(question)).text for question in questions]

    async def all_of_them() -> list[list[str]]:
        return list(await asyncio.gather(*(talk(str(n)) for n in range(4))))

    assert asyncio.run(all_of_them()) == [["Stocznia Gryf", "Ewa Lis"]] * 4
    assert [info.turns for info in sessions.list()] == [2] * 4


class Hosted(ScriptedGenerator):
    """A model with a JSON mode that says what it is told to."""

    def __init__(self, said: Any) -> None:
        super().__init__(hulls)
        self.said, self.asked = said, []

    def complete_json(self, prompt: Prompt, schema: Any) -> dict[str, Any]:
        self.asked.append(prompt.question)
        if isinstance(self.said, Exception):
            raise self.said
        return {"question": self.said}


def test_a_model_with_a_json_mode_rewrites() -> None:
    model = Hosted("Who founded the company Stocznia Gryf?")
    talk = over([FOUNDERS, BUOY], model).session()
    talk.ask("Which company makes the hull of the B-7?")
    assert model.asked == []
    assert talk.ask("and who founded it?").trace.question == "Who founded the company Stocznia Gryf?"
    assert "Stocznia Gryf" in model.asked[0]


@pytest.mark.parametrize("said", [GenerationFailed("no"), "", "  \n", 7, None, "x" * 501])
def test_where_the_model_says_nothing_of_use_the_rules_rewrite(said: Any) -> None:
    turn = Turn(asked="", question="When was Halden Instruments founded?", answer="1987")
    rewritten = ModelRewriter(Hosted(said), RuleRewriter())("Who founded it?", [turn])
    assert rewritten.question == "Who founded Halden Instruments?"


# The commands.


def test_chat_goes_on_with_a_session_that_is_listed_shown_and_deleted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, agent = str(tmp_path / "s.sqlite3"), over([FOUNDERS, BUOY], ScriptedGenerator(hulls))
    monkeypatch.setattr("remask.agent.asking.opened", lambda *given: agent)
    for line in ("Which company makes the hull of the B-7?", "And who founded it?"):
        monkeypatch.setattr("sys.stdin", StringIO(line + "\n"))
        assert main(["chat", "--docs", ".", "--session", "anna", "--file", file]) == 0
    shown = capsys.readouterr().out
    assert "Ewa Lis [1]" in shown
    assert 'asked as "Who founded Stocznia Gryf?"' in shown
    assert main(["sessions", "list", "--file", file]) == 0
    assert capsys.readouterr().out.startswith("anna  2 turns  ")
    assert main(["sessions", "show", "anna", "--file", file]) == 0
    assert "? And who founded it? (Who founded " in capsys.readouterr().out
    assert main(["sessions", "delete", "anna", "--file", file]) == 0
    assert main(["sessions", "list", "--file", file]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("command", [["show", "nobody"], ["delete", "nobody"], ["delete", "../x"]])
def test_a_session_that_is_not_there_is_one_line(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Sessions(tmp_path / "s.sqlite3").close()
    assert main(["sessions", *command, "--file", str(tmp_path / "s.sqlite3")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_chat_refuses_a_bad_session_name_before_it_reads_anything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--docs", str(tmp_path / "missing"), "--session", "../x", "--file", str(tmp_path / "s.sqlite3")]
    assert main(["chat", *arguments]) == 1
    assert "can't be a session's name" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
