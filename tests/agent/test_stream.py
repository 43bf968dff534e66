"""The events of a run, in order, in both kinds of stream, and what closing one stops."""

import asyncio
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from remask.agent import AnswerReady, DraftMade, DraftRefined, Event, EvidenceFound, PassMade, StageBegan
from remask.agent.background import in_thread
from remask.dllm.draft import CanvasPass, Draft, Passes, Prompt
from remask.dllm.scripted import ScriptedGenerator, pointing

from .shelf import LIBRARY, over

WHEN = "When did Mira Holt restore the fresco?"


def doubtful(prompt: Prompt) -> Draft:
    return pointing(prompt, "In 1952 she restored the fresco", confidence=0.3)


def named(events: list[Event]) -> list[str]:
    return [event.type if not isinstance(event, StageBegan) else f"{event.type}:{event.stage}" for event in events]


def without_times(event: Event) -> str:
    return event.model_dump_json(exclude={"answer": {"trace": {"seconds"}}})


def test_events_come_in_the_order_in_which_things_happen() -> None:
    model = ScriptedGenerator(lambda prompt: replace(doubtful(prompt), bridge="the deep Blau"))
    agent = over(LIBRARY, model, run_passes=2, max_refinements=1, top_k=1)
    assert named(list(agent.stream(WHEN))) == [
        "stage:retrieve",
        "evidence",
        "stage:draft",
        *["pass"] * 3,
        "draft",
        "stage:retrieve",
        "evidence",
        "stage:draft",
        *["pass"] * 3,
        "draft",
        "stage:refine",
        *["pass"] * 3,
        "refined",
        "stage:cite",
        "citations",
        "answer",
    ]


def test_the_canvas_fills_in_pass_by_pass() -> None:
    agent = over(LIBRARY, ScriptedGenerator([Draft("restored in 1952", confidence=0.9)]), run_passes=3)
    made = [event.made for event in agent.stream(WHEN) if isinstance(event, PassMade)]
    assert [(each.index, each.canvas.count("▒"), each.committed, each.masked) for each in made] == [
        (0, 3, 0, 3),
        (1, 2, 1, 2),
        (2, 1, 1, 1),
        (3, 0, 1, 0),
    ]


def test_asking_gives_what_the_stream_ends_with() -> None:
    agent = over(LIBRARY, ScriptedGenerator(doubtful))
    *_, last = agent.stream(WHEN)
    assert isinstance(last, AnswerReady)
    assert agent.ask(WHEN).model_dump(exclude={"trace"}) == last.answer.model_dump(exclude={"trace"})


def test_every_event_goes_through_json() -> None:
    for event in over(LIBRARY, ScriptedGenerator(doubtful)).stream(WHEN):
        assert type(event).model_validate_json(event.model_dump_json()) == event


def test_the_async_stream_yields_the_same_events() -> None:
    async def collected() -> list[Event]:
        return [event async for event in over(LIBRARY, ScriptedGenerator(doubtful)).astream(WHEN)]

    plain = over(LIBRARY, ScriptedGenerator(doubtful)).stream(WHEN)
    assert [without_times(e) for e in asyncio.run(collected())] == [without_times(e) for e in plain]


def test_asking_asynchronously_gives_the_answer() -> None:
    agent = over(LIBRARY, ScriptedGenerator(doubtful))
    assert asyncio.run(agent.aask(WHEN)).citations == agent.ask(WHEN).citations


def test_an_error_in_the_async_stream_reaches_the_caller() -> None:
    def broken(prompt: Prompt) -> Draft:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(over(LIBRARY, ScriptedGenerator(broken)).aask(WHEN))


def test_closing_the_stream_stops_the_model_before_its_next_pass() -> None:
    model = ScriptedGenerator([Draft("a b c d e f g h", confidence=0.9)])
    stream = over(LIBRARY, model, run_passes=8).stream(WHEN)
    for event in stream:
        if isinstance(event, PassMade) and event.made.index == 2:
            break
    stream.close()
    assert model.passes == 2


def test_a_stream_that_is_dropped_while_refining_stops_too() -> None:
    model = ScriptedGenerator(doubtful)
    stream = over(LIBRARY, model, run_passes=4).stream(WHEN)
    next(event for event in stream if isinstance(event, PassMade) and event.made.stage == "refine")
    made = model.passes
    stream.close()
    assert model.passes == made
    assert list(stream) == []


def test_closing_the_async_stream_stops_the_model_before_its_next_pass() -> None:
    model = ScriptedGenerator([Draft("a b c d e f g h", confidence=0.9)])

    async def watch() -> None:
        stream = over(LIBRARY, model, run_passes=8).astream(WHEN)
        async for event in stream:
            if isinstance(event, PassMade) and event.made.index == 2:
                break
        await stream.aclose()

    asyncio.run(watch())
    assert model.passes == 2


class Slow(ScriptedGenerator):
    """Each pass waits until it is let through."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.let_through, self.closed = threading.Event(), threading.Event(), threading.Event()

    def draft(self, prompt: Prompt, *, candidates: int = 1, max_passes: int = 4, seed: int = 0) -> Passes:
        try:
            for index in range(1, 100):
                self.passes = index
                self.inside.set()
                self.let_through.wait(10)
                yield CanvasPass(index, "▒", 0, 1)
        finally:
            self.closed.set()
        return [Draft("never")]


def test_cancelling_within_a_pass_lets_it_end_and_makes_no_other() -> None:
    model = Slow()

    async def watch() -> None:
        task = asyncio.create_task(over(LIBRARY, model).aask(WHEN))
        await asyncio.to_thread(model.inside.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        model.let_through.set()

    asyncio.run(watch())
    assert model.closed.wait(10)
    assert model.passes == 1


def test_a_thread_never_takes_two_steps_of_one_stream_at_once() -> None:
    def counted() -> Iterator[int]:
        for number in range(3):
            time.sleep(0.01)
            yield number

    async def twice() -> list[list[int]]:
        async def collected() -> list[int]:
            return [number async for number in in_thread(counted)]  # type: ignore[arg-type]

        return list(await asyncio.gather(collected(), collected()))

    assert asyncio.run(twice()) == [[0, 1, 2], [0, 1, 2]]


def test_two_questions_at_once_do_not_mix() -> None:
    model = ScriptedGenerator(
        {WHEN: Draft("1952", confidence=0.9), "How long is the Blau?": Draft("22 km", confidence=0.9)}
    )
    agent = over(LIBRARY, model)

    async def both() -> list[str]:
        answers = await asyncio.gather(agent.aask(WHEN), agent.aask("How long is the Blau?"))
        return [f"{answer.text} {answer.trace.question}" for answer in answers]

    assert asyncio.run(both()) == [f"1952 {WHEN}", "22 km How long is the Blau?"]


def test_a_slow_reader_of_the_stream_does_not_use_up_the_agents_time() -> None:
    seen = []
    for event in over(LIBRARY, ScriptedGenerator(doubtful), max_seconds=0.5).stream(WHEN):
        time.sleep(0.06)
        seen.append(event)
    (answer,) = [event.answer for event in seen if isinstance(event, AnswerReady)]
    assert answer.trace.stopped != "out of seconds"
    assert any(isinstance(event, DraftRefined) for event in seen)
    assert sum(isinstance(event, DraftMade | EvidenceFound) for event in seen) >= 2
