"""Weights: hash-checked, never anything but safetensors, and small."""

import json
import pickle
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
from remask.dllm.errors import WeightsUnusable
from remask.dllm.mini.layout import LayoutOptions
from remask.dllm.mini.model import Reader, ReaderShape
from remask.dllm.mini.weights import SHIPPED, load_reader, new_reader, save_reader, sha256_of
from safetensors import safe_open
from safetensors.torch import save_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    reader = new_reader(seed=5)
    save_reader(tmp_path / "reader.safetensors", reader.state_dict(), reader.shape, LayoutOptions())
    return tmp_path / "reader.safetensors"


def test_what_was_saved_is_loaded_in_half_precision(path: Path) -> None:
    wanted, loaded = new_reader(seed=5).state_dict(), load_reader(path)
    for name, tensor in loaded.reader.state_dict().items():
        assert torch.allclose(tensor, wanted[name], atol=2e-3, rtol=1e-3), name
    assert loaded.layout == LayoutOptions()
    assert loaded.sha256 == sha256_of(path)


def test_one_changed_byte_is_a_clear_error(path: Path) -> None:
    path.with_suffix(".sha256").write_text(sha256_of(path), encoding="ascii")
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)
    with pytest.raises(WeightsUnusable, match="sha256"):
        load_reader(path)


def test_a_truncated_file_is_a_clear_error(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(WeightsUnusable, match="not a whole safetensors file"):
        load_reader(path)


def test_a_missing_file_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(WeightsUnusable, match="remask train"):
        load_reader(tmp_path / "none.safetensors")


def test_another_format_or_shape_is_a_clear_error(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.safetensors"
    save_file({"a": torch.zeros(2)}, foreign)
    with pytest.raises(WeightsUnusable, match="format None"):
        load_reader(foreign)
    small = Reader(ReaderShape(width=48, heads=4, layers=1, inner=96))
    save_reader(tmp_path / "small.safetensors", small.state_dict(), ReaderShape(), LayoutOptions())
    with pytest.raises(WeightsUnusable, match="does not fit"):
        load_reader(tmp_path / "small.safetensors")


def test_weights_made_to_read_passages_side_by_side_are_refused(path: Path) -> None:
    with safe_open(path, "pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        header = file.metadata()
    for joint, refused in ((0, False), (512, True)):
        layout = {**json.loads(header["layout"]), "joint": joint}
        save_file(tensors, path, metadata={**header, "layout": json.dumps(layout)})
        with pytest.raises(WeightsUnusable, match="side by side") if refused else nullcontext():
            assert load_reader(path).layout == LayoutOptions()


def test_a_pickle_dressed_as_weights_is_never_run(tmp_path: Path) -> None:
    trap, target = tmp_path / "ran", tmp_path / "reader.safetensors"

    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[object, ...]]:
            return (open, (str(trap), "w"))

    target.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(WeightsUnusable):
        load_reader(target)
    assert not trap.exists()


def test_the_shipped_weights_are_whole_small_and_leave_the_word_embeddings_out() -> None:
    loaded = load_reader()
    assert SHIPPED.stat().st_size < 30_000_000
    assert SHIPPED.with_suffix(".sha256").read_text(encoding="ascii").split()[0] == loaded.sha256
    assert all(torch.isfinite(p).all() for p in loaded.reader.parameters())
