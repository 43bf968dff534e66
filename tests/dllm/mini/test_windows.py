"""Windows read before are exact, whatever they are padded to now."""

import numpy as np
import torch
from remask.dllm.draft import Evidence, Prompt
from remask.dllm.mini.layout import Layout, LayoutOptions, arrange
from remask.dllm.mini.model import Ragged, Reader, ReaderShape, Windows
from remask.dllm.mini.weights import load_words
from remask.dllm.mini.windows import WindowCache

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


def same(found: Windows, wanted: Windows) -> None:
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


@torch.inference_mode()
def test_a_window_read_among_others_is_what_it_is_alone() -> None:
    reader, windows = small_reader(), rows(*TEXTS)
    lengths = [window.shape[1] for window in windows]
    together = WindowCache().read(reader, windows).split(lengths)
    for window, found in zip(windows, together, strict=True):
        same(found, reader.read(window, [window.shape[1]]))


@torch.inference_mode()
def test_windows_padded_to_the_longest_are_read_as_window_by_window() -> None:
    layer, lengths = small_reader().layers[0], [3, 7, 1]
    qkv_RC = torch.randn(sum(lengths), 3 * 48, generator=torch.Generator().manual_seed(0))
    one_by_one, padded = (Ragged(lengths, torch.device("cpu"), apart=apart) for apart in (True, False))
    torch.testing.assert_close(padded.attended(layer, qkv_RC), one_by_one.attended(layer, qkv_RC))
    assert padded.columns_R.tolist() == [0, 1, 2, 0, 1, 2, 3, 4, 5, 6, 0]


@torch.inference_mode()
def test_only_new_windows_are_read() -> None:
    reader, cache, read = small_reader(), WindowCache(), []
    plain = reader.read

    def counted(shown: torch.Tensor, lengths: list[int]) -> Windows:
        read.append(len(lengths))
        return plain(shown, lengths)

    reader.read = counted  # type: ignore[method-assign]
    seen = [cache.read(reader, rows(*texts)) for texts in (TEXTS[1:2], TEXTS[1:], TEXTS[1:], TEXTS)]
    assert sum(read) == len(rows(*TEXTS))
    same(seen[-1], WindowCache().read(reader, rows(*TEXTS)))


def test_no_more_windows_are_kept_than_allowed() -> None:
    reader, cache = small_reader(), WindowCache(size=2)
    for text in TEXTS:
        cache.read(reader, rows(text))
    assert len(cache._kept) == 2
