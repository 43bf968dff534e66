"""DiffusionGemma under our loop against transformers' own `generate`, word for word under the same random numbers."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from remask.dllm.checkpoints.gemma import Gemma, load_gemma
from remask.dllm.denoise import Denoised, Run, Step, denoise
from remask.dllm.errors import BackendUnavailable, GenerationFailed, WeightsUnusable
from remask.dllm.policy import threshold_policy
from remask.dllm.renoise import RenoisePolicy, SeededDraws, renoise
from remask.dllm.sample import from_logits
from torch import Tensor

from . import gemmas

N, WORDS = gemmas.CANVAS, 96


class GlobalDraws:
    """Torch's global generator, asked in transformers' own order."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def ids(self, slots: int, vocabulary: int) -> Tensor:
        return torch.randint(0, vocabulary, (self.rows, slots))

    def drawn(self, p_BNV: Tensor) -> Tensor:
        return torch.multinomial(p_BNV.flatten(0, 1), 1).view(p_BNV.shape[:2])


def finish(run: Run) -> tuple[list[Step], Denoised]:
    steps: list[Step] = []
    while True:
        try:
            steps.append(next(run))
        except StopIteration as stop:
            return steps, stop.value


def everything(rows: int = 1) -> tuple[Tensor, Tensor]:
    return torch.zeros(rows, N, dtype=torch.long), torch.ones(rows, N, dtype=torch.bool)


@pytest.fixture(autouse=True)
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """transformers tells CUDA graphs where a step begins, which imports all of torch's compiler to do nothing on a CPU."""
    monkeypatch.setattr("torch.compiler.cudagraph_mark_step_begin", lambda: None)


@pytest.fixture(scope="module")
def quiet() -> Any:
    return gemmas.network(seed=1)


@pytest.fixture(scope="module")
def loud() -> Any:
    return gemmas.network(seed=2, loud=6.0)


@pytest.mark.parametrize(("which", "bound"), [("quiet", 0.1), ("quiet", 9.0), ("loud", 0.1), ("loud", 2.0)])
@pytest.mark.parametrize("length", [5, 19])
def test_the_loop_writes_what_transformers_writes(
    which: str, bound: float, length: int, request: pytest.FixtureRequest
) -> None:
    from transformers.models.diffusion_gemma.generation_diffusion_gemma import EntropyBoundSamplerConfig

    network = request.getfixturevalue(which)
    prompt = torch.randint(0, WORDS, (1, length), generator=torch.Generator().manual_seed(length))
    torch.manual_seed(7)
    theirs = network.generate(
        prompt, max_new_tokens=N, max_denoising_steps=6, sampler_config=EntropyBoundSamplerConfig(entropy_bound=bound)
    )
    model = Gemma(network)
    state = model.prefill(prompt.tolist())
    canvas, free = everything()
    torch.manual_seed(7)
    policy = RenoisePolicy(max_passes=6, entropy_bound=bound)
    steps, done = finish(renoise(model, state, canvas, free_BN=free, policy=policy, draws=GlobalDraws(1)))
    assert done.canvas_BN.tolist() == theirs.sequences[:, length:].tolist()
    assert N / done.passes == pytest.approx(float(theirs.tokens_per_forward[0]))
    assert steps[-1].masked_B.tolist() == [0]


def test_several_canvases_are_what_transformers_writes(loud: Any) -> None:
    prompt = torch.tensor([[3, 4, 5, 6, 7, 8, 9]])
    torch.manual_seed(3)
    theirs = loud.generate(prompt, max_new_tokens=3 * N, max_denoising_steps=4).sequences[:, 7:]
    model, mine = Gemma(loud), []
    state = model.prefill(prompt.tolist())
    torch.manual_seed(3)
    for _ in range(3):
        run = renoise(
            model,
            state,
            everything()[0],
            free_BN=everything()[1],
            policy=RenoisePolicy(max_passes=4),
            draws=GlobalDraws(1),
        )
        mine.append(finish(run)[1].canvas_BN)
        model.read(state, mine[-1])
    assert torch.cat(mine, 1).tolist() == theirs.tolist()


def test_a_network_that_is_sure_stops_early_as_in_transformers() -> None:
    network = gemmas.network(seed=2, loud=40.0)
    prompt = torch.tensor([[3, 4, 5]])
    torch.manual_seed(1)
    theirs = network.generate(prompt, max_new_tokens=N, max_denoising_steps=40, confidence_threshold=0.5)
    model = Gemma(network)
    torch.manual_seed(1)
    policy = RenoisePolicy(max_passes=40, calm_below=0.5)
    _, done = finish(
        renoise(
            model,
            model.prefill([[3, 4, 5]]),
            everything()[0],
            free_BN=everything()[1],
            policy=policy,
            draws=GlobalDraws(1),
        )
    )
    assert done.passes < 40
    assert N / done.passes == pytest.approx(float(theirs.tokens_per_forward[0]))
    assert done.canvas_BN.tolist() == theirs.sequences[:, 3:].tolist()


def test_a_row_gets_in_a_padded_batch_what_it_gets_alone(loud: Any) -> None:
    model, prompts = Gemma(loud), [[3, 4, 5, 6, 7, 8, 9, 10, 11, 12], [20, 21, 22]]
    policy = RenoisePolicy(max_passes=5)
    together = renoise(
        model, model.prefill(prompts), everything(2)[0], free_BN=everything(2)[1], policy=policy, seed=[4, 9]
    )
    _, both = finish(together)
    for row, seed in enumerate((4, 9)):
        _, alone = finish(
            renoise(
                model, model.prefill([prompts[row]]), everything()[0], free_BN=everything()[1], policy=policy, seed=seed
            )
        )
        assert both.canvas_BN[row].tolist() == alone.canvas_BN[0].tolist()
        assert float((both.confidence_BN[row] - alone.confidence_BN[0]).abs().max()) < 1e-4


def test_given_words_stay_and_a_seed_decides_the_rest(quiet: Any) -> None:
    model = Gemma(quiet)
    canvas = torch.arange(10, 10 + N)[None]
    free = torch.tensor([[False, True] * (N // 2)])
    runs = [
        finish(
            renoise(model, model.prefill([[5, 6]]), canvas, free_BN=free, policy=RenoisePolicy(max_passes=3), seed=seed)
        )
        for seed in (1, 1, 2)
    ]
    for steps, done in runs:
        assert all(torch.equal(step.canvas_BN[~free], canvas[~free]) for step in steps)
        assert done.confidence_BN[~free].tolist() == [1.0] * (N // 2)
        assert bool(((done.confidence_BN > 0) & (done.confidence_BN <= 1)).all())
    assert torch.equal(runs[0][1].canvas_BN, runs[1][1].canvas_BN)
    assert not torch.equal(runs[0][0][0].committed_BN, runs[2][0][0].committed_BN) or not torch.equal(
        runs[0][1].canvas_BN, runs[2][1].canvas_BN
    )


def test_a_canvas_with_nothing_free_takes_no_pass(quiet: Any) -> None:
    model, canvas = Gemma(quiet), torch.arange(N)[None]
    steps, done = finish(renoise(model, model.prefill([[5]]), canvas, free_BN=torch.zeros(1, N, dtype=torch.bool)))
    assert (steps, done.passes, done.canvas_BN.tolist()) == ([], 0, canvas.tolist())


def test_it_is_a_denoiser_too_with_random_words_for_masks(quiet: Any) -> None:
    model = Gemma(quiet)
    canvas = torch.full((1, N), model.mask_id)
    ends = []
    for _ in range(2):
        state = model.prefill([[5, 6, 7]], seed=3)
        _, done = finish(denoise(from_logits(model, state), canvas, mask_id=model.mask_id, policy=threshold_policy()))
        ends.append(done.canvas_BN.tolist())
    assert ends[0] == ends[1]
    assert all(0 <= word < WORDS for word in ends[0][0])


def test_draws_of_a_row_do_not_depend_on_its_neighbours() -> None:
    p_BNV = torch.rand(2, 5, 7, generator=torch.Generator().manual_seed(0))
    both, alone = SeededDraws([1, 2], 2), SeededDraws([2], 1)
    assert both.ids(5, 7)[1].tolist() == alone.ids(5, 7)[0].tolist()
    assert both.drawn(p_BNV)[1].tolist() == alone.drawn(p_BNV[1:])[0].tolist()


def test_logits_that_are_no_numbers_are_said_to_be(quiet: Any) -> None:
    model = Gemma(quiet)
    run = renoise(
        model, model.prefill([[5]]), everything()[0], free_BN=everything()[1], adjust=lambda logits: logits * torch.nan
    )
    with pytest.raises(GenerationFailed, match="not numbers"):
        next(run)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"max_passes": 0}, "max_passes=0"),
        ({"coolest": 0.9}, "coolest=0.9"),
        ({"entropy_bound": -1}, "entropy_bound=-1"),
    ],
)
def test_a_policy_that_cannot_be_meant_is_refused(wrong: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        RenoisePolicy(**wrong)


# Loading.


def test_a_published_folder_is_read_with_its_ties(tmp_path: Path, quiet: Any) -> None:
    quiet.save_pretrained(tmp_path)
    model = load_gemma(tmp_path, dtype="float32")
    canvas = torch.arange(N)[None]
    mine = model.predict(model.prefill([[5, 6]]), canvas)
    assert torch.equal(mine, Gemma(quiet).predict(Gemma(quiet).prefill([[5, 6]]), canvas))
    assert (model.canvas_length, model.words) == (N, WORDS)


def test_damaged_folders_are_named(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    where = gemmas.folder(tmp_path)
    weights = where / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-100])
    with pytest.raises(WeightsUnusable, match="cut short"):
        load_gemma(where)
    weights.write_bytes(whole)
    held = load_file(weights)
    held["model.decoder.layers.0.renamed.weight"] = held.pop("model.decoder.norm.weight")
    save_file(held, weights, metadata={"format": "pt"})
    with pytest.raises(WeightsUnusable, match=r"norm\.weight.*renamed"):
        load_gemma(where)
    weights.write_bytes(whole)
    with pytest.raises(BackendUnavailable, match="What would fit"):
        load_gemma(where, dtype="bfloat16", free=lambda _: 1000)
    with pytest.raises(WeightsUnusable, match="dtype 'int8'"):
        load_gemma(where, dtype="int8")
    weights.unlink()
    with pytest.raises(WeightsUnusable, match="has neither"):
        load_gemma(where)


def test_weights_of_another_size_are_refused(tmp_path: Path) -> None:
    where = gemmas.folder(tmp_path)
    config = json.loads((where / "config.json").read_text())
    config["text_config"]["intermediate_size"] = 40
    (where / "config.json").write_text(json.dumps(config))
    with pytest.raises(WeightsUnusable, match=r"another size|can't be read"):
        load_gemma(where)


def test_a_prompt_without_a_token_is_refused(quiet: Any) -> None:
    with pytest.raises(ValueError, match="no token"):
        Gemma(quiet).prefill([[]])
