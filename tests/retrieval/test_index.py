import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from remask.retrieval import (
    Changes,
    Document,
    HashEmbedder,
    Index,
    IndexUnusable,
    InvalidDocuments,
    LexicalOptions,
    SplitOptions,
    build,
    passage_from_sentences,
)


def doc(name: str, text: str, **metadata: str) -> Document:
    return Document(id=name, text=text, title=f"About {name}", metadata=metadata)


THREE = [doc("a", "Red apples grow. They are sweet."), doc("b", "Blue plums fall."), doc("c", "Green pears ripen.")]


def answers(index: Index) -> list[object]:
    return [index.search(query, 10) for query in ("red apples", "plums", "ripen sweet", "zebra")]


def test_adding_the_same_again_changes_and_embeds_nothing():
    embedder = HashEmbedder()
    index = Index.create(THREE, embedder=embedder)
    before, embedded = index.search("red", 3), embedder.embedded
    assert index.add(THREE) == Changes(unchanged=3)
    assert embedder.embedded == embedded
    assert index.search("red", 3) == before


def test_only_passages_whose_text_is_new_are_embedded():
    embedder = HashEmbedder()
    sizes = SplitOptions(max_words=4)
    index = Index.create([doc("a", "One two three. Four five six. Seven eight nine.")], embedder=embedder, split=sizes)
    assert (len(index), embedder.embedded) == (3, 3)
    changes = index.add([doc("a", "One two three. Four five SIX! Seven eight nine.")])
    assert changes == Changes(updated=1, embedded=1)
    assert (len(index), embedder.embedded) == (3, 4)


def test_an_updated_document_is_found_by_its_new_text_only():
    index = Index.create(THREE, embedder=HashEmbedder())
    assert index.add([doc("b", "Yellow figs fall.")]) == Changes(updated=1, embedded=1)
    assert index.document("b").text == "Yellow figs fall."
    assert index.document_ids == ("a", "b", "c")
    assert index.search("plums", 3, mode="lexical") == []
    assert [hit.passage.document_id for hit in index.search("figs", 1)] == ["b"]


def test_metadata_that_changes_reaches_the_filter_and_embeds_nothing():
    index = Index.create([doc("a", "Red apples.", state="draft")], embedder=HashEmbedder())
    assert index.add([doc("a", "Red apples.", state="final")]) == Changes(updated=1, embedded=0)
    assert len(index.search("red", 1, where={"state": "final"})) == 1
    assert index.search("red", 1, where={"state": "draft"}) == []


def test_true_and_one_are_different_metadata():
    index = Index.create([Document(id="a", text="x", metadata={"flag": 1})], embedder=HashEmbedder())
    assert index.add([Document(id="a", text="x", metadata={"flag": True})]).updated == 1


def test_deleting_removes_a_document_and_its_passages_and_it_can_come_back_once():
    index = Index.create(THREE, embedder=HashEmbedder())
    assert index.delete(["b", "no such id"]) == 1
    assert index.document_ids == ("a", "c")
    assert {hit.passage.document_id for hit in index.search("plums pears", 10)} == {"a", "c"}
    assert index.search("green pears ripen", 1)[0].passage.document_id == "c"
    with pytest.raises(KeyError):
        index.document("b")
    index.add([THREE[1]])
    assert [hit.passage.document_id for hit in index.search("plums", 10, mode="lexical")] == ["b"]


def test_an_empty_index_is_legal_and_can_grow():
    index = Index.create(embedder=HashEmbedder())
    assert index.search("x", 3) == []
    index.add(THREE)
    assert len(index) == 3
    index.delete(["a", "b", "c"])
    assert (len(index), index.search("red", 3)) == (0, [])


def test_documents_of_blanks_are_kept_and_have_no_passages():
    index = Index.create([doc("a", " \n\t "), doc("b", "")], embedder=HashEmbedder())
    assert (len(index), index.document_ids) == (0, ("a", "b"))


def test_identical_duplicates_are_one_document():
    assert len(Index.create([THREE[0], THREE[0]], embedder=HashEmbedder())) == 1


def test_one_id_for_two_texts_is_refused_by_name_and_nothing_changes():
    index = Index.create(THREE, embedder=HashEmbedder())
    with pytest.raises(InvalidDocuments, match="the id 'x' and differ"):
        index.add([doc("x", "one"), doc("x", "other")])
    assert index.document_ids == ("a", "b", "c")


def test_the_same_text_under_two_ids_is_embedded_once_and_found_twice():
    embedder = HashEmbedder()
    twins = [Document(id=name, text="Same words.") for name in "ab"]
    assert len(Index.create(twins, embedder=embedder).search("same words", 5)) == 2
    assert embedder.embedded == 1


@pytest.mark.parametrize(
    "wrong",
    [
        Document(id="a", text="half a \ud83d pair"),
        Document(id="\udc80", text="name"),
        Document(id="a", text="x", metadata={"score": float("nan")}),
    ],
)
def test_a_document_that_cannot_be_stored_is_refused(wrong):
    with pytest.raises(InvalidDocuments, match=r"can't be written as UTF-8|not finite"):
        Index.create([wrong], embedder=HashEmbedder())


class Broken(HashEmbedder):
    def embed_passages(self, texts, *, progress=None):
        rows = super().embed_passages(texts)
        rows[-1, 0] = np.nan
        return rows


def test_a_vector_that_is_not_finite_is_refused_and_nothing_changes():
    index = Index.create(embedder=Broken())
    with pytest.raises(InvalidDocuments, match="not finite"):
        index.add(THREE)
    assert (len(index), index.document_ids) == (0, ())


def test_a_splitter_whose_passages_are_no_pieces_of_the_document_is_refused():
    with pytest.raises(InvalidDocuments, match="'a': passage a#0-5 is not a piece"):
        Index.create(
            [doc("a", "other text")],
            embedder=HashEmbedder(),
            splitter=lambda document: [passage_from_sentences(document.id, "", ["hello"])],
        )


TEXTS = st.lists(st.sampled_from(["red apple.", "blue plum.", "green pear.", "red red fig."]), max_size=3).map(
    "\n\n".join
)
STEPS = st.lists(st.tuples(st.sampled_from("abc"), st.none() | TEXTS), max_size=8)


@settings(deadline=None, max_examples=50)
@given(steps=STEPS)
def test_any_history_of_changes_searches_like_an_index_made_at_once(steps):
    index = Index.create(embedder=HashEmbedder(), split=SplitOptions(max_words=3))
    kept: dict[str, Document] = {}
    for name, text in steps:
        if text is None:
            index.delete([name])
            kept.pop(name, None)
        else:
            kept[name] = doc(name, text)
            index.add([kept[name]])
    fresh = Index.create(kept.values(), embedder=HashEmbedder(), split=SplitOptions(max_words=3))
    assert index.passages == fresh.passages
    for ours, theirs in zip(answers(index), answers(fresh), strict=True):
        assert [(hit.passage.id, pytest.approx(hit.score, abs=1e-6)) for hit in ours] == [
            (hit.passage.id, hit.score) for hit in theirs
        ]


@settings(deadline=None, max_examples=25)
@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=4))
def test_a_saved_index_is_the_same_when_opened(texts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "index"
    documents = [Document(id=f"{i}é", text=text, title=text[:9], metadata={"n": i}) for i, text in enumerate(texts)]
    made, _ = build(documents, folder, embedder=HashEmbedder(), split=SplitOptions(max_words=3))
    opened = Index.open(folder)
    assert opened.passages == made.passages
    assert [opened.document(key) for key in opened.document_ids] == documents
    for text in [*texts, "a"]:
        assert opened.search(text, 5) == made.search(text, 5)


def test_an_opened_index_goes_on_with_its_own_options(tmp_path):
    sizes, words = SplitOptions(max_words=4), LexicalOptions(k1=0.9, b=0.4)
    build(THREE, tmp_path / "i", embedder=HashEmbedder(), split=sizes, lexical=words)
    index, changes = build([doc("d", "One two three. Four five six.")], tmp_path / "i")
    assert (changes.added, len(index)) == (1, 6)
    with pytest.raises(IndexUnusable, match="made with lexical options"):
        build([], tmp_path / "i", lexical=LexicalOptions())
    with pytest.raises(IndexUnusable, match="made with split options"):
        build([], tmp_path / "i", split=SplitOptions())


def test_an_index_of_a_callers_own_splitter_asks_for_it_again(tmp_path):
    def whole(document: Document):
        return [passage_from_sentences(document.id, document.title, [document.text])]

    build(THREE, tmp_path / "i", embedder=HashEmbedder(), splitter=whole)
    with pytest.raises(IndexUnusable, match="open it with splitter="):
        Index.open(tmp_path / "i").add([doc("d", "new")])
    assert Index.open(tmp_path / "i", splitter=whole).add([doc("d", "new")]).added == 1


def test_searches_go_on_undisturbed_while_documents_come_and_go():
    index = Index.create(THREE, embedder=HashEmbedder(16))
    stop, sizes, trouble = threading.Event(), [[] for _ in range(4)], []

    def read(seen: list[int]) -> None:
        try:
            while not stop.is_set():
                seen.append(len(index.search("red apples number", 1000)))
        except Exception as error:
            trouble.append(error)

    readers = [threading.Thread(target=read, args=(seen,)) for seen in sizes]
    for reader in readers:
        reader.start()
    until = time.monotonic() + 2
    number = 0
    while time.monotonic() < until:
        index.add([doc(f"new{number}", f"number {number}")])
        number += 1
    stop.set()
    for reader in readers:
        reader.join()
    assert not trouble
    assert number > 1
    assert all(seen == sorted(seen) and seen for seen in sizes)
    index.delete(f"new{i}" for i in range(number))
    assert len(index) == 3


def test_two_threads_that_add_lose_nothing():
    index = Index.create(embedder=HashEmbedder(8))
    threads = [
        threading.Thread(target=lambda t=t: [index.add([doc(f"{t}-{i}", "x")]) for i in range(20)]) for t in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(index.document_ids) == 60
