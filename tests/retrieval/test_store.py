import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from remask.retrieval import Document, HashEmbedder, Index, IndexBusy, IndexUnusable, build
from remask.retrieval.dense import EXACT_UP_TO

DOCUMENTS = [Document(id=f"d{i}", title=f"Thing {i}", text=f"The colour of thing {i} is shade {i}.") for i in range(20)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build(DOCUMENTS, tmp_path / "index", embedder=HashEmbedder(16))
    return tmp_path / "index"


def generation(folder: Path) -> Path:
    return folder / json.loads((folder / "manifest.json").read_text())["generation"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in generation(folder).iterdir())


def test_an_index_is_a_manifest_and_one_folder_without_pickles(folder):
    assert sorted(os.listdir(folder)) == sorted([".lock", generation(folder).name, "manifest.json"])
    assert {Path(name).suffix for name in names(folder)} == {".jsonl", ".npy"}
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["format"] == 1
    assert manifest["embedder"] == {"name": "hash:16", "fingerprint": "hash:16:1", "dimension": 16}
    assert (manifest["documents"], manifest["passages"]) == (20, 20)
    assert sorted(manifest["files"]) == names(folder)
    assert manifest["lexical"]["words"] == {"stop_words": [], "stem": "english"}


def test_indexing_again_with_nothing_new_writes_nothing_and_embeds_nothing(folder):
    before = (folder / "manifest.json").read_bytes()
    embedder = HashEmbedder(16)
    _, changes = build(DOCUMENTS, folder, embedder=embedder)
    assert (changes.unchanged, changes.added, embedder.embedded) == (20, 0, 0)
    assert (folder / "manifest.json").read_bytes() == before


def test_large_vectors_are_mapped_and_survive_a_rewrite(tmp_path):
    documents = [Document(id=str(i), text=f"text {i}") for i in range(300)]
    build(documents, tmp_path / "i", embedder=HashEmbedder(1024))
    opened = Index.open(tmp_path / "i")
    vectors = opened._state.retriever.dense.vectors_ND
    assert isinstance(vectors, np.memmap)
    build([Document(id="new", text="zebra")], tmp_path / "i")
    assert opened.search("text 7", 1)[0].passage.document_id == "7"
    assert Index.open(tmp_path / "i").search("zebra", 1)[0].passage.document_id == "new"


def test_an_index_above_the_threshold_keeps_its_graph_in_the_folder(tmp_path):
    from remask.retrieval.contents import load, writers
    from remask.retrieval.dense import DenseIndex
    from remask.retrieval.manifest import EmbedderRecord, FileRecord, Manifest

    assert EXACT_UP_TO >= 10_000
    state = Index.create(DOCUMENTS, embedder=HashEmbedder(16))._state
    dense = DenseIndex(state.retriever.dense.vectors_ND, exact_up_to=5)
    files = writers(state.documents, state.retriever.passages, state.retriever.lexical, dense)
    for name, write in files.items():
        write(tmp_path / name)
    manifest = Manifest(
        generation="",
        embedder=EmbedderRecord(name="", fingerprint="", dimension=16),
        lexical=state.retriever.lexical.options,
        split=None,
        documents=20,
        passages=20,
        files={name: FileRecord(sha256="", size_bytes=0) for name in files},
    )
    *_, opened = load(tmp_path, manifest)
    assert opened._ready_graph.ntotal == 20


@pytest.mark.parametrize("cut", [0.0, 0.5, 0.99])
def test_a_truncated_file_is_named(folder, cut):
    for name in names(folder):
        damaged = folder.parent / f"cut-{name}"
        shutil.copytree(folder, damaged)
        file = generation(damaged) / name
        file.write_bytes(file.read_bytes()[: int(cut * file.stat().st_size)])
        with pytest.raises(
            IndexUnusable, match=rf"{name}: has \d+ bytes where \d+ were written.*index the documents again"
        ):
            Index.open(damaged)


def test_a_changed_file_is_named(folder):
    for name in names(folder):
        file = generation(folder) / name
        original = file.read_bytes()
        file.write_bytes(original[:-2] + bytes([original[-2] ^ 1]) + original[-1:])
        with pytest.raises(IndexUnusable, match=f"{name}: was changed since it was written"):
            Index.open(folder)
        file.write_bytes(original)
    assert len(Index.open(folder)) == 20


def test_a_missing_file_is_named(folder):
    (generation(folder) / "vectors.npy").unlink()
    with pytest.raises(IndexUnusable, match=r"vectors\.npy: is missing"):
        Index.open(folder)


def test_a_newer_format_says_to_upgrade(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "format": 99, "novelty": 1}))
    for use in (Index.open, lambda path: build([], path)):
        with pytest.raises(IndexUnusable, match=r"manifest\.json: made by a newer version \(format 99.*pip install -U"):
            use(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"format": 1}', '{"format": "one"}', "\x00\xff"])
def test_a_broken_manifest_is_named(folder, text):
    (folder / "manifest.json").write_text(text, encoding="latin-1")
    with pytest.raises(IndexUnusable, match=r"manifest\.json: damaged"):
        Index.open(folder)


@pytest.mark.parametrize("change", [{"passages": 3}, {"generation": "../elsewhere"}, {"split": None}])
def test_an_edited_manifest_is_noticed(folder, change):
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, **change}))
    with pytest.raises(IndexUnusable, match=r"manifest\.json: was changed"):
        Index.open(folder)


def test_a_file_replaced_by_a_link_out_of_the_folder_is_refused(folder):
    file = generation(folder) / "documents.jsonl"
    file.rename(folder.parent / "outside")
    file.symlink_to(folder.parent / "outside")
    with pytest.raises(IndexUnusable, match=r"documents\.jsonl: leads out of the index"):
        Index.open(folder)


def test_a_generation_replaced_by_a_link_is_refused(folder):
    inside = generation(folder)
    inside.rename(folder.parent / "outside")
    inside.symlink_to(folder.parent / "outside")
    with pytest.raises(IndexUnusable, match="leads out of the index"):
        Index.open(folder)


class _Bomb:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return (Path.touch, (self.mark,))


def test_a_pickle_is_never_opened(folder, tmp_path):
    mark = tmp_path / "exploded"
    bomb = pickle.dumps(_Bomb(mark))
    (folder / "index.pkl").write_bytes(bomb)
    (generation(folder) / "index.pkl").write_bytes(bomb)
    assert len(Index.open(folder)) == 20  # dropped in beside: never looked at
    (generation(folder) / "vectors.npy").write_bytes(bomb)
    with pytest.raises(IndexUnusable, match=r"vectors\.npy"):
        Index.open(folder)
    assert not mark.exists()


def test_arrays_of_pickled_objects_are_refused_even_with_the_right_hash(folder, tmp_path):
    from remask.retrieval.contents import load
    from remask.retrieval.store import read_manifest

    with (generation(folder) / "vectors.npy").open("wb") as file:
        np.save(file, np.array([_Bomb(tmp_path / "exploded")], dtype=object), allow_pickle=True)
    with pytest.raises(IndexUnusable, match="holds what is not an index"):
        load(generation(folder), read_manifest(folder))
    assert not (tmp_path / "exploded").exists()


def test_a_path_that_is_no_index_is_told(tmp_path):
    (tmp_path / "file").write_text("text")
    (tmp_path / "empty").mkdir()
    for path, reason in {
        tmp_path / "file": "is a file",
        tmp_path / "empty": "is no index.*remask index",
        tmp_path / "missing": "there is no such folder.*remask index",
        tmp_path / "file" / "below": "no such folder|Not a directory",
    }.items():
        with pytest.raises(IndexUnusable, match=reason):
            Index.open(path)


def test_an_index_is_not_made_where_something_else_is(tmp_path):
    (tmp_path / "file").write_text("text")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_text("cat")
    for path, reason in {
        tmp_path / "file": "is a file",
        tmp_path / "photos": r"not empty \(it holds 'cat.jpg'\)",
        tmp_path / "file" / "below": "Not a directory",
    }.items():
        with pytest.raises(IndexUnusable, match=reason):
            build(DOCUMENTS, path, embedder=HashEmbedder(16))
    assert (tmp_path / "photos" / "cat.jpg").read_text() == "cat"


@pytest.fixture
def as_nobody():
    """Root may write anywhere, so for a while be somebody else."""
    root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        if root:
            os.chown(path, 65534, 65534)
            os.seteuid(65534)
        try:
            yield path
        finally:
            if root:
                os.seteuid(0)
            path.chmod(0o700)
            for inside in path.rglob("*"):
                if inside.is_dir():
                    inside.chmod(0o700)


def test_a_read_only_folder_can_be_read_and_says_so_when_written(as_nobody):
    folder = as_nobody / "index"
    build(DOCUMENTS, folder, embedder=HashEmbedder(16))
    folder.chmod(0o500)
    assert len(Index.open(folder)) == 20
    with pytest.raises(IndexUnusable, match="permission denied"):
        build([Document(id="new", text="new")], folder)
    as_nobody.chmod(0o500)
    with pytest.raises(IndexUnusable, match="permission denied"):
        build(DOCUMENTS, as_nobody / "other", embedder=HashEmbedder(16))
    folder.chmod(0o700)
    assert len(Index.open(folder)) == 20


@pytest.mark.parametrize("other", [HashEmbedder(32), HashEmbedder(8)])
def test_another_embedder_is_refused_and_both_are_named(folder, other):
    for use in (Index.open, lambda path, embedder: build([], path, embedder=embedder)):
        with pytest.raises(IndexUnusable, match=rf"by the embedder 'hash:16' \(16 dimensions\), not by '{other.name}'"):
            use(folder, embedder=other)


def test_another_embedder_of_the_same_dimension_is_refused(folder):
    class Other(HashEmbedder):
        fingerprint = "other weights"

    with pytest.raises(IndexUnusable, match="made by the embedder"):
        Index.open(folder, embedder=Other(16))


def test_saving_goes_back_to_where_an_index_came_from(folder, tmp_path):
    index = Index.open(folder)
    index.delete(["d3"])
    assert len(Index.open(folder)) == 20
    index.save()
    assert len(Index.open(folder)) == 19
    index.save(tmp_path / "copy")
    index.delete(["d4"])
    index.save()
    assert (len(Index.open(folder)), len(Index.open(tmp_path / "copy"))) == (19, 18)


def test_saving_over_what_another_wrote_meanwhile_is_refused(folder):
    index = Index.open(folder)
    build([Document(id="new", text="new")], folder)
    index.delete(["d3"])
    with pytest.raises(IndexBusy, match="was changed by another process"):
        index.save()
    with pytest.raises(IndexUnusable, match="holds another index"):
        Index.create(DOCUMENTS, embedder=HashEmbedder(16)).save(folder)
    assert len(Index.open(folder)) == 21


def test_an_index_that_was_never_in_a_folder_asks_where_to_be_saved():
    with pytest.raises(ValueError, match="say where"):
        Index.create(embedder=HashEmbedder(16)).save()


HOLD = "import sys, time; from pathlib import Path; from remask.retrieval.store import writing\n"
HOLD += "with writing(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"


def test_a_second_writer_is_told_and_a_killed_one_leaves_no_lock(folder):
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(IndexBusy, match="another process is writing"):
        build([Document(id="new", text="new")], folder)
    assert len(Index.open(folder)) == 20
    holder.kill()
    holder.communicate()
    _, changes = build([Document(id="new", text="new")], folder)
    assert changes.added == 1


WRITE = """
import sys
from remask.retrieval import Document, HashEmbedder, build
print("ready", flush=True)
number = int(sys.argv[2])
while True:
    number += 1
    stamp = [Document(id=f"d{i}", text=f"thing {i} of round {number}") for i in range(40)]
    build(stamp, sys.argv[1], embedder=HashEmbedder(16))
"""


def start_writer(folder: Path, number: int) -> subprocess.Popen[bytes]:
    writer = subprocess.Popen([sys.executable, "-c", WRITE, str(folder), str(number)], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"ready\n"
    return writer


def round_of(index: Index) -> int:
    """Every document of an index comes from the same round, or the index is torn."""
    rounds = {index.document(key).text.rpartition(" ")[2] for key in index.document_ids}
    assert len(rounds) == 1
    assert len(index) == 40
    assert {passage.text.rpartition(" ")[2] for passage in index.passages} == rounds
    return int(rounds.pop())


def test_a_writer_killed_at_any_moment_leaves_a_whole_index(tmp_path):
    folder, chance, last = tmp_path / "index", random.Random(0), 0
    stamp = [Document(id=f"d{i}", text=f"thing {i} of round 0") for i in range(40)]
    build(stamp, folder, embedder=HashEmbedder(16))
    for _ in range(8):
        writer = start_writer(folder, last)
        time.sleep(chance.uniform(0, 0.4))
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        found = round_of(Index.open(folder))
        assert found >= last
        last = found
    assert last > 0
    build(stamp, folder)
    assert sorted(os.listdir(folder)) == sorted([".lock", generation(folder).name, "manifest.json"])


READ = """
import sys, time
from remask.retrieval import Index
until, seen = time.monotonic() + 3, []
while time.monotonic() < until:
    index = Index.open(sys.argv[1])
    texts = {index.document(key).text.rpartition(" ")[2] for key in index.document_ids}
    assert len(texts) == 1 and len(index) == 40, texts
    assert len(index.search("thing of round", 50)) == 40
    seen.append(int(texts.pop()))
assert seen == sorted(seen), seen
print(len(set(seen)))
"""


def test_two_processes_read_whole_indexes_while_one_writes(tmp_path):
    folder = tmp_path / "index"
    stamp = [Document(id=f"d{i}", text=f"thing {i} of round 0") for i in range(40)]
    build(stamp, folder, embedder=HashEmbedder(16))
    writer = start_writer(folder, 0)
    command = [sys.executable, "-c", READ, str(folder)]
    readers = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    results = [reader.communicate() for reader in readers]
    assert writer.poll() is None
    writer.kill()
    writer.communicate()
    for out, err in results:
        assert err == ""
        assert int(out) > 1


def test_a_failing_write_leaves_the_old_index(folder, tmp_path):
    from remask.retrieval import store

    def fail(path: Path) -> None:
        path.write_text("half")
        raise OSError(28, "No space left on device", str(path))

    with store.writing(folder), pytest.raises(IndexUnusable, match="No space left on device"):
        store.write(folder, {"half.npy": fail}, lambda name: pytest.fail("no manifest is due"))
    assert len(Index.open(folder)) == 20
    build([Document(id="new", text="new")], folder)
    assert sorted(os.listdir(folder)) == sorted([".lock", generation(folder).name, "manifest.json"])
