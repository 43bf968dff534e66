"""The official client of OpenAI's dialect, unchanged, against a real server."""

from typing import Any

import httpx2 as httpx
import numpy as np
import openai
import pytest
from remask.retrieval import HashEmbedder

from .running import WHEN, client, in_memory, served, service_over

ASKED: list[Any] = [{"role": "user", "content": WHEN}]


@pytest.fixture(scope="module")
def address() -> Any:
    with served(service_over(in_memory())) as one:
        yield one


@pytest.fixture(scope="module")
def ai(address: str) -> Any:
    with openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0, timeout=30) as one:
        yield one


def test_a_completion_is_the_cited_answer(ai: openai.OpenAI) -> None:
    made = ai.chat.completions.create(model="scripted", messages=ASKED)
    assert made.choices[0].message.content == "1952"
    assert made.choices[0].finish_reason == "stop"
    assert made.usage is not None
    assert made.usage.total_tokens == made.usage.prompt_tokens + made.usage.completion_tokens == 11 + 1
    ours: Any = (made.model_extra or {})["remask"]
    assert ours["citations"][0]["quote"] == "In 1952 she restored the fresco of Saint Anne."


def test_a_stream_puts_the_answer_together(ai: openai.OpenAI) -> None:
    chunks = list(
        ai.chat.completions.create(
            model="scripted", messages=ASKED, stream=True, stream_options={"include_usage": True}
        )
    )
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == "1952"
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-2:] == [None, "stop"]
    assert chunks[-1].usage is not None
    assert len({chunk.id for chunk in chunks}) == 1


def test_without_asking_there_is_no_usage_chunk(ai: openai.OpenAI) -> None:
    chunks = list(ai.chat.completions.create(model="remask", messages=ASKED, stream=True))
    assert all(chunk.choices and chunk.usage is None for chunk in chunks)


def test_a_diffusing_stream_shows_the_whole_text_in_every_event(ai: openai.OpenAI) -> None:
    stream = ai.chat.completions.create(model="scripted", messages=ASKED, stream=True, extra_body={"diffusing": True})
    chunks = list(stream)
    texts = [c.choices[0].delta.content for c in chunks if c.choices and c.choices[0].delta.content]
    assert texts[0] == "▒"
    assert texts[-1] == "1952"
    reasons = [c.choices[0].finish_reason for c in chunks if c.choices]
    assert reasons == [None] * (len(reasons) - 1) + ["stop"]
    assert not chunks[-1].choices
    assert chunks[-1].usage is not None


def test_the_stream_ends_with_done_on_the_wire(address: str) -> None:
    body = {"messages": ASKED, "stream": True, "diffusing": True}
    lines = httpx.post(f"{address}/v1/chat/completions", json=body, trust_env=False).text.rstrip("\n").split("\n\n")
    assert lines[-1] == "data: [DONE]"
    assert all(line.startswith("data: ") for line in lines)


def test_earlier_messages_say_what_a_follow_up_means(ai: openai.OpenAI) -> None:
    talk: list[Any] = [
        {"role": "system", "content": "Answer like a pirate."},
        {"role": "user", "content": "Who was Mira Holt?"},
        {"role": "assistant", "content": "a painter from Ulm"},
        {"role": "user", "content": [{"type": "text", "text": "When did she restore the fresco?"}]},
    ]
    assert ai.chat.completions.create(model="scripted", messages=talk).choices[0].message.content == "1952"


@pytest.mark.asyncio
async def test_the_asynchronous_client_streams_too(address: str) -> None:
    async with openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as ai:
        stream = await ai.chat.completions.create(model="scripted", messages=ASKED, stream=True)
        text = "".join([c.choices[0].delta.content or "" async for c in stream])
    assert text == "1952"


def test_the_models_are_listed_and_found_by_name(ai: openai.OpenAI) -> None:
    assert [model.id for model in ai.models.list()] == ["scripted", "hash:16"]
    assert ai.models.retrieve("hash:16").owned_by == "remask"
    with pytest.raises(openai.NotFoundError, match="no model 'gpt'"):
        ai.models.retrieve("gpt")


@pytest.mark.parametrize("encoding", ["float", "base64"])
def test_embeddings_are_the_embedders_own(ai: openai.OpenAI, encoding: Any) -> None:
    texts = ["the fresco of Saint Anne", "ein Fluß 🌊"]
    made = ai.embeddings.create(model="hash:16", input=texts, encoding_format=encoding)
    known = HashEmbedder(16).embed_passages(texts)
    for one, vector in zip(made.data, known, strict=True):
        found: Any = one.embedding
        if isinstance(found, str):
            import base64

            found = np.frombuffer(base64.b64decode(found), dtype="<f4")
        np.testing.assert_allclose(np.asarray(found, dtype=np.float32), vector, rtol=1e-6)


def test_the_client_reads_embeddings_as_it_asks_by_itself(ai: openai.OpenAI) -> None:
    assert len(ai.embeddings.create(model="remask", input="one text").data[0].embedding) == 16


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"n": 2}, "n=2"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"logprobs": True}, "logprobs"),
        ({"extra_body": {"diffusing": True}}, "stream=true"),
        ({"messages": [{"role": "assistant", "content": "hello"}]}, "the user's"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, "image_url"),
    ],
)
def test_what_cannot_be_done_is_refused_in_the_clients_own_way(
    ai: openai.OpenAI, more: dict[str, Any], says: str
) -> None:
    with pytest.raises(openai.BadRequestError, match=says):
        ai.chat.completions.create(**{"model": "scripted", "messages": ASKED, **more})


def test_sampling_settings_are_taken_and_change_nothing(ai: openai.OpenAI) -> None:
    made = ai.chat.completions.create(
        model="scripted", messages=ASKED, temperature=1.9, top_p=0.1, max_tokens=5, stop=["x"], user="me"
    )
    assert made.choices[0].message.content == "1952"


def test_an_unknown_model_and_a_wrong_key_are_the_clients_own_errors() -> None:
    service = service_over(in_memory(), keys=("a very long secret key",))
    with served(service) as address:
        wrong = openai.OpenAI(base_url=f"{address}/v1", api_key="a very long secret keY", max_retries=0)
        right = openai.OpenAI(base_url=f"{address}/v1", api_key="a very long secret key", max_retries=0)
        with wrong, right:
            with pytest.raises(openai.AuthenticationError, match="wants a key"):
                wrong.chat.completions.create(model="scripted", messages=ASKED)
            with pytest.raises(openai.NotFoundError, match="no model 'gpt-9'"):
                right.chat.completions.create(model="gpt-9", messages=ASKED)
            assert right.chat.completions.create(model="scripted", messages=ASKED).choices[0].message.content


@pytest.mark.parametrize("body", [{"input": [1, 2, 3]}, {"input": []}, {"input": [""]}, {"input": ["a"] * 257}])
def test_texts_that_cannot_be_embedded_are_refused(body: dict[str, Any], address: str) -> None:
    response = httpx.post(f"{address}/v1/embeddings", json=body, trust_env=False)
    assert response.status_code == 400


def test_an_error_within_a_stream_is_raised_by_the_client() -> None:
    from remask.dllm.errors import GenerationFailed
    from remask.dllm.scripted import ScriptedGenerator

    def broken(prompt: Any) -> Any:
        raise GenerationFailed("no numbers came out")

    with client(service_over(in_memory(), ScriptedGenerator(broken))) as web:
        ai = openai.OpenAI(base_url=f"{web.base_url}/v1", api_key="none", max_retries=0)
        with ai, pytest.raises(openai.APIError, match="no numbers came out"):
            list(ai.chat.completions.create(model="scripted", messages=ASKED, stream=True))
