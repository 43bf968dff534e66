"""Windows read before are exact, whatever they are padded to now."""

import numpy as np
import torch
from remask.dllm.draft import Evidence, Prompt
from remask.dllm.mini.layout import Layout, LayoutOptions, arrange
from remask.dllm.mini.model import Reader, ReaderShape, Windows
from remask.dllm.mini.weights import load_words
from remask.dllm.mini.windows import WindowCache, joined

WORDS = load_words()
TEXTS = [
    "Anna wrote the letter to the old mayor.",
    "Bert read it.",
    "Nobody in the long quiet street answered it at all.",
]


def small_reader() -> Reader:
    torch.manual_seed(3)
    return Reader(ReaderShape(width=48, heads=4, layers=2, inner=96)).eval()


def rows(*texts: str) -> list[torch.Tensor]:
    options = LayoutOptions(max_window=22, max_question=8)
    laid: Layout = arrange(WORDS, Prompt("who was it", tuple(Evidence(t) for t in texts)), options)
    shown = np.stack([laid.ids_WT, laid.marks_WT, laid.evidence_WT >= 0])
    return [torch.from_numpy(shown[:, w, laid.row(w)]) for w in range(shown.shape[1])]


def tensors(windows: Windows) -> list[torch.Tensor]:
    return [windows.states, windows.start, windows.stop, windows.cite, *windows.keys, *windows.values]


@torch.inference_mode()
def test_a_window_read_among_others_is_what_it_is_alone() -> None:
    reader = small_reader()
    for window, found in zip(rows(*TEXTS), WindowCache().read(reader, rows(*TEXTS)), strict=True):
        alone = reader.read_windows(*window[:, None], pad=WORDS.pad)
        for ours, theirs in zip(tensors(found), tensors(alone), strict=True):
            torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


@torch.inference_mode()
def test_only_new_windows_are_read() -> None:
    reader, cache, read = small_reader(), WindowCache(), []
    plain = reader.read_windows

    def counted(ids: torch.Tensor, *rest: torch.Tensor, pad: int) -> Windows:
        read.append(len(ids))
        return plain(ids, *rest, pad=pad)

    reader.read_windows = counted  # type: ignore[method-assign]
    for texts in (TEXTS[1:2], TEXTS[1:], TEXTS[1:], TEXTS):
        cache.read(reader, rows(*texts))
    assert sum(read) == len(rows(*TEXTS))


@torch.inference_mode()
def test_joined_windows_are_one_prompt_without_padding() -> None:
    read = WindowCache().read(small_reader(), rows(*TEXTS))
    whole = joined(read)
    lengths = [window.shape[1] for window in rows(*TEXTS)]
    assert whole.states.shape[1] == sum(lengths) == whole.keys[0].shape[2]
    torch.testing.assert_close(whole.cite[:, lengths[0] : lengths[0] + lengths[1]], read[1].cite)


def test_no_more_windows_are_kept_than_allowed() -> None:
    reader, cache = small_reader(), WindowCache(size=2)
    for text in TEXTS:
        cache.read(reader, rows(text))
    assert len(cache._kept) == 2
