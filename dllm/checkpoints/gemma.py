"""DiffusionGemma, run by transformers' own class: prompts in, then logits for a canvas that is full of words.

The prompt is read causally, once, and its keys are kept; a canvas sees the prompt and all of itself. There is no mask: the
id one past the vocabulary stands for a slot that is to be filled, and becomes a random word before the network sees it.
"""

# B rows, P prompt columns, N canvas slots, V vocabulary.

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from ..errors import BackendUnavailable, WeightsUnusable
from ..noise import RowNoise, Seed
from .memory import check_fits, free_bytes, parameters_of
from .shards import read_json, shard_paths

MODEL_TYPE = "diffusion_gemma"
_DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


@dataclass(slots=True, eq=False)
class Read:
    """A request: the keys of what was read, which columns of it are real, and what the last pass said."""

    cache: Any
    valid_BP: Tensor
    seed: Seed = 0
    said_BNV: Tensor | None = None
    noise: list[RowNoise] = field(default_factory=list)


class Gemma:
    """Both a `Denoiser[Read]` for `sample.from_logits` and a `Uniform[Read]` for `renoise`, which is how it was trained.
    Keeps nothing between calls."""

    def __init__(self, network: Any) -> None:
        self._network, self._text = network, network.config.get_text_config()
        self.words: int = self._text.vocab_size
        self.canvas_length: int = network.config.canvas_length
        self.window: int = self._text.max_position_embeddings
        self.device: torch.device = network.device

    @property
    def mask_id(self) -> int:
        """The first id that is no word."""
        return self.words

    def prefill(self, prompts: Sequence[Sequence[int]], *, seed: Seed = 0) -> Read:
        """Reads one prompt for every row, or one for all; shorter ones are padded on the left. ValueError where there is
        none. `seed`: for the random words that stand for masks in `predict`."""
        if not prompts or not all(prompts):
            raise ValueError("a prompt has no token. Give one with a token for every row, or one for all")
        P = max(len(p) for p in prompts)
        ids_BP = torch.zeros(len(prompts), P, dtype=torch.long)
        valid_BP = torch.zeros(len(prompts), P, dtype=torch.bool)
        for row, prompt in enumerate(prompts):
            ids_BP[row, P - len(prompt) :] = torch.tensor(prompt, dtype=torch.long)
            valid_BP[row, P - len(prompt) :] = True
        state = Read(None, valid_BP[:, :0].to(self.device), seed)
        self.read(state, ids_BP.to(self.device), valid_BP.to(self.device))
        return state

    def read(self, state: Read, ids_BQ: Tensor, valid_BQ: Tensor | None = None) -> None:
        """Reads on: more of a prompt, or a canvas that is finished."""
        valid_BQ = torch.ones_like(ids_BQ).bool() if valid_BQ is None else valid_BQ
        was_BP = state.valid_BP.expand(ids_BQ.shape[0], -1)
        valid_BP = torch.cat((was_BP, valid_BQ), 1)
        places_BQ = _places(valid_BP)[:, was_BP.shape[1] :]
        encoder = self._network.model.encoder
        with torch.inference_mode():
            if state.cache is None:
                from transformers import DynamicCache

                state.cache = DynamicCache(config=self._text)
            masks = encoder.create_masks_for_generate(
                config=self._network.config,
                inputs_embeds=torch.empty(*ids_BQ.shape, 0, dtype=self._network.dtype, device=self.device),
                attention_mask=valid_BP,
                cache=state.cache,
                position_ids=places_BQ,
            )
            encoder(input_ids=ids_BQ, attention_mask=masks, cache=state.cache, position_ids=places_BQ)
        state.valid_BP, state.said_BNV = valid_BP, None

    def spread(self, state: Read, rows: int) -> None:
        """One prompt's keys for several rows."""
        if rows != state.valid_BP.shape[0]:
            if state.valid_BP.shape[0] != 1:
                raise ValueError(f"{state.valid_BP.shape[0]} prompts for {rows} rows. Give one for every row, or one")
            state.cache.batch_repeat_interleave(rows)
            state.valid_BP = state.valid_BP.expand(rows, -1)

    def predict(self, state: Read, canvas_BN: Tensor) -> Tensor:
        """`logits_BNV`, in float32. Reads nothing into the state but what random words stood for masks."""
        canvas_BN = canvas_BN.to(self.device)
        self.spread(state, canvas_BN.shape[0])
        masked_BN = canvas_BN == self.mask_id
        if bool(masked_BN.any()):
            canvas_BN = torch.where(masked_BN, self._random(state, canvas_BN), canvas_BN)
        valid_BL = torch.cat((state.valid_BP, torch.ones_like(canvas_BN).bool()), 1)
        with torch.inference_mode():
            out = self._network(
                decoder_input_ids=canvas_BN,
                cache=state.cache,
                self_conditioning_logits=state.said_BNV,
                decoder_attention_mask=valid_BL,
                decoder_position_ids=_places(valid_BL)[:, state.valid_BP.shape[1] :],
            )
        return cast(Tensor, out.logits).float()

    def hear(self, state: Read, logits_BNV: Tensor) -> None:
        """What the next pass is conditioned on, in the precision of the network, as in transformers."""
        state.said_BNV = logits_BNV.to(self._network.model.decoder.embed_tokens.weight.dtype)

    def _random(self, state: Read, canvas_BN: Tensor) -> Tensor:
        if not state.noise:
            state.noise.append(RowNoise(state.seed, canvas_BN.shape[0], stream="canvas", device=self.device))
        return state.noise[0].ids(canvas_BN.shape[1], self.words)


def load_gemma(
    folder: Path,
    *,
    dtype: str = "",
    device: str = "cpu",
    free: Callable[[torch.device], int | None] = free_bytes,
) -> Gemma:
    """Reads a published folder. `dtype`: empty takes the config's. Raises WeightsUnusable for what is damaged, missing or
    left over, BackendUnavailable where it can't fit or this transformers has no DiffusionGemma."""
    config = read_json(folder / "config.json")
    _check_files(folder)
    empty, kind = empty_gemma(config, where=str(folder / "config.json"), dtype=dtype)
    target = torch.device(device)
    check_fits(parameters_of(empty), kind, target, free=free(target))
    try:
        with _quiet():
            network, report = type(empty).from_pretrained(
                folder,
                config=empty.config,
                dtype=kind,
                local_files_only=True,
                use_safetensors=True,
                output_loading_info=True,
            )
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise WeightsUnusable(f"the weights in {folder} can't be read: {error}. Download them again") from error
    wrong = {name: sorted(map(str, report[name])) for name in ("missing_keys", "unexpected_keys", "mismatched_keys")}
    if any(wrong.values()):
        raise WeightsUnusable(
            f"{folder} does not fit its config.json: {len(wrong['missing_keys'])} parameters got no weights "
            f"({', '.join(wrong['missing_keys'][:3]) or 'none'}), {len(wrong['unexpected_keys'])} tensors have no place "
            f"({', '.join(wrong['unexpected_keys'][:3]) or 'none'}), {len(wrong['mismatched_keys'])} have another size "
            f"({', '.join(wrong['mismatched_keys'][:3]) or 'none'}). Was a key renamed, or a config changed?"
        )
    return Gemma(network.to(target).eval().requires_grad_(False))


def empty_gemma(config: dict[str, Any], *, where: str, dtype: str = "") -> tuple[Any, torch.dtype]:
    """The network with no memory behind it, and what its weights are loaded in. Raises as `load_gemma` does."""
    try:
        from transformers import DiffusionGemmaConfig, DiffusionGemmaForBlockDiffusion
    except ImportError as error:
        raise BackendUnavailable(
            "DiffusionGemma needs a newer transformers. Install it with: pip install 'transformers>=5.24'"
        ) from error
    kind = dtype or str(config.get("dtype") or config.get("torch_dtype") or "bfloat16")
    if kind not in _DTYPES:
        raise WeightsUnusable(f"dtype {kind!r} is not read. Choose one of {', '.join(_DTYPES)}")
    try:
        with torch.device("meta"):
            return DiffusionGemmaForBlockDiffusion(DiffusionGemmaConfig.from_dict(config)), _DTYPES[kind]
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise WeightsUnusable(f"{where} describes no DiffusionGemma: {error}") from error


def _check_files(folder: Path) -> None:
    """Every shard is there and whole: transformers says neither clearly."""
    for path in shard_paths(folder):
        try:
            with safe_open(path, "pt") as file:
                file.keys()
        except (SafetensorError, OSError) as error:
            size = path.stat().st_size
            raise WeightsUnusable(
                f"{path} is damaged or cut short ({size} bytes): {error}. Download it again"
            ) from error


@contextlib.contextmanager
def _quiet() -> Any:
    """Without transformers' progress bar and its table of keys, which is checked here."""
    logging: Any = import_module("transformers.utils.logging")  # has no types
    shown, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if shown:
            logging.enable_progress_bar()


def _places(valid_BL: Tensor) -> Tensor:
    """Counted from a row's first real token; padding gets 0."""
    return (valid_BL.long().cumsum(1) - 1).clamp(min=0)
