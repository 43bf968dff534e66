"""Synthetic corpora with a real one's statistics, and what is told of sizes."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from remask.retrieval.costs import Cost, Setting, at, crossing, fit, page
from remask.retrieval.dense import DenseIndex
from remask.retrieval.engines import Task, measured, prepare
from remask.retrieval.lexical import LexicalIndex
from remask.retrieval.postings import Postings
from remask.retrieval.quantised import QuantisedIndex
from remask.retrieval.synthetic import TextModel, shares, unit_vectors


def model() -> TextModel:
    random = np.random.default_rng(0)
    ranks = random.choice(2000, 40_000, p=shares(1.1, 2.7, 2000))
    words = [f"word{rank}" for rank in ranks]
    return TextModel.fitted([" ".join(words[start : start + 80]) for start in range(0, len(words), 80)])


def test_the_law_that_made_a_text_is_found_again():
    found = model()
    assert found.exponent == pytest.approx(1.1, abs=0.05)
    assert found.shift in (1.0, 2.7, 5.0)
    assert set(found.lengths) == {80}


def test_texts_follow_the_law_and_a_small_corpus_is_the_beginning_of_a_large_one():
    made = model()
    many = [text for chunk in made.texts(300, seed=3) for text in chunk]
    few = [text for chunk in made.texts(50, seed=3) for text in chunk]
    assert (len(many), few) == (300, many[:50])
    words = [word for text in many for word in text.split()]
    expected = shares(made.exponent, made.shift, 500_000)[0]
    assert words.count(made.words[0]) / len(words) == pytest.approx(expected, rel=0.15)
    assert {len(text.split()) for text in many} == {80}


def test_vectors_of_one_cluster_are_near_and_others_are_not():
    vectors = next(unit_vectors(400, 64, seed=0, clusters=4))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    cosines = np.sort((vectors @ vectors.T)[np.triu_indices(400, 1)])
    assert np.mean(cosines[-1000:]) > 0.35
    assert abs(np.median(cosines)) < 0.35
    questions = next(unit_vectors(3, 64, seed=0, clusters=4, part=1))
    assert not np.allclose(questions, vectors[:3])
    assert (questions @ vectors.T).max(axis=1).min() > 0.4


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abcdefg"), max_size=6), max_size=12), st.integers(1, 5))
def test_counting_in_chunks_is_counting_at_once(texts: list[list[str]], size: int):
    chunks = [texts[start : start + size] for start in range(0, len(texts), size)]
    whole, gathered = Postings.build(texts), Postings.gathered(chunks)
    assert list(whole.vocabulary) == list(gathered.vocabulary)
    for name in ("offsets_V1", "passages_P", "counts_P", "lengths_N"):
        assert np.array_equal(getattr(whole, name), getattr(gathered, name)), name
    assert gathered.passages_P.dtype == np.int32


@pytest.mark.parametrize("kind", ["sq8", "ivf-sq8"])
def test_a_quantised_index_finds_nearly_what_exact_search_finds(kind):
    vectors = next(unit_vectors(2000, 32, seed=0, clusters=20))
    exact, quantised = DenseIndex.build(vectors), QuantisedIndex(vectors, kind)
    shared = 0
    for query in next(unit_vectors(20, 32, seed=0, clusters=20, part=1)):
        shared += len({p for p, _ in exact.search(query, 10)} & {p for p, _ in quantised.search(query, 10)})
    assert shared / 200 > 0.9


def test_every_engine_is_measured_and_approximate_ones_against_exact_search(tmp_path: Path):
    made = model()
    prepare(Task("", 300, tmp_path, made, 16, 5, 1, 0))
    costs = [
        measured(Task(engine, 300, tmp_path, made, 16, 5, 1, 0))
        for engine in ("lexical", "flat", "sq8", "hnsw", "hybrid")
    ]
    assert [cost.engine for cost in costs] == ["lexical", "flat", "sq8", "hnsw", "hybrid"]
    assert all(cost.p95_ms >= cost.p50_ms > 0 and cost.peak_mib > 1 and cost.disk_mib > 0 for cost in costs)
    assert [cost.recall is not None for cost in costs] == [False, False, True, True, False]
    assert all(cost.recall is None or cost.recall > 0.8 for cost in costs)
    assert costs[-1].open_seconds is not None


def test_a_line_through_logarithms_leads_on_and_lines_cross():
    line = fit([(1_000, 1.0), (10_000, 10.0), (100_000, 100.0)])
    assert line is not None
    assert at(line, 1_000_000) == pytest.approx(1000, rel=1e-3)
    assert crossing((1.0, 0.001), (0.0, 2.0)) == pytest.approx(2000)
    assert crossing((0.5, 1.0), (1.0, 1.0)) is None
    assert fit([(10, 1.0)]) is None


def test_the_page_says_what_was_measured_what_pays_and_what_is_arithmetic():
    def cost(engine: str, size: int, milliseconds: float) -> Cost:
        return Cost(
            engine=engine,
            passages=size,
            build_seconds=size / 1000,
            peak_mib=size / 100,
            disk_mib=1,
            p50_ms=milliseconds,
            p95_ms=9,
        )

    costs = [cost("flat", 10_000, 1), cost("flat", 100_000, 10), cost("hnsw", 10_000, 2), cost("hnsw", 100_000, 2)]
    about = Setting(
        corpus="samples", exponent=1, shift=0, mean_words=80, dimension=16, queries=5, threads=2, machine="here", seed=0
    )
    text = page(costs, about)
    assert "- hnsw is quicker than exact search above 20,000 passages." in text
    assert "| flat | 100,000 | 100.0 s | 1,000 MiB" in text
    assert "| flat | 10.00 s | 27.8 h | 977 GiB | 16 |" in text
    assert "Arithmetic, not measurement" in text


def test_building_words_takes_any_iterable():
    texts = ["red apples", "blue plums"]
    assert LexicalIndex.build(iter(texts)).search("plum", 1) == LexicalIndex.build(texts).search("plum", 1)
