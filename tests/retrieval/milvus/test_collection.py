"""A collection changes as a folder's index does."""

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from remask.retrieval import (
    Changes,
    Document,
    FusionOptions,
    HashEmbedder,
    Index,
    IndexUnusable,
    InvalidDocuments,
    LexicalOptions,
    SplitOptions,
    StoreUnavailable,
    passage_from_sentences,
)

pytest.importorskip("pymilvus")
pytest.importorskip("milvus_lite")

from remask.retrieval.milvus import Address, Collection, MilvusOptions, build
from remask.retrieval.milvus.connection import Connection
from remask.retrieval.milvus.record import RECORD
from remask.retrieval.milvus.schema import documents_of

COUNT = count()


def doc(name: str, text: str, **metadata: str) -> Document:
    return Document(id=name, text=text, title=f"About {name}", metadata=metadata)


THREE = [doc("a", "Red apples grow. They are sweet."), doc("b", "Blue plums fall."), doc("c", "Green pears ripen.")]


@pytest.fixture(scope="module")
def database(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("milvus") / "there.db"


@pytest.fixture
def address(database: Path) -> str:
    return f"milvus:{database}#c{next(COUNT)}"


def built(address: str, documents=THREE, **options: object) -> Collection:
    return build(documents, address, embedder=HashEmbedder(64), **options)[0]  # type: ignore[arg-type]


def found(collection: Collection, query: str) -> list[str]:
    return [hit.passage.document_id for hit in collection.search(query, 10, mode="lexical")]


def test_an_update_replaces_leaves_alone_deletes_and_takes_back(address: str):
    embedder = HashEmbedder(64)
    collection, changes = build(THREE, address, embedder=embedder)
    assert changes == Changes(added=3, embedded=3)
    assert collection.add(THREE) == Changes(unchanged=3)
    assert collection.add([doc("b", "Yellow figs fall.")]) == Changes(updated=1, embedded=1)
    assert embedder.embedded == 4
    assert (found(collection, "plums"), found(collection, "figs"), len(collection)) == ([], ["b"], 3)
    assert collection.document("b").text == "Yellow figs fall."
    assert collection.delete(["b", "no such id"]) == 1
    assert (found(collection, "figs"), len(collection), set(collection.document_ids)) == ([], 2, {"a", "c"})
    with pytest.raises(KeyError):
        collection.document("b")
    assert collection.add([THREE[1]]) == Changes(added=1, embedded=1)
    assert found(Collection.open(address), "plums") == ["b"]


def test_metadata_that_changes_reaches_the_filter_and_embeds_nothing(address: str):
    collection = built(address, [doc("a", "Red apples.", state="draft")])
    assert collection.add([doc("a", "Red apples.", state="final")]) == Changes(updated=1, embedded=0)
    assert len(collection.search("red", 1, where={"state": "final"})) == 1
    assert collection.search("red", 1, where={"state": "draft"}) == []


def test_a_long_document_of_any_script_comes_back_to_the_character(address: str):
    text = "Die Straße, 東京 und 😀! " * 9_000
    sizes = SplitOptions()
    collection = built(address, [Document(id="long/ø#1", text=text, title="T", metadata={"n": 1.5})], split=sizes)
    assert len(text.encode()) > 3 * 65_535
    assert collection.document("long/ø#1") == Document(id="long/ø#1", text=text, title="T", metadata={"n": 1.5})
    hit = collection.search("東京", 1)[0]
    assert text[hit.passage.start : hit.passage.end] == hit.passage.text
    assert hit.passage.sentences
    assert hit.passage.metadata == {"n": 1.5}


def test_the_fused_score_is_the_local_indexs_where_both_rank_by_the_same_numbers(address: str):
    local, there = Index.create(THREE, embedder=HashEmbedder(64)), built(address)
    for query in ("red apples", "sweet plums fall", "ripen"):
        ours, theirs = local.search(query, 3), there.search(query, 3)
        assert [hit.passage for hit in ours] == [hit.passage for hit in theirs]
        assert [hit.score for hit in ours] == pytest.approx([hit.score for hit in theirs], abs=1e-4)
        assert [hit.rankers["dense"].rank for hit in ours] == [hit.rankers["dense"].rank for hit in theirs]
        assert [set(hit.rankers) for hit in ours] == [set(hit.rankers) for hit in theirs]


@pytest.mark.parametrize("method", ["rrf", "weighted"])
def test_milvus_own_rankers_fuse_too_and_each_hit_is_explained(address: str, method):
    built(address)
    options = MilvusOptions(fuse="milvus", fusion=FusionOptions(method=method))
    hits = Collection.open(address, options=options).search("blue plums", 3)
    assert hits[0].passage.document_id == "b"
    assert {name: verdict.rank for name, verdict in hits[0].rankers.items()} == {"lexical": 1, "dense": 1}
    if method == "rrf":
        assert hits[0].score == pytest.approx(2 / 61)


def test_passages_of_ones_own_cutting_are_kept(address: str):
    def cut(document: Document):
        return [passage_from_sentences(document.id, document.title, [document.text])]

    collection = built(address, [Document(id="a", text="One. Two. Three.")], splitter=cut)
    assert [hit.passage.text for hit in collection.search("two", 5)] == ["One. Two. Three."]
    with pytest.raises(IndexUnusable, match="open it with splitter="):
        Collection.open(address).add([Document(id="b", text="x")])


def test_documents_are_taken_a_batch_at_a_time(address: str):
    taken: list[int] = []

    def stream() -> Iterator[Document]:
        for number in range(20):
            taken.append(number)
            yield Document(id=str(number), text=f"Text number {number}.")

    seen: list[int] = []
    options = MilvusOptions(batch_passages=4)
    build(
        stream(), address, embedder=HashEmbedder(64), options=options, progress=lambda done, _: seen.append(len(taken))
    )
    assert seen == [4, 8, 12, 16, 20]


def test_one_id_for_two_texts_is_refused_even_batches_apart(address: str):
    texts = [Document(id=str(n % 5), text=f"Text {n}.") for n in range(6)]
    with pytest.raises(InvalidDocuments, match="the id '0' and differ"):
        built(address, texts, options=MilvusOptions(batch_passages=2))


@pytest.mark.parametrize("options", [{"lexical": LexicalOptions(k1=0.9)}, {"split": SplitOptions(max_words=9)}])
def test_options_that_differ_from_the_collections_are_refused(address: str, options):
    built(address)
    with pytest.raises(IndexUnusable, match="was made with"):
        built(address, **options)


def test_another_embedder_is_refused_by_name(address: str):
    built(address)
    with pytest.raises(IndexUnusable, match="was made by the embedder 'hash:64'"):
        Collection.open(address, embedder=HashEmbedder(32))


def test_a_collection_of_a_newer_version_is_refused(address: str):
    collection = built(address)
    name = documents_of(collection.address.name)
    (row,) = collection._connection.get(name, [RECORD], ["*"])
    newer = json.dumps({**json.loads(row["about"]), "format": 99})
    collection._connection.upsert(name, [{**row, "about": newer}])
    with pytest.raises(IndexUnusable, match="made by a newer version"):
        Collection.open(address)


def test_vectors_of_another_dimension_than_the_collections_are_refused(address: str):
    class Shrunk(HashEmbedder):
        fingerprint = HashEmbedder(64).fingerprint  # says that it is the same, and is not

        def embed_passages(self, texts, *, progress=None):
            return super().embed_passages(texts)[:, :32]

    built(address)
    with pytest.raises(InvalidDocuments, match="keeps 64 dimensions"):
        Collection.open(address, embedder=Shrunk(64)).add([doc("d", "Black grapes.")])


def test_vectors_that_are_not_finite_are_refused_and_the_document_stays_unwritten(address: str):
    class Broken(HashEmbedder):
        def embed_passages(self, texts, *, progress=None):
            return super().embed_passages(texts) * np.nan

    built(address)
    with pytest.raises(InvalidDocuments, match="not finite"):
        Collection.open(address, embedder=Broken(64)).add([doc("d", "Black grapes.")])
    assert set(Collection.open(address).document_ids) == {"a", "b", "c"}


@pytest.mark.parametrize("suffix", ["", "_documents"])
def test_somebody_elses_collection_is_left_alone(address: str, suffix: str):
    there = Connection(Address.parse(address), timeout_seconds=20, create=True)
    name = there.address.name + suffix
    there._client.create_collection(name, dimension=4)
    with pytest.raises(IndexUnusable, match="not made by remask"):
        built(address)
    assert there.has(name)


def test_rows_without_a_description_are_not_thrown_away(address: str):
    collection = built(address)
    collection._connection.delete(documents_of(collection.address.name), [RECORD])
    with pytest.raises(IndexUnusable, match=r"holds \d rows and no description"):
        built(address)
    assert len(collection) == 3


def test_a_collection_whose_making_broke_off_is_made_again(address: str):
    collection = built(address, [])
    collection._connection.delete(documents_of(collection.address.name), [RECORD])
    with pytest.raises(IndexUnusable, match="no such collection"):
        Collection.open(address)
    assert found(built(address), "plums") == ["b"]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("milvus:", "is no address"),
        ("milvus:some folder", "is no address"),
        ("http://localhost", "is no address"),
        ("milvus:ftp://host#x", "is no address"),
        ("milvus:x.db#two words", "can't name a Milvus collection"),
        ("milvus:x.db#1st", "can't name a Milvus collection"),
    ],
)
def test_a_wrong_address_is_refused_with_the_right_form(wrong: str, says: str):
    with pytest.raises(IndexUnusable, match=says):
        Address.parse(wrong)


def test_an_address_survives_being_a_path():
    for text in ("milvus:http://host:19530#books", "milvus:https://host#books", "milvus:folder/x.db#books"):
        assert Address.parse(str(Path(text))) == Address.parse(text)
    assert Address.parse(str(Path("milvus:http://host:19530#books"))).uri == "http://host:19530"


def test_a_file_that_is_not_there_is_not_made_by_opening_it(tmp_path: Path):
    with pytest.raises(IndexUnusable, match="no such file"):
        Collection.open(f"milvus:{tmp_path}/none.db")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(IndexUnusable, match="does not exist"):
        built(f"milvus:{tmp_path}/no/folder.db")
    (tmp_path / "old.db").write_text("the file of an older Milvus Lite")
    with pytest.raises(IndexUnusable, match="is no database"):
        Collection.open(f"milvus:{tmp_path}/old.db")


def test_a_server_that_is_not_there_is_named(unused_port: int):
    with pytest.raises(StoreUnavailable, match=rf"http://127.0.0.1:{unused_port}: can't reach Milvus"):
        Collection.open(f"milvus:http://127.0.0.1:{unused_port}", options=MilvusOptions(timeout_seconds=2))


@pytest.fixture
def unused_port() -> int:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
