"""A server that goes away in the middle: what was sent stays, and doing it again finishes it, once."""

import pytest
from remask.retrieval import Changes, Document, HashEmbedder, StoreFull, StoreUnavailable

pytest.importorskip("pymilvus")
pytest.importorskip("milvus_lite")

from remask.retrieval.milvus import Collection, MilvusOptions, build

from .server import Server

OPTIONS = MilvusOptions(batch_passages=3, timeout_seconds=5)
TEN = [Document(id=f"d{n}", text=f"Text number {n}. It has two sentences.", title="T") for n in range(10)]


@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path / "server")
    yield made
    made.stop()


def whole(collection: Collection) -> None:
    """Every document once, and nothing besides."""
    assert sorted(collection.document_ids) == sorted(document.id for document in TEN)
    assert len(collection) == 10
    hits = collection.search("text number", 100)
    assert sorted(hit.passage.document_id for hit in hits) == sorted(document.id for document in TEN)
    assert all(collection.document(document.id) == document for document in TEN)
    assert collection.unfinished == ()


def test_an_ingest_whose_server_dies_goes_on_where_it_stopped(server: Server):
    server.start()

    def stream():
        for number, document in enumerate(TEN):
            if number == 6:
                server.stop()
            yield document

    with pytest.raises(StoreUnavailable, match="run the same command again"):
        build(stream(), server.address, embedder=HashEmbedder(64), options=OPTIONS)
    server.start()
    embedder = HashEmbedder(64)
    collection, changes = build(TEN, server.address, embedder=embedder, options=OPTIONS)
    assert changes == Changes(added=4, unchanged=6, embedded=4)
    whole(collection)


@pytest.mark.parametrize("upserts", [2, 3, 4])
def test_a_cluster_that_is_full_says_so_and_nothing_is_kept_twice_once_there_is_room(server: Server, upserts: int):
    server.start(upserts=upserts)
    with pytest.raises(StoreFull, match="quota is used up"):
        build(TEN, server.address, embedder=HashEmbedder(64), options=OPTIONS)
    server.stop()
    server.start()
    collection, changes = build(TEN, server.address, embedder=HashEmbedder(64), options=OPTIONS)
    assert (changes.added + changes.unchanged, changes.updated) == (10, 0)
    whole(collection)


def test_an_update_that_is_broken_off_leaves_a_document_that_is_not_cited_and_can_be_finished(server: Server):
    server.start()
    build(TEN, server.address, embedder=HashEmbedder(64), options=OPTIONS)
    server.stop()
    server.start(upserts=1)
    newer = [TEN[0].model_copy(update={"text": "Other words entirely."})]
    with pytest.raises(StoreFull):
        build(newer, server.address, options=OPTIONS)
    server.stop()
    server.start()
    halfway = Collection.open(server.address, options=OPTIONS)
    assert halfway.unfinished == ("d0",)
    with pytest.raises(KeyError):
        halfway.document("d0")
    build(TEN, server.address, options=OPTIONS)
    whole(Collection.open(server.address, options=OPTIONS))
