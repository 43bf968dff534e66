"""The whole path with a scripted model: what is asked, what comes out, what bad input does."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from remask.agent import Agent, AgentError, AgentOptions, Answer, InvalidQuestion, ModelFailed
from remask.agent.run import ABSTENTION
from remask.dllm.draft import Draft, Passes, Prompt
from remask.dllm.errors import GenerationFailed
from remask.dllm.scripted import ScriptedGenerator, pointing
from remask.retrieval import Document, HashEmbedder, build
from remask.retrieval.errors import DocumentUnreadable, InvalidDocuments

from .shelf import LIBRARY, MIRA, Shelf, over

WHEN = "When did Mira Holt restore the fresco?"


def the_year(prompt: Prompt) -> Draft:
    return pointing(prompt, "1952", confidence=0.9)


def test_an_answer_cites_the_sentence_it_was_taken_from() -> None:
    answer = over(LIBRARY, ScriptedGenerator(the_year)).ask(WHEN)
    assert (answer.text, answer.kind, answer.abstained) == ("1952", "span", False)
    (citation,) = answer.citations
    assert citation.quote == "In 1952 she restored the fresco of Saint Anne."
    assert MIRA.text[citation.start : citation.end] == citation.quote
    assert (citation.document_id, citation.title) == ("mira", "Mira Holt")
    assert answer.text[citation.answer_start : citation.answer_end] == "1952"


def test_from_documents_takes_records_documents_and_paths_together(tmp_path: Path) -> None:
    (tmp_path / "mira.txt").write_text(MIRA.text, encoding="utf-8")
    agent = Agent.from_documents(
        [tmp_path / "mira.txt", {"id": "a", "text": "Nothing else."}, Document(id="b", text="Nor here.")],
        generator=ScriptedGenerator(the_year),
        embedder=HashEmbedder(),
    )
    answer = agent.ask(WHEN)
    assert [citation.document_id for citation in answer.citations] == ["mira.txt"]
    assert agent.skipped == ()


def test_from_index_answers_as_from_documents_does(tmp_path: Path) -> None:
    build(LIBRARY, tmp_path / "index", embedder=HashEmbedder())
    saved = Agent.from_index(tmp_path / "index", generator=ScriptedGenerator(the_year), embedder=HashEmbedder())
    fresh = Agent.from_documents(LIBRARY, generator=ScriptedGenerator(the_year), embedder=HashEmbedder())
    assert saved.ask(WHEN).citations == fresh.ask(WHEN).citations != ()


def test_a_file_that_cannot_be_read_is_left_out_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "mira.txt").write_text(MIRA.text, encoding="utf-8")
    (tmp_path / "broken.docx").write_bytes(b"PK no archive")
    with pytest.warns(UserWarning, match=r"broken\.docx"):
        agent = Agent.from_documents(tmp_path, generator=ScriptedGenerator(the_year), embedder=HashEmbedder())
    assert agent.ask(WHEN).text == "1952"
    assert "broken.docx" in agent.skipped[0]


def test_a_path_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(DocumentUnreadable, match=r"missing\.txt"):
        Agent.from_documents(tmp_path / "missing.txt", generator=ScriptedGenerator(), embedder=HashEmbedder())


def test_something_that_is_no_document_is_named() -> None:
    with pytest.raises(InvalidDocuments, match="7 is no document"):
        Agent.from_documents([7], generator=ScriptedGenerator(), embedder=HashEmbedder())  # type: ignore[list-item]


@pytest.mark.parametrize("question", ["", "   ", "\n\t", "\u3000"])
def test_an_empty_question_is_refused_before_anything_runs(question: str) -> None:
    model = ScriptedGenerator(the_year)
    agent = over(LIBRARY, model)
    for ask in (agent.ask, agent.stream, agent.astream, agent.aask):
        with pytest.raises(InvalidQuestion, match="which says nothing"):
            ask(question).send(None)  # type: ignore[attr-defined]
    assert model.calls == []


def test_a_question_that_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidQuestion, match="7, which is no text"):
        over(LIBRARY, ScriptedGenerator()).ask(7)  # type: ignore[arg-type]


def test_half_a_surrogate_pair_in_a_question_still_gives_json() -> None:
    answer = over(LIBRARY, ScriptedGenerator(the_year)).ask(WHEN + "\ud83d")
    assert Answer.model_validate_json(answer.model_dump_json()) == answer


def test_a_question_of_100_000_characters_is_answered() -> None:
    answer = over(LIBRARY, ScriptedGenerator(the_year)).ask((WHEN + " ") * 2600)
    assert answer.text == "1952"
    assert len(answer.trace.question) > 100_000


def test_more_passages_wanted_than_there_are_is_no_error() -> None:
    answer = over(LIBRARY, ScriptedGenerator(the_year), top_k=1000).ask(WHEN)
    assert len(answer.trace.hops[0].hits) == 3


def test_without_documents_the_agent_abstains_and_asks_no_model() -> None:
    model = ScriptedGenerator(the_year)
    answer = Agent.from_documents([], generator=model, embedder=HashEmbedder()).ask(WHEN)
    assert (answer.text, answer.abstained, answer.citations) == (ABSTENTION, True, ())
    assert answer.reason == "no passage was found for this question"
    assert model.calls == []


@pytest.mark.parametrize(
    ("draft", "reason"),
    [
        (Draft("", kind="none", confidence=0.9), "finds no answer"),
        (Draft("   ", confidence=0.9), "finds no answer"),
        (Draft("1952", confidence=0.9, answerable=0.05), "is 0.05, and at least 0.20"),
        (Draft("1952", confidence=0.01), "at least 0.15"),
        (Draft("Bananas are yellow.", confidence=0.9), "no sentence of the passages carries"),
    ],
)
def test_abstaining_says_why_and_keeps_the_draft_in_the_trace(draft: Draft, reason: str) -> None:
    answer = over(LIBRARY, ScriptedGenerator([draft])).ask(WHEN)
    assert (answer.text, answer.kind, answer.abstained, answer.citations) == (ABSTENTION, "none", True, ())
    assert reason in answer.reason
    assert answer.trace.candidates[0].text == draft.text


def test_a_model_that_finds_nothing_is_not_asked_to_refine() -> None:
    model = ScriptedGenerator([Draft("", kind="none", confidence=0.9)])
    assert over(LIBRARY, model).ask(WHEN).trace.stopped == "no answer"
    assert len(model.calls) == 1


@pytest.mark.parametrize("text", [MIRA.text.replace("1952", "1951"), "", None])
def test_a_quotation_that_no_longer_stands_in_its_document_is_not_given(text: str | None) -> None:
    shelf = Shelf(LIBRARY)
    shelf.documents.pop("mira")
    if text is not None:
        shelf.documents["mira"] = MIRA.model_copy(update={"text": text})
    answer = Agent(shelf, ScriptedGenerator(the_year), documents=shelf.document).ask(WHEN)
    assert (answer.abstained, answer.citations) == (True, ())


def test_where_keeps_to_documents_with_these_values() -> None:
    library = [
        Document(id=str(year), text=f"The fee is {year} euros.", metadata={"year": year}) for year in (2020, 2021)
    ]
    agent = over(library, ScriptedGenerator(lambda prompt: pointing(prompt, prompt.evidence[0].text[11:15])))
    assert agent.ask("What is the fee?", where={"year": 2021}).text == "2021"


class Broken(ScriptedGenerator):
    def __init__(self, error: Exception) -> None:
        super().__init__(the_year)
        self.error = error

    def draft(self, prompt: Prompt, *, candidates: int = 1, max_passes: int = 4, seed: int = 0) -> Passes:
        passes = super().draft(prompt, candidates=candidates, max_passes=max_passes, seed=seed)
        yield next(passes)
        raise self.error


def test_a_model_that_fails_is_recorded_and_becomes_an_agents_error() -> None:
    with pytest.raises(ModelFailed, match="'scripted' gave no answer: the server said no") as caught:
        over(LIBRARY, Broken(GenerationFailed("the server said no"))).ask(WHEN)
    assert isinstance(caught.value, AgentError)
    assert isinstance(caught.value.__cause__, GenerationFailed)
    trace = caught.value.trace
    assert trace.errors == ("GenerationFailed: the server said no",)
    assert (trace.stopped, len(trace.passes), len(trace.evidence)) == ("model failed", 1, 3)


def test_a_programming_error_leaves_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        over(LIBRARY, Broken(ZeroDivisionError())).ask(WHEN)


def test_a_model_without_any_draft_has_failed() -> None:
    with pytest.raises(ModelFailed, match="no draft at all"):
        over(LIBRARY, Empty()).ask(WHEN)


class Empty(ScriptedGenerator):
    def draft(self, prompt: Prompt, *, candidates: int = 1, max_passes: int = 4, seed: int = 0) -> Passes:
        yield from ()
        return []


def test_the_answer_goes_through_json_unchanged_and_every_field_is_described() -> None:
    answer = over(LIBRARY, ScriptedGenerator(the_year)).ask(WHEN)
    assert Answer.model_validate_json(answer.model_dump_json()) == answer
    assert json.loads(answer.model_dump_json())["trace"]["hops"][0]["hits"][0]["rankers"] == {
        "words": {"rank": 1, "score": 5.0}
    }
    fields = Answer.model_json_schema()["properties"]
    assert [
        name for name, field in fields.items() if "description" not in field and name not in ("text", "trace")
    ] == []


def test_the_same_seed_gives_the_same_answer_but_for_time() -> None:
    def told(seed: int) -> Answer:
        agent = over(LIBRARY, ScriptedGenerator([Draft("Mira Holt restored it in 1952.", confidence=0.7)]), seed=seed)
        answer = agent.ask(WHEN)
        return answer.model_copy(update={"trace": answer.trace.model_copy(update={"seconds": {}})})

    assert told(3) == told(3)
    assert told(3).trace.seed == 3


def test_out_of_range_options_name_the_field() -> None:
    with pytest.raises(ValueError, match="top_k"):
        AgentOptions(top_k=0)


def test_the_public_names_are_these() -> None:
    import remask.agent

    own = "Agent AgentError AgentOptions Conversation InvalidQuestion InvalidSession LexicalScorer MemoryUnusable"
    own += " FieldAnswer ModelFailed SchemaUnusable Scorer Sessions Structured Tool ToolFailed"
    records = "Answer Candidate Citation Doubt Found Hop RefinePass Refinement Shown ToolCall Trace Verdict"
    events = "AnswerReady CitationsFound DraftMade DraftRefined Event EvidenceFound PassMade QuestionRewritten"
    events += " StageBegan ToolCalled"
    assert set(remask.agent.__all__) == {*own.split(), *records.split(), *events.split()}
    assert all(getattr(remask.agent, name) for name in remask.agent.__all__)


def test_importing_the_agent_loads_no_model_library() -> None:
    heavy = "torch transformers sentence_transformers faiss bm25s scipy bs4 pypdf docx"
    code = f"import sys; from remask.agent import Agent; print([m for m in {heavy.split()!r} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
