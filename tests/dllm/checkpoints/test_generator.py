"""A checkpoint as a generator, on tiny random weights: what it says is noise, how it says it is not."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from remask.dllm.checkpoints.asking import asked
from remask.dllm.checkpoints.denoiser import DecodeOptions
from remask.dllm.checkpoints.generator import CheckpointGenerator, GeneratorOptions
from remask.dllm.checkpoints.reuse import Caching
from remask.dllm.checkpoints.streaming import Shown, stream
from remask.dllm.checkpoints.tokenizer import Tokenizer
from remask.dllm.checkpoints.written import WrittenDraft, written
from remask.dllm.credit import Credit
from remask.dllm.draft import CanvasPass, Draft, Evidence, Generator, Mark, Passes, Prompt, finish
from remask.dllm.errors import BackendUnavailable, GenerationFailed, WeightsUnusable
from remask.dllm.policy import Policy
from remask.dllm.scripted import ScriptedGenerator
from torch import Tensor
from transformers import TextDiffusionStreamer

from . import gemmas
from .tiny import SPECIAL, checkpoint, gemma_checkpoint, words

FAMILIES = {"llada": "llada", "lladamoe": "llada", "dream": "dream", "sdar": "sdar", "llada2": "llada2"}
TEXTS = ("The lighthouse was built by Mira Holt in 1871.", "It rises over the harbour of Port Ember.")
PROMPT = Prompt("Who built the lighthouse?", tuple(Evidence(text, f"Text {n}") for n, text in enumerate(TEXTS)))
GEMMA = "diffusiongemma"
OPTIONS = GeneratorOptions(answer_tokens=10, threshold=0.2, decode=DecodeOptions(block_length=5))


@pytest.fixture(autouse=True)
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in test_gemma.py."""
    monkeypatch.setattr("torch.compiler.cudagraph_mark_step_begin", lambda: None)


def load(tmp_path: Path, name: str = "llada", options: GeneratorOptions = OPTIONS) -> CheckpointGenerator:
    folder = tmp_path / name
    if not folder.is_dir():
        folder = gemma_checkpoint(folder) if name == GEMMA else checkpoint(folder, name)
    return CheckpointGenerator.load(str(folder), device="cpu", options=options)


def watch(passes: Passes) -> tuple[list[CanvasPass], list[Draft]]:
    seen: list[CanvasPass] = []
    while True:
        try:
            seen.append(next(passes))
        except StopIteration as stop:
            return seen, stop.value


@pytest.mark.parametrize("name", [*FAMILIES, GEMMA])
def test_every_family_drafts_in_passes_and_says_how_sure_it_is_of_each_token(tmp_path: Path, name: str) -> None:
    generator: Generator = load(tmp_path, name)
    seen, drafts = watch(generator.draft(PROMPT, max_passes=6))
    assert set(seen[0].canvas) == {"▒"}
    assert seen[0].masked >= 10
    assert seen[-1].masked == 0
    assert 1 <= drafts[0].passes == len(seen) - 1 <= 6
    if name != GEMMA:  # which may think better of what it kept
        assert sum(each.committed for each in seen) <= seen[0].masked
    for token in drafts[0].tokens:
        assert 0 <= token.start < token.end <= len(drafts[0].text)
        assert 0 <= token.confidence <= 1
    assert 0 <= drafts[0].confidence <= 1
    assert set(drafts[0].stages) == {"prefill", "denoise"}


@pytest.mark.parametrize("name", ["llada", "dream", "sdar"])
def test_the_canvas_ends_with_a_block_where_attention_has_blocks(tmp_path: Path, name: str) -> None:
    generator = load(tmp_path, name)
    seen, _ = watch(generator.draft(PROMPT, max_passes=2))
    prompt = len(asked(Tokenizer.load(tmp_path / name), PROMPT, room=9999).ids)
    assert seen[0].masked == (10 + -(prompt + 10) % 4 if name == "sdar" else 10)


def test_a_seed_gives_the_same_drafts_and_the_first_is_the_likeliest_whatever_the_seed(tmp_path: Path) -> None:
    generator = load(tmp_path)
    one, same, other = (finish(generator.draft(PROMPT, candidates=3, seed=seed)) for seed in (1, 1, 50))
    assert [d.text for d in one] == [d.text for d in same]
    assert {d.text for d in one} != {d.text for d in other}
    alone = finish(generator.draft(PROMPT))[0].text
    assert all(alone in {d.text for d in drafts} for drafts in (one, other))
    assert [d.confidence for d in one] == sorted((d.confidence for d in one), reverse=True)


def test_a_long_answer_of_diffusiongemma_takes_several_canvases_and_stops_at_the_end(tmp_path: Path) -> None:
    generator = load(tmp_path, GEMMA, GeneratorOptions(answer_tokens=20))
    seen, (draft, *_) = watch(generator.draft(PROMPT, max_passes=6, candidates=2))
    assert seen[0].masked == 24
    assert [each.index for each in seen] == list(range(len(seen)))
    assert draft.passes <= 6
    assert isinstance(draft, WrittenDraft)
    ends = generator._tokenizer.ends
    first = next((i for i, id_ in enumerate(draft.ids) if id_ in ends), 24)
    assert draft.text == written(generator._tokenizer, draft.ids[:first], shown=2).text


@pytest.mark.parametrize("name", ["llada", GEMMA])
def test_transformers_streamer_gets_every_draft_then_the_answer(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    class Kept:
        def __init__(self) -> None:
            self.calls: list[tuple[str, list[int]]] = []

        def put_draft(self, value: Tensor) -> None:
            self.calls.append(("draft", value[0].tolist()))

        def put(self, value: Tensor) -> None:
            self.calls.append(("put", value[0].tolist()))

        def end(self) -> None:
            self.calls.append(("end", []))

    generator, kept = load(tmp_path, name), Kept()
    draft = generator.stream(PROMPT, kept, max_passes=3)
    assert isinstance(draft, WrittenDraft)
    assert [kind for kind, _ in kept.calls] == ["draft"] * draft.passes + ["put", "end"]
    assert kept.calls[-2][1] == list(draft.ids) == kept.calls[-3][1]
    if name == "llada":
        generator.stream(PROMPT, TextDiffusionStreamer(words(), skip_special_tokens=True), max_passes=3)
        assert draft.text[:4] in capsys.readouterr().out


def test_a_stream_ends_even_when_the_model_fails() -> None:
    ended = []

    class Broken:
        def put_draft(self, value: Tensor) -> None: ...
        def put(self, value: Tensor) -> None: ...
        def end(self) -> None:
            ended.append(True)

    with pytest.raises(GenerationFailed, match="no tokens to stream"):
        stream(ScriptedGenerator([Draft("Mira Holt")]).draft(PROMPT), Broken())
    assert ended == [True]


def test_transformers_can_generate_into_our_streamer() -> None:
    tokenizer = Tokenizer(words())
    network = gemmas.network(words=len(words()) + 6)
    shown = Shown(tokenizer)
    torch.manual_seed(0)
    prompt = torch.tensor([tokenizer.encode("Who built it?")])
    out = network.generate(prompt, max_new_tokens=16, max_denoising_steps=2, streamer=shown)
    seen = list(shown)
    assert [each.index for each in seen] == list(range(1, 7))  # two drafts and a canvas, twice
    assert seen[-1].canvas == tokenizer.decode(out.sequences[0, prompt.shape[1] :].tolist())
    assert seen[3].canvas.startswith(seen[2].canvas)


@pytest.mark.parametrize("name", ["llada", "sdar", GEMMA])
def test_a_prompt_of_special_words_alone_is_read_as_text(tmp_path: Path, name: str) -> None:
    special = "".join(SPECIAL)
    generator = load(tmp_path, name)
    seen, (draft, *_) = watch(generator.draft(Prompt(special, (Evidence(special, special),)), max_passes=2))
    assert set(seen[0].canvas) == {"▒"}
    assert (seen[0].masked, seen[-1].masked) == (len(seen[0].canvas), 0)
    assert draft.passes <= 2


def test_an_answer_may_be_made_to_say_something(tmp_path: Path) -> None:
    ends, other = Tokenizer(words()).ends, words().convert_tokens_to_ids("e")

    def leaning(head: torch.nn.Module, given: object, logits_BNV: torch.Tensor) -> torch.Tensor:
        said = logits_BNV.index_fill(2, torch.tensor(sorted(ends)), 0.0)
        said[..., ends[0]] = 100 * logits_BNV[..., 7]  # an end, or its opposite, wherever it may stand
        said[..., other] = -100 * logits_BNV[..., 7]
        return said

    for least in (0, 4):
        options = GeneratorOptions(answer_tokens=10, least_tokens=least, policy=Policy(commit="hierarchy"))
        generator = load(tmp_path, "llada", options)
        generator._model.model.network._head.register_forward_hook(leaning)
        (draft, *_) = finish(generator.draft(PROMPT, max_passes=10))
        assert isinstance(draft, WrittenDraft)
        assert all(id_ not in ends for id_ in draft.ids[:least])


def test_a_draft_that_has_ended_takes_no_more_passes(tmp_path: Path) -> None:
    options = GeneratorOptions(answer_tokens=10, threshold=1.0, stop_at_end=True)
    generator = load(tmp_path, "llada", options)
    (draft,) = finish(generator.draft(PROMPT, max_passes=10))
    assert isinstance(draft, WrittenDraft)
    said = generator._tokenizer.ends[0]
    ended = replace(draft, ids=(5, 6, said, *draft.ids[3:]), sure=draft.sure)
    text = written(generator._tokenizer, ended.ids, shown=0).text
    seen, (same,) = watch(generator.refine(PROMPT, replace(ended, text=text), [(0, len(text))], max_passes=9))
    assert seen[0].masked == 2
    assert same.passes <= 2


def test_credit_and_editing_are_options_of_a_generator(tmp_path: Path) -> None:
    policy = Policy(commit="threshold", threshold=0.2, edit_above=0.1)
    options = GeneratorOptions(answer_tokens=10, credit=Credit(), policy=policy)
    generator = load(tmp_path, "llada2", options)
    (draft, *_) = finish(generator.draft(PROMPT, max_passes=12))
    assert 1 <= draft.passes <= 12


def test_closing_a_run_stops_the_model(tmp_path: Path) -> None:
    passes = load(tmp_path).draft(PROMPT, max_passes=6)
    next(passes)
    passes.close()
    with pytest.raises(StopIteration):
        next(passes)


@pytest.mark.parametrize("name", [*FAMILIES, GEMMA])
def test_refining_changes_the_tokens_under_the_spans_and_no_other(tmp_path: Path, name: str) -> None:
    generator = load(tmp_path, name)
    draft = finish(generator.draft(PROMPT, max_passes=6))[0]
    assert isinstance(draft, WrittenDraft)
    token = draft.tokens[len(draft.tokens) // 2]
    seen, (refined,) = watch(generator.refine(PROMPT, draft, [(token.start, token.end)], reason="doubt", max_passes=3))
    assert seen[0].reason == "doubt"
    assert seen[0].remasked == (draft.text[token.start : token.end],)
    assert isinstance(refined, WrittenDraft)
    spans = written(Tokenizer.load(tmp_path / name), draft.ids, shown=2).spans
    under = [start < token.end and token.start < end for start, end in spans]
    assert seen[0].masked == sum(under) >= 1
    for was, now, hidden in zip(draft.ids, refined.ids, under, strict=True):
        assert hidden or was == now
    assert [s for s, h in zip(refined.sure, under, strict=True) if not h] == pytest.approx(
        [s for s, h in zip(draft.sure, under, strict=True) if not h]
    )


def test_a_draft_from_elsewhere_is_refined_by_its_text(tmp_path: Path) -> None:
    draft = Draft("Mira Holt in 1871")
    seen, (refined,) = watch(load(tmp_path).refine(PROMPT, draft, [(10, 17)]))
    assert seen[0].canvas.startswith("Mira Holt")
    assert seen[0].canvas.endswith("▒")
    assert refined.text.startswith("Mira Holt")


def test_refining_nothing_gives_the_draft_back(tmp_path: Path) -> None:
    generator = load(tmp_path)
    draft = finish(generator.draft(PROMPT))[0]
    seen, (same,) = watch(generator.refine(PROMPT, draft, []))
    assert (same.text, len(seen), seen[0].masked) == (draft.text, 1, 0)


def test_evidence_that_does_not_fit_is_left_out_whole_from_the_end_and_named(tmp_path: Path) -> None:
    tokenizer = Tokenizer(words())
    long = Prompt("Who?", tuple(Evidence(f"Number {n}. " + "harbour " * 20) for n in range(6)))
    whole = asked(tokenizer, long, room=100_000)
    assert whole.left_out == ()
    part = asked(tokenizer, long, room=len(whole.ids) - 1)
    assert part.left_out == (5,)
    bare = asked(tokenizer, long, room=len(asked(tokenizer, Prompt("Who?"), room=9999).ids) + 5)
    assert bare.left_out == (0, 1, 2, 3, 4, 5)
    generator = load(tmp_path, options=GeneratorOptions(answer_tokens=10, window=len(part.ids) + 10))
    assert finish(generator.draft(long))[0].left_out == (5,)


@pytest.mark.parametrize(("name", "caching"), [("sdar", "prefix"), ("llada", "prompt")])
def test_evidence_is_read_once_for_all_questions_about_it(tmp_path: Path, name: str, caching: Caching) -> None:
    decode = DecodeOptions(caching=caching, block_length=5, document_bytes=10**7)
    options = GeneratorOptions(answer_tokens=10, threshold=0.2, decode=decode)
    generator, fresh = (load(tmp_path, name, options) for _ in range(2))
    for question in ("Who built the lighthouse?", "When was it built?", "1 or 2?"):
        prompt = replace(PROMPT, question=question)
        mine, theirs = (finish(each.draft(prompt))[0] for each in (generator, fresh))
        assert mine.text == theirs.text
        fresh = load(tmp_path, name, options)
    documents = generator._model.model.documents
    assert (documents.hits, documents.misses, len(documents)) == (2, 1, 1)


def test_a_question_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GenerationFailed, match="Ask shorter"):
        finish(load(tmp_path).draft(Prompt("why " * 3000)))


def test_an_answer_without_length_is_refused() -> None:
    with pytest.raises(ValueError, match="answer_tokens=0"):
        GeneratorOptions(answer_tokens=0)


@given(st.lists(st.sampled_from([*SPECIAL, "<", "|", "im_end", "|>", "<|", " ", "x", "\n"]), max_size=12))
@settings(deadline=None, max_examples=150)
def test_no_document_or_question_can_say_a_special_word(parts: list[str]) -> None:
    tokenizer, text = Tokenizer(words()), "".join(parts)
    special = set(words().all_special_ids)
    benign, hostile = (asked(tokenizer, Prompt(each, (Evidence(each, each),)), room=99_999).ids for each in ("x", text))
    assert [i for i in hostile if i in special] == [i for i in benign if i in special]


def test_markers_become_citations_and_leave_the_text() -> None:
    tokenizer = Tokenizer(words())
    ids = tokenizer.encode(" Mira Holt [2] built it [1][2] in 1871 [77]. ")
    said = written(tokenizer, [*ids, *tokenizer.ends[:1], *ids], shown=2)
    assert said.text == "Mira Holt built it in 1871."
    assert said.marks == (Mark(9, 1), Mark(18, 0), Mark(18, 1))
    assert len(said.spans) == 2 * len(ids) + 1
    covered = sorted({i for start, end in said.spans for i in range(start, end)})
    assert covered == list(range(len(said.text)))
    assert set(said.spans[len(ids) :]) == {(0, 0)}


def test_only_evidence_that_was_shown_can_be_cited(tmp_path: Path) -> None:
    generator = load(tmp_path)
    draft = Draft("Mira Holt [2] [9]")
    (refined,) = finish(generator.refine(PROMPT, draft, []))
    assert (refined.text, refined.marks) == ("Mira Holt", (Mark(9, 1),))


def test_the_bytes_of_one_character_share_its_span() -> None:
    tokenizer = Tokenizer(words())
    ids = tokenizer.encode("a✓b")
    assert len(ids) == 5
    assert written(tokenizer, ids, shown=0).spans == ((0, 1), (1, 2), (1, 2), (1, 2), (2, 3))


@pytest.mark.parametrize(("said", "kind"), [("Yes.", "yes"), ("no", "no"), ("No answer.", "none"), ("1871", "span")])
def test_what_sort_of_answer_it_is_is_read_off_its_words(tmp_path: Path, said: str, kind: str) -> None:
    (draft,) = finish(load(tmp_path).refine(PROMPT, Draft(said), []))
    assert draft.kind == kind
    assert (draft.text == "") == (kind == "none")


def test_a_folder_of_another_family_is_refused_by_name(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "it", "dream")
    with pytest.raises(BackendUnavailable, match="is a dream checkpoint, not a llada"):
        CheckpointGenerator.load(str(folder), family="llada")


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "it", "llada")
    (folder / "tokenizer.json").rename(folder / "gone.json")
    with pytest.raises(WeightsUnusable, match=r"no tokenizer\.json"):
        CheckpointGenerator.load(str(folder))
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(WeightsUnusable, match="can't be read"):
        CheckpointGenerator.load(str(folder))
