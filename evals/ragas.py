"""Ragas's metrics, one function a metric. The one module that imports ragas, which is optional and wants versions of its own.

ragas 0.4.3 does not import beside langchain-community 0.4.2, and needs an older openai and rich than the rest of remask is
tested with, so it belongs into an environment of its own. Our own metrics don't use it.
"""

import os
from collections.abc import Awaitable, Callable, Mapping
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol

from ..dllm.errors import BackendUnavailable
from ..retrieval.embed import Embedder

INSTALL = "pip install 'remask[ragas]', in an environment of its own"
_OFF = "RAGAS_DO_NOT_TRACK"


class Sample(NamedTuple):
    """One answered question as ragas wants it. `references` and `context_names` are what is named alike on both sides,
    titles; `reference` is a right answer."""

    question: str
    answer: str
    contexts: list[str]
    context_names: list[str]
    reference: str
    references: list[str]


Score = Callable[[Sample], Awaitable[float]]
"""May give NaN, where ragas finds nothing to score."""


class Judge(Protocol):
    """Gives JSON that answers a prompt and fits a JSON schema."""

    async def __call__(self, prompt: str, schema: Mapping[str, Any]) -> str: ...


def check_installed() -> None:
    """Raises BackendUnavailable with the command that installs it."""
    if find_spec("ragas") is None:
        raise BackendUnavailable(f"this needs ragas. Install it with: {INSTALL}")


def offline() -> dict[str, Score]:
    """Metrics that ask no model: which of the named texts were read."""
    _import()
    from ragas import SingleTurnSample
    from ragas.metrics import IDBasedContextPrecision, IDBasedContextRecall

    def by_name(metric: Any) -> Score:
        async def score(sample: Sample) -> float:
            shown, wanted = sample.context_names, sample.references
            given = SingleTurnSample(retrieved_context_ids=shown, reference_context_ids=wanted)
            return float(await metric.single_turn_ascore(given)) if shown and wanted else float("nan")

        return score

    return {
        "context precision by title": by_name(IDBasedContextPrecision()),
        "context recall by title": by_name(IDBasedContextRecall()),
    }


def embedded(embedder: Embedder) -> dict[str, Score]:
    """Metrics that need vectors only: how near the answer is to the right one."""
    _import()
    from ragas.metrics.collections import SemanticSimilarity

    metric = SemanticSimilarity(embeddings=_embedding(embedder))

    async def similarity(sample: Sample) -> float:
        if not sample.answer or not sample.reference:
            return float("nan")
        return float((await metric.ascore(reference=sample.reference, response=sample.answer)).value)

    return {"answer similarity": similarity}


def judged(judge: Judge, embedder: Embedder) -> dict[str, Score]:
    """Metrics that a language model judges."""
    _import()
    from ragas.metrics.collections import AnswerRelevancy, ContextPrecision, ContextRecall, Faithfulness

    model = _model(judge)
    relevancy = AnswerRelevancy(llm=model, embeddings=_embedding(embedder))
    faithfulness, precision, recall = Faithfulness(llm=model), ContextPrecision(llm=model), ContextRecall(llm=model)

    async def score_faithfulness(s: Sample) -> float:
        given = {"user_input": s.question, "response": s.answer, "retrieved_contexts": s.contexts}
        return float((await faithfulness.ascore(**given)).value) if s.answer and s.contexts else float("nan")

    async def score_relevancy(s: Sample) -> float:
        given = {"user_input": s.question, "response": s.answer}
        return float((await relevancy.ascore(**given)).value) if s.answer else float("nan")

    def with_reference(metric: Any) -> Score:
        async def score(s: Sample) -> float:
            given = {"user_input": s.question, "reference": s.reference, "retrieved_contexts": s.contexts}
            return float((await metric.ascore(**given)).value) if s.reference and s.contexts else float("nan")

        return score

    return {
        "faithfulness": score_faithfulness,
        "answer relevancy": score_relevancy,
        "context precision": with_reference(precision),
        "context recall": with_reference(recall),
    }


def _import() -> None:
    """Raises BackendUnavailable where ragas is missing or can't be imported beside what is installed."""
    check_installed()
    os.environ.setdefault(_OFF, "true")  # it would report its use to its makers
    try:
        import ragas  # noqa: F401
    except ImportError as error:
        raise BackendUnavailable(f"ragas can't be imported ({error}). Install it with: {INSTALL}") from error


def _embedding(embedder: Embedder) -> Any:
    from ragas.embeddings.base import BaseRagasEmbedding

    class Ours(BaseRagasEmbedding):  # type: ignore[misc, unused-ignore]
        def embed_text(self, text: str, **kwargs: Any) -> list[float]:
            return [float(value) for value in embedder.embed_passages([text])[0]]

        async def aembed_text(self, text: str, **kwargs: Any) -> list[float]:
            return self.embed_text(text)

    return Ours()


def _model(judge: Judge) -> Any:
    from ragas.llms.base import InstructorBaseRagasLLM

    class Ours(InstructorBaseRagasLLM):  # type: ignore[misc, unused-ignore]
        def generate(self, prompt: str, response_model: Any) -> Any:
            raise NotImplementedError("the metrics that are used here ask asynchronously")

        async def agenerate(self, prompt: str, response_model: Any) -> Any:
            return response_model.model_validate_json(await judge(prompt, response_model.model_json_schema()))

    return Ours()
