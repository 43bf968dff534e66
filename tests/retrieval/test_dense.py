import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from remask.retrieval.dense import DenseIndex
from remask.retrieval.errors import InvalidDocuments

SMALL_INTS = st.integers(-2, 2).map(float)  # few values, so that there are many ties


def vectors(rows: st.SearchStrategy[int]) -> st.SearchStrategy[np.ndarray]:
    return rows.flatmap(lambda n: arrays(np.float32, (n, 3), elements=SMALL_INTS))


def random_vectors(rows: int, dimensions: int = 16, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((rows, dimensions), dtype=np.float32)


@given(
    rows=vectors(st.integers(1, 40)),
    query=arrays(np.float32, 3, elements=SMALL_INTS),
    k=st.integers(1, 45),
    data=st.data(),
)
def test_exact_search_is_a_full_sort_by_cosine_then_position(rows, query, k, data):
    allowed = data.draw(st.none() | arrays(np.bool_, len(rows)))
    index = DenseIndex.build(rows)
    cosines = index.scores(query, range(len(rows)))
    found = index.search(query, k, allowed=allowed)
    eligible = [i for i in range(len(rows)) if allowed is None or allowed[i]]
    assert len(found) == len({position for position, _ in found}) == min(k, len(eligible))
    assert {position for position, _ in found} <= set(eligible)
    assert [score for _, score in found] == pytest.approx(sorted(cosines[eligible], reverse=True)[:k], abs=1e-6)
    assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))


@pytest.mark.parametrize("k", [1, 3, 120])
def test_of_equal_vectors_the_earlier_positions_are_found(k):
    index = DenseIndex.build(np.tile(random_vectors(1), (400, 1)))
    assert [position for position, _ in index.search(random_vectors(1)[0], k)] == list(range(k))


def test_a_passage_equal_to_the_question_has_cosine_one_and_comes_first():
    rows = random_vectors(50)
    position, score = DenseIndex.build(rows * 7).search(rows[31], k=1)[0]
    assert (position, score) == (31, pytest.approx(1.0))


def test_a_filter_applies_before_the_best_are_picked():
    near, far = np.array([1.0, 0.1], dtype=np.float32), np.array([0.0, 1.0], dtype=np.float32)
    rows = np.stack([near] * 1000 + [far] * 5)
    allowed = np.arange(1005) >= 1000
    found = DenseIndex.build(rows).search(np.array([1.0, 0.0], dtype=np.float32), k=5, allowed=allowed)
    assert [position for position, _ in found] == [1000, 1001, 1002, 1003, 1004]


def test_a_filtered_search_of_a_graph_is_exact():
    rows, query = random_vectors(600), random_vectors(1, seed=1)[0]
    allowed = np.arange(600) % 50 == 7
    exact, graph = DenseIndex.build(rows), DenseIndex.build(rows, exact_up_to=100)
    assert graph.approximate
    assert not exact.approximate
    assert graph.search(query, 10, allowed=allowed) == exact.search(query, 10, allowed=allowed)


def test_a_graph_finds_nearly_all_that_exact_search_finds():
    rows, queries = random_vectors(3000, 32), random_vectors(50, 32, seed=1)
    exact, graph = DenseIndex.build(rows), DenseIndex.build(rows, exact_up_to=0)
    shared = [{p for p, _ in exact.search(q, 10)} & {p for p, _ in graph.search(q, 10)} for q in queries]
    assert sum(map(len, shared)) / 500 > 0.95


def test_a_graph_grows_without_a_rebuild_and_leaves_the_old_one_alone():
    old = DenseIndex.build(random_vectors(200), exact_up_to=100)
    query = random_vectors(1, seed=5)[0]
    old.search(query, 1)
    grown = old.rearranged(query[None], np.arange(201))
    assert grown.search(query, 1)[0][0] == 200
    assert len(old.search(query, 200)) == 200
    assert old.graph.ntotal == 200


@pytest.mark.parametrize("exact_up_to", [0, 1000])
def test_a_removed_vector_is_gone_and_the_others_keep_their_places(exact_up_to):
    rows = random_vectors(30)
    index = DenseIndex.build(rows, exact_up_to=exact_up_to)
    index.search(rows[0], 1)
    kept = [i for i in range(30) if i != 10]
    smaller = index.rearranged(np.zeros((0, 16), dtype=np.float32), np.array(kept))
    for position, original in enumerate(kept):
        assert smaller.search(rows[original], 1)[0] == (position, pytest.approx(1.0))
    assert smaller.search(rows[10], 1)[0][1] < 0.999


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_refused_when_added_and_when_asked(wrong):
    rows = random_vectors(3)
    index = DenseIndex.build(rows)
    bad = rows.copy()
    bad[1, 4] = wrong
    with pytest.raises(InvalidDocuments, match="vector 1 holds a value that is not finite"):
        DenseIndex.build(bad)
    with pytest.raises(InvalidDocuments, match="not finite"):
        index.rearranged(bad, np.arange(6))
    with pytest.raises(InvalidDocuments, match="not finite"):
        index.search(bad[1], 1)


def test_a_zero_vector_scores_zero():
    index = DenseIndex.build(np.array([[0, 0], [1, 0]], dtype=np.float32))
    assert index.search(np.array([1, 0], dtype=np.float32), 2) == [(1, 1.0), (0, 0.0)]
    assert index.search(np.zeros(2, dtype=np.float32), 2) == [(0, 0.0), (1, 0.0)]


def test_an_empty_index_finds_nothing_and_takes_the_dimensions_of_what_is_added():
    empty = DenseIndex.build(np.zeros((0, 0), dtype=np.float32))
    assert empty.search(np.ones(4, dtype=np.float32), 3) == []
    grown = empty.rearranged(random_vectors(2, 4), np.arange(2))
    assert len(grown.search(np.ones(4, dtype=np.float32), 3)) == 2


def test_vectors_of_another_dimension_are_refused():
    with pytest.raises(InvalidDocuments, match="8 dimensions can't join vectors of 16"):
        DenseIndex.build(random_vectors(2, 16)).rearranged(random_vectors(2, 8), np.arange(4))


def test_importing_faiss_warns_nobody():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DenseIndex.build(random_vectors(2)).search(random_vectors(1)[0], 1)
