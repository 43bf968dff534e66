import numpy as np
import pytest
from remask.retrieval import FusionOptions, HashEmbedder, HybridRetriever, IndexUnusable, Passage, Ranked
from remask.retrieval.dense import DenseIndex
from remask.retrieval.lexical import LexicalIndex

TEXTS = ["red apple", "red red red plum", "green pear", "yellow fig"]


class Compass:
    """Every question points along the first axis."""

    name = fingerprint = "compass"

    def embed_passages(self, texts, *, progress=None):
        raise AssertionError("the passages have their vectors already")

    def embed_query(self, text):
        return np.array([1.0, 0.0], dtype=np.float32)


def retriever(**fusion: object) -> HybridRetriever:
    # Cosines with the question: 0, 0.6, 1, 0.8.
    vectors = np.array([[0, 1], [3, 4], [1, 0], [4, 3]], dtype=np.float32)
    passages = [Passage(str(i), text, 0, len(text)) for i, text in enumerate(TEXTS)]
    options = FusionOptions(**fusion)  # type: ignore[arg-type]
    return HybridRetriever(passages, LexicalIndex.build(TEXTS), DenseIndex.build(vectors), Compass(), fusion=options)


def test_a_weighted_sum_is_the_one_worked_out_by_hand():
    lexical = LexicalIndex.build(TEXTS).scores("red")
    share = lexical[0] / lexical[1]  # passage 1 is the best of the words
    expected = {"0": 0.3 * share + 0.7 * 0.5, "1": 0.3 + 0.7 * 0.8, "2": 0.7, "3": 0.7 * 0.9}
    assert {hit.passage.document_id: hit.score for hit in retriever().search("red", 4)} == pytest.approx(expected)


def test_a_passage_that_one_ranker_did_not_list_counts_with_its_exact_score():
    hits = {hit.passage.document_id: hit for hit in retriever(depth=1).search("red", 1)}
    # Each ranker lists one passage: 1 for its words, 2 for its vector. Passage 1 still counts with its cosine of 0.6.
    assert hits["1"].score == pytest.approx(0.3 + 0.7 * 0.8)
    assert hits["1"].rankers == {"lexical": Ranked(1, pytest.approx(LexicalIndex.build(TEXTS).scores("red")[1]))}


def test_reciprocal_ranks_are_fused_by_rank_alone():
    hits = retriever(method="rrf", rrf_k=1).search("red", 4)
    # Words rank 1, 0; vectors 2, 3, 1, 0.
    expected = {"1": 1 / 2 + 1 / 4, "2": 1 / 2, "0": 1 / 3 + 1 / 5, "3": 1 / 3}
    assert {hit.passage.document_id: hit.score for hit in hits} == pytest.approx(expected)
    assert hits[0].rankers["lexical"].rank == 1
    assert hits[0].rankers["dense"] == Ranked(3, pytest.approx(0.6))


@pytest.mark.parametrize(("weight", "first"), [(0.0, "1"), (1.0, "2")])
def test_a_weight_of_nothing_or_all_leaves_one_ranker_to_decide(weight, first):
    assert retriever(dense_weight=weight).search("red", 1)[0].passage.document_id == first


def test_one_ranker_can_be_asked_alone_and_gives_its_own_score():
    lexical, dense = (retriever().search("red", 4, mode=mode) for mode in ("lexical", "dense"))
    assert [hit.passage.document_id for hit in lexical] == ["1", "0"]
    assert [(hit.passage.document_id, hit.score) for hit in dense] == [
        *(("2", pytest.approx(1.0)), ("3", pytest.approx(0.8)), ("1", pytest.approx(0.6)), ("0", pytest.approx(0.0))),
    ]
    assert all(set(hit.rankers) == {"dense"} for hit in dense)


def test_a_question_of_unknown_words_still_has_dense_hits():
    hits = retriever().search("zebra", 2)
    assert [hit.passage.document_id for hit in hits] == ["2", "3"]
    assert all(set(hit.rankers) == {"dense"} for hit in hits)


def test_a_passage_found_by_both_is_one_hit_under_one_id():
    hits = retriever().search("red apple", 10)
    assert sorted(hit.passage.id for hit in hits) == ["0#0-9", "1#0-16", "2#0-10", "3#0-10"]


def test_a_question_vector_of_another_dimension_names_both():
    short = retriever()
    short.embedder = HashEmbedder(3)
    with pytest.raises(IndexUnusable, match=r"2 dimensions.*'hash:3' has shape \(3,\)"):
        short.search("red", 1)


@pytest.mark.parametrize("wrong", [{"method": "sum"}, {"dense_weight": 2}, {"rrf_k": -1}, {"depth": 0}])
def test_fusion_options_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=r"is no way to fuse|must lie in"):
        FusionOptions(**wrong)


def test_an_unknown_way_to_search_is_refused():
    with pytest.raises(ValueError, match="'sparse' is no way to search"):
        retriever().search("red", 1, mode="sparse")  # type: ignore[arg-type]
