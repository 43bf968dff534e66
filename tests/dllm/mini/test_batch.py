"""Passes made together say what each says alone; runs in threads share them and never wait in vain."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from remask.dllm.draft import Evidence, Prompt, finish
from remask.dllm.mini.batch import Gathering, together
from remask.dllm.mini.layout import LayoutOptions, arrange
from remask.dllm.mini.model import KIND, Encoded, Predicted, Reader, ReaderShape
from remask.dllm.mini.propose import blank_canvas
from remask.dllm.mini.reader import EmbeddedReader, ReaderOptions
from remask.dllm.mini.weights import load_words, new_reader
from remask.dllm.mini.windows import WindowCache
from torch import Tensor

WORDS = load_words()
PROMPTS = [
    Prompt("who wrote it", (Evidence("Anna wrote the letter."), Evidence("Nobody in the long quiet street answered."))),
    Prompt("who read it", (Evidence("Bert read it."),)),
    Prompt("where was it", (Evidence("It lay in the old mayor's office, under a stone that was as heavy as it was."),)),
]
DRAFTED = ReaderOptions(precision="float32")


def small_reader() -> Reader:
    torch.manual_seed(3)
    return Reader(ReaderShape(width=48, heads=4, layers=2, inner=96)).eval()


def encoded(reader: Reader, prompt: Prompt) -> Encoded:
    apart = arrange(WORDS, prompt, LayoutOptions(max_window=22, max_question=8))
    shown = np.stack([apart.ids_WT, apart.marks_WT, apart.evidence_WT >= 0])
    rows = [torch.from_numpy(shown[:, w, apart.row(w)]) for w in range(shown.shape[1])]
    arrays = [torch.from_numpy(a)[None] for a in apart.joined().arrays]
    return reader.assemble(WindowCache().read(reader, rows), *arrays, pad=WORDS.pad)


@torch.inference_mode()
def test_a_pass_made_together_says_what_it_says_alone() -> None:
    reader = small_reader()
    wanted = []
    for number, prompt in enumerate(PROMPTS):
        canvas = blank_canvas(reader.shape, number + 1)  # one, two, three canvases
        canvas[-1, KIND], canvas[-1, reader.shape.part("answer").start] = 0, 3 + number
        wanted.append((encoded(reader, prompt), canvas))
    assert len({one.states_ELC.shape[1] for one, _ in wanted}) == 3
    for (one, canvas), found in zip(wanted, together(reader.predict, wanted), strict=True):
        alone = reader.predict(one, canvas[None])
        for ours, theirs in zip(found, alone, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


class Slow:
    """A model whose first pass waits until the others have come."""

    def __init__(self, reader: Reader) -> None:
        self._reader, self.sizes, self.begun, self.go = reader, list[int](), threading.Event(), threading.Event()

    def __call__(self, prompts: Encoded, canvas_EDN: Tensor) -> Predicted:
        self.sizes.append(canvas_EDN.shape[0])
        self.begun.set()
        assert self.go.wait(30)
        with torch.inference_mode():
            return self._reader.predict(prompts, canvas_EDN)


def test_whoever_comes_during_a_pass_shares_the_next_one() -> None:
    reader = small_reader()
    with torch.inference_mode():
        prompts = [encoded(reader, PROMPTS[n % 3]) for n in range(5)]
    model = Slow(reader)
    gathering = Gathering(model, most=3)
    canvas = blank_canvas(reader.shape, 1)
    with ThreadPoolExecutor(5) as pool:
        first = pool.submit(gathering.predicted, prompts[0], canvas)
        assert model.begun.wait(30)
        rest = [pool.submit(gathering.predicted, prompt, canvas) for prompt in prompts[1:]]
        deadline = time.monotonic() + 30
        while gathering.wanted < 5:
            assert time.monotonic() < deadline
            time.sleep(0.001)
        model.go.set()
        found = [each.result(30) for each in (first, *rest)]
    assert model.sizes == [1, 3, 1]
    assert (gathering.wanted, gathering.made) == (5, 3)
    assert [f.start_EDL.shape[-1] for f in found] == [p.states_ELC.shape[1] for p in prompts]


def test_a_pass_that_fails_is_told_to_each_that_shared_it() -> None:
    def broken(prompts: Encoded, canvas_EDN: Tensor) -> Predicted:
        raise ZeroDivisionError

    reader = small_reader()
    with torch.inference_mode():
        prompt = encoded(reader, PROMPTS[0])
    gathering = Gathering(broken)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            gathering.predicted(prompt, blank_canvas(reader.shape, 1))


def test_runs_in_threads_draft_what_each_drafts_alone() -> None:
    weights = new_reader(seed=1).eval()
    alone = EmbeddedReader(weights, WORDS, LayoutOptions(), DRAFTED)
    shared = EmbeddedReader(weights, WORDS, LayoutOptions(), DRAFTED)
    gathering = shared.share_passes()
    with ThreadPoolExecutor(3) as pool:
        together_made = list(pool.map(lambda p: finish(shared.draft(p, candidates=2)), PROMPTS))
    assert gathering.wanted >= gathering.made > 0
    for prompt, drafts in zip(PROMPTS, together_made, strict=True):
        known = finish(alone.draft(prompt, candidates=2))
        assert [(d.text, d.kind, d.cited) for d in drafts] == [(d.text, d.kind, d.cited) for d in known]
        assert [d.confidence for d in drafts] == pytest.approx([d.confidence for d in known], abs=1e-4)
