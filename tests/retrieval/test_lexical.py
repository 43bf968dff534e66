import math
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from remask.retrieval.lexical import LexicalIndex, LexicalOptions, best
from remask.retrieval.words import WordOptions, passage_words, query_words

ENGINES = ["bm25s", "rank-bm25"]
WORDS = st.lists(st.sampled_from(["red", "apple", "pear", "plum", "a", "東京"]), max_size=8).map(" ".join)
CORPORA = st.lists(WORDS, max_size=12)


def by_the_book(texts: list[str], query: str, k1: float, b: float) -> list[float]:
    """Lucene's BM25 as Kamphuis et al. write it, one term at a time."""
    bags = [Counter(passage_words(text)) for text in texts]
    mean = sum(sum(bag.values()) for bag in bags) / max(len(bags), 1)
    scores = []
    for bag in bags:
        score = 0.0
        for word in query_words(query):
            if bag[word]:
                spread = sum(word in other for other in bags)
                idf = math.log(1 + (len(bags) - spread + 0.5) / (spread + 0.5))
                score += idf * bag[word] / (bag[word] + k1 * (1 - b + b * sum(bag.values()) / mean))
        scores.append(score)
    return scores


@pytest.mark.parametrize("engine", ENGINES)
@given(texts=CORPORA, query=WORDS, k1=st.sampled_from([0.9, 1.2, 1.5]), b=st.sampled_from([0.0, 0.4, 0.75, 1.0]))
def test_scores_are_those_of_the_formula(engine, texts, query, k1, b):
    index = LexicalIndex.build(texts, LexicalOptions(k1=k1, b=b, engine=engine))
    assert index.scores(query) == pytest.approx(by_the_book(texts, query, k1, b), abs=1e-5)


@given(texts=CORPORA, query=WORDS)
def test_both_engines_rank_alike(texts, query):
    fast, reference = (LexicalIndex.build(texts, LexicalOptions(engine=engine)) for engine in ENGINES)
    expected = reference.scores(query)
    found = [position for position, _ in fast.search(query, k=5)]
    # What rounding can swap is as good as equal.
    ranked = [position for position, _ in reference.search(query, k=5)]
    assert expected[found] == pytest.approx(expected[ranked], abs=1e-5)


@given(texts=CORPORA.filter(lambda texts: any(texts)), query=WORDS)
def test_scores_are_those_of_an_index_that_bm25s_makes_itself(texts, query):
    import bm25s

    engine = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
    engine.index([passage_words(text) for text in texts], show_progress=False)
    words = query_words(query)
    expected = engine.get_scores(words) if any(word in engine.vocab_dict for word in words) else np.zeros(len(texts))
    assert LexicalIndex.build(texts).scores(query) == pytest.approx(expected, abs=1e-5)


@given(texts=CORPORA, added=CORPORA, query=WORDS, data=st.data())
def test_an_index_that_grew_and_shrank_scores_like_one_built_at_once(texts, added, query, data):
    order = data.draw(st.permutations(range(len(texts) + len(added))))
    order = order[: data.draw(st.integers(0, len(order)))]
    grown = LexicalIndex.build(texts).rearranged(added, np.array(order, dtype=np.int64))
    built = LexicalIndex.build([[*texts, *added][position] for position in order])
    assert grown.scores(query) == pytest.approx(built.scores(query), abs=1e-6)
    assert set(grown.postings.vocabulary) <= set(passage_words(" ".join([*texts, *added])))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_word_in_half_of_the_passages_finds_them(engine):
    texts = ["red apple", "red pear", "blue plum", "blue fig"]
    found = LexicalIndex.build(texts, LexicalOptions(engine=engine)).search("red", k=4)
    assert [position for position, _ in found] == [0, 1]
    assert [score for _, score in found] == pytest.approx([math.log(2) / 2.2] * 2)  # n = 2 of 4: idf = ln 2; tf = 1


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("texts", [[], [""], ["", "  "], ["?!", "…"]])
def test_a_corpus_without_words_finds_nothing(engine, texts):
    index = LexicalIndex.build(texts, LexicalOptions(engine=engine))
    assert index.search("fever", k=3) == []
    assert index.scores("fever").tolist() == [0.0] * len(texts)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("query", ["", "  ", "?!", "zebra"])
def test_a_question_without_a_known_word_finds_nothing_and_not_k_zeros(engine, query):
    assert LexicalIndex.build(["a b", "b c", "c d"], LexicalOptions(engine=engine)).search(query, k=3) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_identical_passages_come_in_order_of_position_with_one_finite_score(engine):
    index = LexicalIndex.build(["same words here"] * 5, LexicalOptions(engine=engine))
    found = index.search("same", k=3)
    assert [position for position, _ in found] == [0, 1, 2]
    assert len({score for _, score in found}) == 1
    assert 0 < found[0][1] < math.inf


def test_more_hits_than_passages_may_be_asked_for():
    assert len(LexicalIndex.build(["red apple", "red pear"]).search("red", k=5)) == 2


@pytest.mark.parametrize(
    ("query", "first"), [("大阪", 1), ("雨", 1), ("東京", 0), ("vitamin C", 2), ("C", 2), ("물", 3), ("ｶﾞｽ", 4)]
)
def test_words_of_every_script_and_length_are_found(query, first):
    texts = ["東京は晴れ", "大阪は雨", "vitamin C helps, vitamin D too", "물은 맑다", "ガスが漏れる"]
    found = LexicalIndex.build(texts).search(query, k=5)
    assert found[0][0] == first
    assert found[0][1] > 0


def test_a_filter_applies_before_the_best_are_picked():
    texts = ["red red red"] * 100 + ["red and other words"] * 2
    allowed = np.zeros(102, dtype=np.bool_)
    allowed[[100, 101]] = True
    found = LexicalIndex.build(texts).search("red", k=2, allowed=allowed)
    assert [position for position, _ in found] == [100, 101]


@given(scores=st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), max_size=30), k=st.integers(1, 35))
def test_the_best_are_those_of_a_full_sort(scores, k):
    expected = sorted(((i, s) for i, s in enumerate(scores) if s > 0), key=lambda pair: (-pair[1], pair[0]))[:k]
    assert best(np.array(scores, dtype=np.float32), k) == expected


def test_adding_one_passage_does_not_count_the_others_again():
    texts = [f"passage {i} speaks of thing {i % 97} and place {i % 13}" for i in range(10_000)]
    start = time.perf_counter()
    index = LexicalIndex.build(texts)
    built = time.perf_counter() - start
    start = time.perf_counter()
    grown = index.rearranged(["a zebra"], np.arange(10_001))
    assert grown.search("zebra", k=1)[0][0] == 10_000
    assert time.perf_counter() - start < built / 2  # in fact about a twentieth


def test_a_very_long_question_is_answered():
    index = LexicalIndex.build(["red apple", "blue plum"])
    assert index.search("zebra " * 20_000 + "plum", k=1)[0][0] == 1


@pytest.mark.parametrize("wrong", [{"k1": 0}, {"b": 1.5}, {"engine": "lucene"}])
def test_options_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=r"BM25 needs|is no lexical engine"):
        LexicalOptions(**wrong)


def test_stop_words_and_stemming_reach_the_index():
    options = LexicalOptions(words=WordOptions(stop_words=("the",)))
    index = LexicalIndex.build(["the refunds", "the orders"], options)
    assert index.search("the", k=2) == []
    assert [position for position, _ in index.search("the refunded", k=2)] == [0]
