"""The network: its cache is exact, padding changes nothing, the encoder's weights are where they belong."""

import pytest
import torch
from remask.dllm.draft import Evidence, Prompt
from remask.dllm.mini.layout import Layout, LayoutOptions, arrange
from remask.dllm.mini.model import END, MASK, Encoded, Reader, ReaderShape, run_lengths
from remask.dllm.mini.propose import blank_canvas
from remask.dllm.mini.weights import load_words, new_reader

WORDS = load_words()
SHAPE = ReaderShape(width=48, heads=4, layers=2, inner=96, answer=5, cite=2, bridge=3)


def small_reader() -> Reader:
    torch.manual_seed(3)
    return Reader(SHAPE).eval()


def encoded_of(reader: Reader, layout: Layout, *, extra: int = 0) -> Encoded:
    fills = (WORDS.pad, 0, -1, 0, 0, 0)
    tensors = [
        torch.nn.functional.pad(torch.from_numpy(a)[None], (0, extra), value=fill)
        for a, fill in zip(layout.arrays, fills, strict=True)
    ]
    return reader.encode(*tensors, pad=WORDS.pad)


def layout(*texts: str) -> Layout:
    return arrange(WORDS, Prompt("who was it", tuple(Evidence(t) for t in texts)), LayoutOptions(max_window=40))


def test_padding_a_window_changes_no_prediction() -> None:
    reader, shown = small_reader(), layout("Anna wrote the long letter.")
    canvas = blank_canvas(SHAPE, 1)[None]
    plain = reader.predict(encoded_of(reader, shown), canvas)
    padded = reader.predict(encoded_of(reader, shown, extra=7), canvas)
    L = shown.ids_WT.shape[1]
    torch.testing.assert_close(padded.start_EDL[..., :L], plain.start_EDL, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(padded.check_ED, plain.check_ED, atol=1e-5, rtol=1e-5)


def test_canvases_of_one_batch_do_not_see_each_other() -> None:
    reader, shown = small_reader(), layout("Anna wrote the letter.", "Bert read it.")
    encoded = encoded_of(reader, shown)
    blank, committed = blank_canvas(SHAPE, 1), blank_canvas(SHAPE, 1)
    committed[0, SHAPE.part("answer")] = torch.tensor([6, 7, END, END, END])
    both = reader.predict(encoded, torch.cat([blank, committed])[None])
    alone = reader.predict(encoded, committed[None])
    torch.testing.assert_close(both.start_EDL[:, 1:], alone.start_EDL, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(both.check_ED[:, 1:], alone.check_ED, atol=1e-5, rtol=1e-5)


def test_a_committed_slot_changes_what_its_neighbours_say() -> None:
    reader, shown = small_reader(), layout("Anna wrote the letter.")
    encoded = encoded_of(reader, shown)
    blank, committed = blank_canvas(SHAPE, 1), blank_canvas(SHAPE, 1)
    committed[0, SHAPE.part("answer").start] = 6
    apart = reader.predict(encoded, torch.cat([blank, committed])[None]).stop_EDAL[0]
    assert not torch.allclose(apart[0, 1], apart[1, 1])


def test_the_canvas_is_cheap_because_the_prompt_never_sees_it() -> None:
    reader, shown = small_reader(), layout("Anna wrote the letter.")
    encoded = encoded_of(reader, shown)
    before = [k.clone() for k in encoded.keys]
    reader.predict(encoded, torch.full((1, 2, SHAPE.slots), MASK))
    assert all(torch.equal(a, b) for a, b in zip(before, encoded.keys, strict=True))


@torch.inference_mode()
def test_only_words_of_the_evidence_can_begin_an_answer() -> None:
    reader, shown = small_reader(), layout("Anna wrote unbelievable letters.")
    start = reader.predict(encoded_of(reader, shown), blank_canvas(SHAPE, 1)[None]).start_EDL[0, 0].exp()
    allowed = torch.from_numpy((shown.pointable_WT & shown.first_WT).ravel())
    assert float(start[~allowed].sum()) < 1e-6
    assert float(start[allowed].sum()) == pytest.approx(1.0, abs=1e-4)


def test_runs_count_to_the_end_of_a_text() -> None:
    evidence = torch.tensor([[[-1, 0, 0, 0, 1, 1], [1, 1, -1, -1, -1, -1]]])
    pointable = evidence >= 0
    assert run_lengths(evidence, pointable).tolist() == [[0, 3, 2, 1, 2, 1, 2, 1, 0, 0, 0, 0]]


def test_a_new_reader_encodes_as_the_packaged_encoder_does() -> None:
    from remask.dllm.mini.weights import backbone_folder
    from sentence_transformers import SentenceTransformer  # heavy, and only this test compares with it

    reader = new_reader().eval()
    shown = arrange(WORDS, Prompt("a quiet harbour town"), LayoutOptions())
    ours = encoded_of(reader, shown).states_ELC[0]
    theirs = SentenceTransformer(str(backbone_folder()), device="cpu").encode(
        ["a quiet harbour town"], output_value="token_embeddings", convert_to_tensor=True
    )[0]
    torch.testing.assert_close(ours.detach(), theirs, atol=1e-4, rtol=1e-4)
