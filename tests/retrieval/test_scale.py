"""Synthetic corpora with a real one's statistics, and what is told of sizes."""

from itertools import chain, islice
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
from remask.retrieval.scale import app
from remask.retrieval.synthetic import WIKIPEDIA, TextModel, shares, unit_vectors
from typer.testing import CliRunner


def model() -> TextModel:
    return TextModel(0.95, 1.8, (80,))


def test_the_law_that_made_a_text_is_found_again():
    made = TextModel(0.8, 2.0, (80,))
    found = TextModel.fitted([text for chunk in made.texts(5000, seed=0) for text in chunk])
    assert found.exponent == pytest.approx(0.8, abs=0.051)
    assert found.tail == pytest.approx(2.0, abs=0.21)
    assert set(found.lengths) == {80}
    with pytest.raises(ValueError, match="Give a corpus with text"):
        TextModel.fitted(["", "..."])


def test_texts_follow_the_law_and_a_small_corpus_is_the_beginning_of_a_large_one():
    made = model()
    many = [text for chunk in made.texts(300, seed=3) for text in chunk]
    few = [text for chunk in made.texts(50, seed=3) for text in chunk]
    assert (len(many), few) == (300, many[:50])
    words = [word for text in many for word in text.split()]
    expected = shares(made.exponent, made.tail, 500_000)[0]
    assert words.count("w0") / len(words) == pytest.approx(expected, rel=0.15)
    assert {len(text.split()) for text in many} == {80}


@pytest.mark.parametrize(("words", "different"), [(10_000, 2_424), (100_000, 11_464), (1_000_000, 47_527)])
def test_as_many_different_words_come_up_as_in_real_paragraphs(words, different):
    """Counted in the 16,837 paragraphs of Wikipedia that `WIKIPEDIA` was fitted to; rarer words than theirs would make an index
    dearer than a real one."""
    texts = (text for chunk in WIKIPEDIA.texts(words // 80, seed=0) for text in chunk)
    drawn = list(islice(chain.from_iterable(text.split() for text in texts), words))
    assert len(drawn) == words
    assert len(set(drawn)) == pytest.approx(different, rel=0.35)


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
            peak_mib=100 + size / 100,
            disk_mib=1,
            p50_ms=milliseconds,
            p95_ms=9,
        )

    costs = [cost("flat", 10_000, 1), cost("flat", 100_000, 10), cost("hnsw", 10_000, 2), cost("hnsw", 100_000, 2)]
    about = Setting(
        corpus="samples", exponent=1, tail=2, mean_words=80, dimension=16, queries=5, threads=2, machine="here", seed=0
    )
    text = page(costs, about)
    assert "- hnsw is quicker than exact search above 20,000 passages." in text
    assert "| flat | 100,000 | 100.0 s | 1,100 MiB" in text
    assert "| flat | 10,000.0 ms | 27.8 h | 977 GiB | 16 |" in text
    assert "| hnsw | 2.0 ms |" in text
    quicker = page([cost("hnsw", 10_000, 4), cost("hnsw", 100_000, 2)], about)
    assert "| hnsw | 2.0 ms |" in quicker, "a question gets no quicker beyond what was measured"
    assert "Arithmetic, not measurement" in text


def test_building_words_takes_any_iterable():
    texts = ["red apples", "blue plums"]
    assert LexicalIndex.build(iter(texts)).search("plum", 1) == LexicalIndex.build(texts).search("plum", 1)


def run(*arguments: str):
    small = ("--size", "200", "--dimension", "16", "--queries", "4", "--threads", "1")
    return CliRunner().invoke(app, [*small, *arguments], env={"COLUMNS": "200"})


def test_an_engine_alone_is_given_what_it_needs_of_others(tmp_path: Path):
    alone = run("--out", str(tmp_path), "--engine", "hnsw", "--engine", "hybrid")
    assert alone.exit_code == 0, alone.output
    lines = (tmp_path / "costs.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    graph, hybrid = (Cost.model_validate_json(line) for line in lines)
    assert (graph.engine, hybrid.engine) == ("hnsw", "hybrid")
    assert (graph.recall or 0) > 0.8


def test_a_run_cut_short_goes_on_where_it_was_and_one_of_another_setting_is_refused(tmp_path: Path):
    out = tmp_path / "out"
    begun = run("--out", str(out), "--engine", "lexical", "--engine", "flat")
    assert begun.exit_code == 0, begun.output
    kept = out / "costs.jsonl"
    first = kept.read_text(encoding="utf-8")
    assert len(first.splitlines()) == 3
    kept.write_text(first + first.splitlines()[2][:40], encoding="utf-8")  # killed while it wrote
    ended = run("--out", str(out), "--engine", "lexical", "--engine", "flat", "--engine", "sq8")
    assert ended.exit_code == 0, ended.output
    assert kept.read_text(encoding="utf-8").startswith(first)
    costs = [Cost.model_validate_json(line) for line in kept.read_text(encoding="utf-8").splitlines()[1:]]
    assert [cost.engine for cost in costs] == ["lexical", "flat", "sq8"]
    assert (costs[-1].recall or 0) > 0.8, "exact answers are needed again, though exact search was measured before"
    assert "| sq8 | 200 |" in (out / "scale.md").read_text(encoding="utf-8")
    assert (out / "scale.png").read_bytes().startswith(b"\x89PNG")
    other = run("--out", str(out), "--seed", "7")
    assert other.exit_code == 2
    assert "seed = 0, not 7" in " ".join(other.output.split())
    kept.write_text("nonsense\n", encoding="utf-8")
    assert "Delete it, or use another folder" in " ".join(run("--out", str(out)).output.replace("│", " ").split())
