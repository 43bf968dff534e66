"""The table of backends: what is known, what is missing, what is loaded."""

import subprocess
import sys
from pathlib import Path

import pytest
from remask.dllm.backends import BACKENDS, backend, looked_at
from remask.dllm.checkpoints.shards import tensors
from remask.dllm.checkpoints.survey import survey
from remask.dllm.draft import Budget, Prompt, budget_of, finish
from remask.dllm.errors import BackendUnavailable, WeightsUnusable

from .checkpoints.tiny import checkpoint


@pytest.mark.parametrize(
    ("name", "kind"),
    [("llada", "llada"), ("lladamoe", "llada"), ("dream", "dream"), ("sdar", "sdar"), ("llada2", "llada2")],
)
def test_a_checkpoint_is_opened_by_its_family_and_folder(tmp_path: Path, name: str, kind: str) -> None:
    folder = checkpoint(tmp_path / name, name)
    opened = backend(f"{kind}:{folder}")
    assert opened.name == f"{kind}:{folder}"
    assert len(finish(opened.draft(Prompt("Who?"), max_passes=1))) == 1
    assert looked_at(f"{kind}:{folder}").endswith(": it fits")


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BackendUnavailable, match="no backend is called 'gpt'") as caught:
        backend("gpt:4")
    assert all(name in str(caught.value) for name in BACKENDS)


@pytest.mark.parametrize("name", ["llada", "llada:", "dream:", "sdar", "llada2:", "embedded:"])
def test_an_argument_that_is_missing_is_asked_for(name: str) -> None:
    with pytest.raises(BackendUnavailable, match="says not which"):
        backend(name)


def test_the_table_costs_nothing_to_import() -> None:
    code = "import sys, remask.dllm.backends; print([m for m in ('torch', 'transformers') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


# What is told before anything is loaded.


def test_a_checkpoint_is_told_with_its_size_and_whether_it_fits_before_it_is_loaded(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "it", "llada")
    parameters = sum(tensor.numel() for _, tensor in tensors(folder))
    found = survey(str(folder), device="cpu", free=lambda _: 10**9)
    assert (found.family, found.parameters, found.dtype) == ("llada", parameters, "float32")
    assert found.needed == int(parameters * 4 * 1.1)
    with pytest.raises(BackendUnavailable, match=r"What would fit|It would fit"):
        survey(str(folder), free=lambda _: 1000)
    assert "nobody knows" in str(survey(str(folder), free=lambda _: None))


def test_a_checkpoint_that_is_incomplete_or_of_another_family_is_told(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "it", "dream")
    with pytest.raises(BackendUnavailable, match=r"is a dream checkpoint.*Ask for dream:"):
        looked_at(f"llada:{folder}")
    for path in folder.glob("*.safetensors"):
        path.unlink()
    with pytest.raises(WeightsUnusable, match="Download"):
        looked_at(f"dream:{folder}")
    (folder / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    with pytest.raises(WeightsUnusable):
        looked_at(f"dream:{folder}")


def test_an_id_that_is_not_on_this_machine_is_told_and_not_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(BackendUnavailable, match=r"not on this machine yet.*hf download no-one/no-model"):
        looked_at("llada:no-one/no-model")


def test_what_is_missing_is_told_with_the_command_that_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INCEPTION_API_KEY", raising=False)
    assert BACKENDS["mercury"].missing == "export INCEPTION_API_KEY=YOUR_KEY"
    with pytest.raises(BackendUnavailable, match="Run: export INCEPTION_API_KEY"):
        looked_at("mercury:mercury-2")
    monkeypatch.setenv("INCEPTION_API_KEY", "k")
    assert BACKENDS["mercury"].missing == ""
    monkeypatch.setattr("remask.dllm.backends.version", lambda _: "5.23.9")
    assert BACKENDS["diffusiongemma"].missing == "pip install 'transformers>=5.24'"
    assert BACKENDS["llada"].missing == ""


def test_every_name_that_was_promised_is_there() -> None:
    promised = "embedded scripted llada dream llada-moe sdar llada2 diffusiongemma mercury openai"
    assert set(promised.split()) <= BACKENDS.keys()


# Budgets.


def test_a_backend_says_what_it_needs_and_others_get_the_common_budget(tmp_path: Path) -> None:
    generator = backend(f"llada:{checkpoint(tmp_path / 'it', 'llada')}")
    assert budget_of(generator) == Budget(run_passes=64, max_passes=256)
    assert budget_of(object()) == Budget()


# Scripts.


def test_a_script_is_played(tmp_path: Path) -> None:
    path = tmp_path / "said.json"
    path.write_text(
        '{"drafts": {"Who?": ["Mira", {"text": "Bo", "confidence": 0.4}], "No?": {"text": "no", "kind": "no"}}}'
    )
    model = backend(f"scripted:{path}")
    assert looked_at(f"scripted:{path}")
    said = [finish(model.draft(Prompt(question)))[0] for question in ("Who?", "Who?", "No?", "Else?")]
    assert [(d.text, d.confidence, d.kind) for d in said] == [
        ("Mira", 0.9, "span"),
        ("Bo", 0.4, "span"),
        ("no", 0.9, "no"),
        ("", 0.0, "none"),
    ]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "no JSON"),
        ("[]", "no script"),
        ('{"drafts": {"Who?": 7}}', "no script: drafts"),
        ('{"x": {}}', "no script"),
    ],
)
def test_a_file_that_is_no_script_is_refused(tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / "it.json").write_text(content)
    with pytest.raises(BackendUnavailable, match=says):
        backend(f"scripted:{tmp_path / 'it.json'}")


def test_a_script_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable, match=r"gone\.json"):
        backend(f"scripted:{tmp_path / 'gone.json'}")
