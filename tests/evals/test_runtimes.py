"""Both runtimes open the same real GGUF files, made here, and write what those files spell."""

from collections.abc import Callable
from pathlib import Path

import pytest
from remask.agent.console import UsageError
from remask.dllm.errors import BackendUnavailable, PromptTooLong
from remask.evals.llamacpp import LlamaCpp
from remask.evals.runtime import RUNTIMES, open_writer
from remask.evals.writer import Writer, talks

from .ggufs import spelling

pytest.importorskip("gguf")
pytest.importorskip("accelerate")
MIRA = {":": "M", "M": "i", "i": "r", "r": "a"}
TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}:"
Made = Callable[..., Writer]


@pytest.fixture(scope="module", params=RUNTIMES)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    if request.param == "llamacpp":
        pytest.importorskip("xllamacpp")

    def make(nexts: dict[str, str], *, template: str = "", context: int = 512) -> Writer:
        path = spelling(tmp_path_factory.mktemp("model") / "speller.gguf", nexts, template=template, context=context)
        return open_writer(path, request.param)

    return make


def text(writer: Writer, asked: str = "Who?", max_tokens: int = 32) -> str:
    return [step.text for step in writer.write(asked, max_tokens=max_tokens)][-1].strip()


@pytest.mark.parametrize("template", ["", TEMPLATE])
def test_a_file_is_asked_in_its_own_way_and_says_what_it_spells(made: Made, template: str) -> None:
    writer = made(MIRA, template=template)
    assert talks(writer.path) == bool(template)
    steps = list(writer.write("Who?", max_tokens=32))
    assert [step.text.strip() for step in steps] == ["M", "Mi", "Mir", "Mira"]
    assert all(0 < step.confidence <= 1 and step.seconds > 0 for step in steps)
    assert text(writer) == "Mira"


def test_examples_come_before_what_is_asked(made: Made) -> None:
    # A template that ends in an example's answer makes the model go on from there, whatever is asked.
    answered = (
        "{{ messages[1]['content'] }}{% if messages[0]['role'] == 'user' %}{{ messages[0]['content'] }}{% endif %}"
    )
    writer = made({"?": "M", "M": "i"}, template=answered)
    (*_, last) = writer.write("Who:", max_tokens=8, examples=[("Where?", "Ulm")])
    assert last.text.strip() == "Mi"
    plain = made({":": "M", "M": "i"})
    (*_, last) = plain.write("Who?", max_tokens=8, examples=[("Where?", "Ulm")])
    assert last.text.strip() == "Mi"


def test_it_stops_at_its_longest_length_and_at_the_end_of_a_line(made: Made) -> None:
    assert text(made({":": "x", "x": "x"}), max_tokens=5) == "xxxxx"
    assert text(made({":": "\n", "\n": "M", "M": "i"})) == "Mi"
    assert text(made({":": "M", "M": "\n", "\n": "z"})) == "M"


def test_a_caller_may_stop_it_after_any_token(made: Made) -> None:
    writer = made({":": "x", "x": "x"})
    steps = writer.write("Who?", max_tokens=400)
    assert next(steps).text.strip() == "x"
    steps.close()
    assert text(writer, max_tokens=3) == "xxx"


def test_a_prompt_that_does_not_fit_is_refused_with_both_lengths(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    for runtime, asked in (("llamacpp", "x" * 9000), ("transformers", "x" * 600)):
        writer = open_writer(spelling(tmp_path / f"{runtime}.gguf", MIRA), runtime)
        with pytest.raises(PromptTooLong, match=r"the prompt has \d+ tokens, the window \d+"):
            next(writer.write(asked, max_tokens=8))


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, runtime: str) -> None:
    if runtime == "llamacpp":
        pytest.importorskip("xllamacpp")
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF no model")
    with pytest.raises(BackendUnavailable, match="can't open it as a GGUF file"):
        open_writer(path, runtime)


def test_a_missing_runtime_comes_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remask.evals.llamacpp.missing", lambda *names: list(names))
    with pytest.raises(BackendUnavailable, match=r"pip install 'remask\[llamacpp\]'"):
        LlamaCpp(tmp_path / "any.gguf")
    with pytest.raises(UsageError, match="no runtime is called 'vllm'"):
        open_writer(tmp_path / "any.gguf", "vllm")
