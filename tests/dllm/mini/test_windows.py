"""Windows read before are exact, whatever they are padded to now."""

import torch
from remask.dllm.draft import Evidence, Prompt
from remask.dllm.mini.layout import Layout, LayoutOptions, arrange
from remask.dllm.mini.model import Reader, ReaderShape, Windows
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


def arrays(*texts: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    options = LayoutOptions(max_window=22, max_question=8)
    laid: Layout = arrange(WORDS, Prompt("who was it", tuple(Evidence(t) for t in texts)), options)
    ids, marks, evidence = (torch.from_numpy(a) for a in (laid.ids_WT, laid.marks_WT, laid.evidence_WT))
    return ids, marks, (evidence >= 0).long()


def same(ours: Windows, theirs: Windows, real_WT: torch.Tensor) -> bool:
    flat = zip([*ours[:4]], [*theirs[:4]], strict=True)
    layers = zip([*ours.keys, *ours.values], [*theirs.keys, *theirs.values], strict=True)
    return all(torch.allclose(a[real_WT], b[real_WT], atol=1e-5) for a, b in flat) and all(
        torch.allclose(a.transpose(1, 2)[real_WT], b.transpose(1, 2)[real_WT], atol=1e-5) for a, b in layers
    )


@torch.inference_mode()
def test_kept_windows_are_what_reading_again_gives_and_only_new_ones_are_read() -> None:
    reader, cache = small_reader(), WindowCache()
    read: list[int] = []
    plain = reader.read_windows

    def counted(ids: torch.Tensor, *rest: torch.Tensor, pad: int) -> Windows:
        read.append(len(ids))
        return plain(ids, *rest, pad=pad)

    reader.read_windows = counted  # type: ignore[method-assign]
    asked = (TEXTS[1:2], TEXTS[1:], TEXTS[1:], TEXTS)
    for texts in asked:
        given = arrays(*texts)
        found = cache.read(reader, *given, pad=WORDS.pad)
        assert same(found, plain(*given, pad=WORDS.pad), given[0] != WORDS.pad)
    different = {tuple(row[row > 0].tolist()) for texts in asked for row in arrays(*texts)[0]}
    assert sum(read) <= len(different) < sum(len(arrays(*texts)[0]) for texts in asked)


def test_no_more_windows_are_kept_than_allowed() -> None:
    reader, cache = small_reader(), WindowCache(size=2)
    for text in TEXTS:
        cache.read(reader, *arrays(text), pad=WORDS.pad)
    assert len(cache._kept) == 2
