"""Work on a Ray cluster of two workers gives what one process gives, to the byte, whoever dies meanwhile."""

import os
import signal
import time
from pathlib import Path

import pytest
from remask.retrieval import ClusterUnavailable, HashEmbedder, Index, build, load
from remask.retrieval.batches import in_blocks
from remask.retrieval.cluster import Cluster, connected
from remask.retrieval.store import read_manifest

pytest.importorskip("ray")


@pytest.fixture(scope="module")
def cluster():
    with connected("local:2") as found:
        yield found


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    for number in range(40):
        path = folder / f"{number % 3}" / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"Text {number} is here. " * (number + 1))
    (folder / "rows.jsonl").write_text('{"id": "a", "text": "A row."}\n{"id": "b", "text": "Another."}\n')
    (folder / "broken.txt").write_bytes(b"\x00\x01\x02" * 400)
    (folder / "strange.xyz").write_text("of another kind")
    return folder


def contents(index: Path) -> dict[str, bytes]:
    folder = index / read_manifest(index).generation
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_index_is_byte_for_byte_what_one_process_makes(cluster: Cluster, docs: Path, tmp_path: Path):
    here, there = load(docs), load(docs, spread=cluster.read)
    build(here, tmp_path / "here", embedder=HashEmbedder(64))
    embedder = cluster.embedder(HashEmbedder(64))
    build(there, tmp_path / "there", embedder=embedder, spread=cluster.split)
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    assert read_manifest(tmp_path / "here").files == read_manifest(tmp_path / "there").files
    assert (here.summary(), here.skipped) == (there.summary(), there.skipped)
    assert len(Index.open(tmp_path / "there").search("text here", 3)) == 3


def test_a_worker_killed_in_the_middle_is_survived(cluster: Cluster, docs: Path, tmp_path: Path):
    def pid(_: int) -> int:  # inside, so that a worker need not find this file
        time.sleep(0.05)
        return os.getpid()

    def dies_once(marker: str) -> str:
        if not os.path.exists(marker):
            Path(marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return marker

    markers = [str(tmp_path / f"marker{number}") for number in range(3)]
    assert list(cluster.each(dies_once, markers)) == markers
    victims = sorted(set(cluster.each(pid, range(8))))

    def killing(done: int, total: int) -> None:
        if victims:
            os.kill(victims.pop(), signal.SIGKILL)

    build(load(docs), tmp_path / "here", embedder=HashEmbedder(64))
    embedder = cluster.embedder(HashEmbedder(64))
    spread = load(docs, spread=cluster.read)
    build(spread, tmp_path / "there", embedder=embedder, spread=cluster.split, progress=killing)
    assert not victims or len(victims) < 2
    assert contents(tmp_path / "here") == contents(tmp_path / "there")


def test_what_the_work_raises_is_raised_here(cluster: Cluster):
    def divided_by(number: int) -> float:
        return 1 / number

    with pytest.raises(ZeroDivisionError):
        list(cluster.each(divided_by, [1, 0]))


@pytest.mark.parametrize(
    ("address", "says"), [("nowhere", "is no address"), ("127.0.0.1:1", "no Ray cluster answers there")]
)
def test_an_address_without_a_cluster_is_named(address: str, says: str, monkeypatch: pytest.MonkeyPatch):
    import ray

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(ClusterUnavailable, match=says), connected(address):
        pass


def test_blocks_hold_every_text_once_and_lead_back_to_all():
    texts = [f"{'x' * (number % 7)}{number % 11}" for number in range(100)]
    blocks, order = in_blocks(texts, size=8)
    flat = [text for block in blocks for text in block]
    assert [flat[place] for place in order] == texts
    assert len(flat) == len(set(texts))
    assert {len(block) for block in blocks[:-1]} == {8}
