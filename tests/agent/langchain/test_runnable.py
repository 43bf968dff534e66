"""An agent as a Runnable, alone and in a LangGraph graph; the retriever in a chain."""

import subprocess
import sys
from typing import Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from remask.agent import InvalidQuestion
from remask.agent.langchain import HybridRetriever, as_runnable
from remask.dllm.draft import Draft, Prompt
from remask.dllm.scripted import ScriptedGenerator, pointing
from remask.retrieval import HashEmbedder

from ..shelf import LIBRARY, MIRA, over

WHEN = "When did Mira Holt restore the fresco?"


def script(prompt: Prompt) -> Draft:
    if "Mira Holt" not in prompt.question:
        return Draft("", kind="none")
    return pointing(prompt, "1990" if "die" in prompt.question else "1952")


def runnable() -> Any:
    return as_runnable(over(LIBRARY, ScriptedGenerator(script)))


@pytest.mark.parametrize(
    "given",
    [WHEN, {"question": WHEN}, {"messages": [HumanMessage(WHEN)]}, [HumanMessage(WHEN)], HumanMessage(WHEN), [("human", WHEN)]],
)  # fmt: skip
def test_a_question_comes_in_any_of_langchains_shapes(given: Any) -> None:
    answer = runnable().invoke(given)
    (block,) = answer.content_blocks
    (citation,) = block["annotations"]
    extras = citation["extras"]
    assert answer.text == "1952"
    assert MIRA.text[extras["source_start"] : extras["source_end"]] == citation["cited_text"]
    assert extras["document_id"] == "mira"
    assert answer.response_metadata["abstained"] is False


def test_an_abstention_says_why() -> None:
    told = runnable().invoke("How many whales are in the chapel?").response_metadata
    assert told["abstained"] is True
    assert told["reason"]


@pytest.mark.parametrize("given", [{"text": WHEN}, {}, [AIMessage("hello")]])
def test_an_input_without_a_question_is_refused(given: Any) -> None:
    with pytest.raises(InvalidQuestion):
        runnable().invoke(given)


async def test_each_event_is_dispatched_as_it_happens() -> None:
    events = [e async for e in runnable().astream_events(WHEN, version="v2") if e["event"] == "on_custom_event"]
    kinds = [event["data"]["type"] for event in events]
    assert kinds[0] == "stage"
    assert "pass" in kinds
    assert kinds[-1] == "answer"
    assert {event["name"] for event in events} == {"remask"}


def test_a_request_id_in_the_metadata_goes_into_the_trace() -> None:
    answer = runnable().invoke(WHEN, {"metadata": {"request_id": "r-7"}})
    assert answer.response_metadata["request_id"] == "r-7"


def test_without_langchain_the_error_says_what_to_install() -> None:
    code = (
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name == 'langchain_core' else real(name, *more)\n"
        "import remask.agent.langchain"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'remask[langchain]'" in run.stderr.splitlines()[-1]


async def test_batches_and_async_give_the_same() -> None:
    assert [answer.text for answer in runnable().batch([WHEN, WHEN])] == ["1952", "1952"]
    assert (await runnable().ainvoke(WHEN)).text == "1952"


def test_a_graph_answers_and_a_followup_in_its_thread_is_asked_in_full() -> None:
    graph = StateGraph(MessagesState)
    graph.add_node("answer", runnable() | (lambda message: {"messages": [message]}))
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    app = graph.compile(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}
    first = app.invoke({"messages": [HumanMessage(WHEN)]}, thread)
    assert first["messages"][-1].text == "1952"
    second = app.invoke({"messages": [HumanMessage("and when did she die?")]}, thread)
    assert second["messages"][-1].text == "1990"
    assert second["messages"][-1].response_metadata["question"] == "When did Mira Holt die?"


class Routed(TypedDict):
    question: str
    found: list[str]
    answer: str


def test_a_graph_that_searches_first_only_asks_where_something_was_found() -> None:
    """Retriever and agent as nodes of their own, with a branch between them."""
    retriever = HybridRetriever.from_documents(LIBRARY, embedder=HashEmbedder(), k=1)
    graph = StateGraph(Routed)
    find = RunnableLambda(lambda state: state["question"]) | retriever
    graph.add_node("search", find | (lambda found: {"found": [document.metadata["document_id"] for document in found]}))
    graph.add_node("ask", runnable() | (lambda message: {"answer": message.text}))
    graph.add_edge(START, "search")
    graph.add_conditional_edges("search", lambda state: "ask" if "mira" in state["found"] else END)
    graph.add_edge("ask", END)
    app = graph.compile()
    assert app.invoke({"question": WHEN, "found": [], "answer": ""})["answer"] == "1952"
    assert app.invoke({"question": "Which spring feeds the Blau river?", "found": [], "answer": ""})["answer"] == ""


def test_a_found_document_stands_where_its_metadata_says() -> None:
    retriever = HybridRetriever.from_documents(LIBRARY, embedder=HashEmbedder())
    for document in retriever.invoke("whale fresco"):
        source = next(d for d in LIBRARY if d.id == document.metadata["document_id"])
        assert source.text[document.metadata["start"] : document.metadata["end"]] == document.page_content
        assert set(document.metadata["rankers"]) <= {"lexical", "dense"}
