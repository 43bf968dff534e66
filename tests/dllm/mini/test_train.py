"""Training: it learns, it can be killed and resumed, and bad data is named."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from remask.dllm.errors import TrainingDataUnusable, WeightsUnusable
from remask.dllm.mini.layout import LayoutOptions
from remask.dllm.mini.loss import collate
from remask.dllm.mini.mixture import Composer, batches, load_sources, read_mixture
from remask.dllm.mini.model import END, KINDS, ReaderShape
from remask.dllm.mini.train import Trainer, TrainOptions
from remask.dllm.mini.weights import load_reader, load_words

from .rows import row, write_rows

MIXTURE = '[[source]]\nfile = "rows.jsonl.gz"\nweight = 1.0\ndistractors = 0.5\n'


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_rows(tmp_path / "rows.jsonl.gz", [row(n) for n in range(120)])
    (tmp_path / "mixture.toml").write_text(MIXTURE, encoding="utf-8")
    return tmp_path


def options(data: Path, **changes: object) -> TrainOptions:
    values: dict[str, object] = {"mixture": data / "mixture.toml", "batch_tokens": 512, "total_tokens": 20_000}
    return TrainOptions(**{**values, **changes})  # type: ignore[arg-type]


def test_the_loss_falls_on_a_small_task(data: Path) -> None:
    trainer = Trainer(data, data / "run", options(data, total_tokens=12_000))
    rows: list[dict[str, float]] = []
    trainer.run(seconds=120, report=rows.append)
    assert math.isfinite(rows[-1]["answer"])
    with torch.no_grad():
        fresh = Trainer(data, data / "other", options(data))
        sources, shape = trainer.sources, trainer.options.shape
        composer = Composer(trainer.words, trainer.options.layout, 5)
        batch = collate(next(batches(sources, composer, tokens=512)), shape, pad=trainer.words.pad)
        from remask.dllm.mini.loss import losses

        def answer_loss(t: Trainer) -> float:
            generator = torch.Generator().manual_seed(0)
            return float(losses(t.reader, batch, pad=t.words.pad, generator=generator)["answer"])

        assert answer_loss(trainer) < 0.8 * answer_loss(fresh)


def test_a_batch_points_at_the_gold_tokens_whatever_the_padding(data: Path) -> None:
    words, shape = load_words(), ReaderShape()
    sources = load_sources(read_mixture(data / "mixture.toml"), data, words, TrainOptions().layout, shape.answer)
    composer = Composer(words, TrainOptions().layout, 1)
    for _, composed in zip(range(10), batches(sources, composer, tokens=600), strict=False):
        batch = collate(composed, shape, pad=words.pad)
        ids = batch.ids.flatten(1)
        for e, right in enumerate(batch.right):
            for at, length in zip(batch.answer_at[e].tolist(), batch.answer_length[e].tolist(), strict=True):
                if at >= 0:
                    assert tuple(ids[e, at : at + length].tolist()) in right
            assert batch.kind[e] == KINDS.index("span")
            cited = [c for c in batch.cite_at[e].tolist() if c != END]
            assert all(batch.marks.flatten(1)[e, c] == 1 for c in cited)
            assert batch.support[e].nonzero()[:, 0].tolist() == sorted(cited)


def test_a_resumed_run_goes_on_where_it_stood(data: Path) -> None:
    first = Trainer(data, data / "run", options(data))
    first.run(seconds=3, report=lambda row: None)
    again = Trainer(data, data / "run", options(data))
    assert again.progress.step == first.progress.step > 0
    assert again.progress.restarts == 1
    for (name, mine), (_, theirs) in zip(again._trained(), first._trained(), strict=True):
        assert torch.equal(mine, theirs), name
        assert torch.equal(again.optimizer.state[mine]["exp_avg"], first.optimizer.state[theirs]["exp_avg"])


def test_a_run_killed_at_any_moment_can_be_resumed(data: Path) -> None:
    code = (
        "from pathlib import Path; from remask.dllm.mini.train import *; import sys; d = Path(sys.argv[1]);"
        "t = Trainer(d, d / 'run', TrainOptions(mixture=d / 'mixture.toml', batch_tokens=256, save_seconds=0.0));"
        "t.run(seconds=60, report=lambda r: None)"
    )
    for wait in (0.05, 0.4):
        child = subprocess.Popen([sys.executable, "-c", code, str(data)], env={**os.environ, "OMP_NUM_THREADS": "1"})
        deadline = time.monotonic() + 300
        while not (data / "run" / "state.json").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(wait)
        child.send_signal(signal.SIGKILL)
        child.wait()
        resumed = Trainer(data, data / "run", options(data))
        assert resumed.progress.step > 0
        assert load_reader(data / "run" / "reader.safetensors").reader.shape == ReaderShape()


def test_a_new_run_begins_with_given_weights_and_an_old_one_does_not(data: Path) -> None:
    first = Trainer(data, data / "first", options(data))
    first.run(seconds=2, report=lambda row: None)
    weights = data / "first" / "reader.safetensors"
    second = Trainer(data, data / "second", options(data, start=weights))
    for name, mine in second._trained():
        assert torch.equal(mine.half(), first.average[name].half()), name
    second.run(seconds=2, report=lambda row: None)
    again = Trainer(data, data / "second", options(data, start=weights))
    assert again.progress.step == second.progress.step > 0
    assert all(torch.equal(p, q) for (_, p), (_, q) in zip(again._trained(), second._trained(), strict=True))


def test_frozen_layers_stay_as_they_were_also_in_a_run_that_is_resumed(data: Path) -> None:
    def run(**changes: object) -> dict[str, torch.Tensor]:
        trainer = Trainer(data, data / "run", options(data, frozen=2, **changes))
        before = {name: p.detach().clone() for name, p in trainer.reader.named_parameters()}
        trainer.run(seconds=1, report=lambda _: None)
        changed = {name for name, p in trainer.reader.named_parameters() if not torch.equal(p, before[name])}
        assert "layers.2.up.weight" in changed
        assert "slots" in changed
        assert not any(name.startswith(("layers.0.", "layers.1.", "marks.", "places.")) for name in changed)
        return before

    begun, resumed = run(), run(seed=1)  # a fresh reader of another seed would have other marks
    assert torch.equal(begun["marks.weight"], resumed["marks.weight"])
    kept = load_reader(data / "run" / "reader.safetensors").reader
    assert torch.equal(kept.layers[1].up.weight, begun["layers.1.up.weight"].half().float())
    with pytest.raises(WeightsUnusable, match="frozen"):
        Trainer(data, data / "run", options(data))


def test_weights_of_another_shape_are_refused(data: Path) -> None:
    Trainer(data, data / "first", options(data)).save()
    other = options(data, start=data / "first" / "reader.safetensors", shape=ReaderShape(answer=9))
    with pytest.raises(WeightsUnusable, match="answer=14"):
        Trainer(data, data / "second", other)


def test_a_row_whose_answer_is_taken_away_says_none_and_shows_it_nowhere(data: Path) -> None:
    (data / "mixture.toml").write_text(MIXTURE + "drop = 1.0\n", encoding="utf-8")
    words, layout, shape = load_words(), TrainOptions().layout, ReaderShape()
    (source,) = load_sources(read_mixture(data / "mixture.toml"), data, words, layout, shape.answer)
    composer = Composer(words, layout, 3)
    dropped = 0
    for prepared in source.train:
        shown = composer.compose(prepared, source)
        (answer,) = {words(a).ids for a in prepared.example.answers}
        ids = shown.layout.ids_WT[0].tolist()
        there = any(tuple(ids[i : i + len(answer)]) == answer for i in range(len(ids)))
        assert (shown.target.kind == "none") != there
        dropped += shown.target.kind == "none"
    assert dropped > 20


def test_half_of_a_two_hop_question_says_none_and_names_what_to_look_up(data: Path) -> None:
    hop = {
        "id": "hop",
        "question": "Where was the maker of the lantern born?",
        "answers": ["Oslo"],
        "supporting_facts": [["Lantern", 0], ["Ada", 0]],
        "context": [["Lantern", ["The lantern was made by Ada."]], ["Ada", ["Ada was born in Oslo."]]],
    }
    write_rows(data / "rows.jsonl.gz", [{**hop, "id": f"hop-{n}"} for n in range(30)])
    (data / "mixture.toml").write_text(MIXTURE.replace("0.5", "0.0") + "drop = 1.0\n", encoding="utf-8")
    words, layout = load_words(), TrainOptions().layout
    (source,) = load_sources(read_mixture(data / "mixture.toml"), data, words, layout, ReaderShape().answer)
    shown = Composer(words, layout, 3).compose(source.train[0], source)
    assert shown.target.kind == "none"
    (bridge,) = shown.target.bridges or ()
    assert (bridge.text, bridge.length) == (0, len(words("Ada").ids))


@pytest.mark.parametrize(("fewer", "counts"), [("fewer = 1.0", {2, 3, 4, 5, 6}), ("fewer = 0.0", {9})])
def test_wrong_texts_are_thinned_out_and_what_is_needed_stays(data: Path, fewer: str, counts: set[int]) -> None:
    others = [[f"Text {n}", [f"Nothing of it stands in text {n}."]] for n in range(7)]
    hop = {
        "id": "hop",
        "question": "Where was the maker of the lantern born?",
        "answers": ["Oslo"],
        "supporting_facts": [["Lantern", 0], ["Ada", 0]],
        "context": [["Lantern", ["The lantern was made by Ada."]], ["Ada", ["Ada was born in Oslo."]], *others],
    }
    write_rows(data / "rows.jsonl.gz", [{**hop, "id": f"hop-{n}"} for n in range(30)])
    (data / "mixture.toml").write_text(MIXTURE.replace("0.5", "0.0") + fewer, encoding="utf-8")
    words, layout = load_words(), LayoutOptions()
    (source,) = load_sources(read_mixture(data / "mixture.toml"), data, words, layout, ReaderShape().answer)
    composer = Composer(words, layout, 3)
    every = [composer.compose(prepared, source) for prepared in source.train]
    assert {len(shown.layout.ids_WT) for shown in every} == counts
    assert {len(set(shown.layout.evidence_WT.ravel().tolist()) - {-1}) for shown in every} == counts
    assert all(len(shown.target.cites or ()) == 2 and shown.target.answers for shown in every)


def test_a_missing_file_and_a_wrong_mixture_are_named(data: Path) -> None:
    (data / "mixture.toml").write_text(MIXTURE.replace("rows", "gone"), encoding="utf-8")
    with pytest.raises(TrainingDataUnusable, match=r"lacks gone\.jsonl\.gz"):
        Trainer(data, data / "run", options(data))
    (data / "mixture.toml").write_text("[[source]]\nfile = 'x'\nweight = -1\n", encoding="utf-8")
    with pytest.raises(TrainingDataUnusable, match=r"mixture\.toml.*weight"):
        Trainer(data, data / "run", options(data))


def test_a_damaged_checkpoint_says_how_to_start_anew(data: Path) -> None:
    Trainer(data, data / "run", options(data)).save()
    path = data / "run" / "checkpoint.safetensors"
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(WeightsUnusable, match="Move it away"):
        Trainer(data, data / "run", options(data))


def test_the_log_is_one_json_object_a_line(data: Path) -> None:
    trainer = Trainer(data, data / "run", options(data))
    trainer.run(seconds=1, report=lambda row: None)
    lines = (data / "run" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    assert {"step", "tokens", "answer"} <= set(json.loads(lines[0]))
