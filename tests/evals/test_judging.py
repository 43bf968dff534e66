"""`remask eval ragas`: what a finished run is looked up as, and, where ragas is installed, what ragas says of it."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from remask.agent.cli import main
from remask.evals.errors import RunUnusable
from remask.evals.folder import read_rows
from remask.evals.judging import samples

from .sheets import HOLT, RIVERS, WHALE, official

with_ragas = pytest.mark.skipif(
    find_spec("ragas") is None, reason="ragas is not installed: it wants an environment of its own"
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of the ceiling, whose answers are right."""
    out = tmp_path / "run"
    data = official(tmp_path, HOLT, RIVERS)
    assert main(["eval", "hotpotqa", "--data", str(data), "--backend", "gold", "--out", str(out)]) == 0
    return out


def test_an_answer_is_shown_with_the_texts_that_it_was_read_from(tmp_path: Path, run: Path) -> None:
    holt, rivers = samples(list(read_rows(run)), tmp_path / "dev.json", None)
    assert (holt.answer, holt.reference, holt.references) == ("Mira Holt", "Mira Holt", ["Mira Holt", "Saint Anne"])
    assert holt.context_names == ["Blau", "Mira Holt", "Saint Anne"]
    assert holt.contexts[0] == "The Blau is a river. It is 22 km long."
    assert rivers.answer == "yes"


def test_data_that_is_not_the_run_s_is_refused(tmp_path: Path, run: Path) -> None:
    rows = list(read_rows(run))
    with pytest.raises(RunUnusable, match="has no question 'q1', which the run asked"):
        samples(rows, official(tmp_path, WHALE), None)
    with pytest.raises(RunUnusable, match=r"the passage 'q1/2#0-.*', which the run read, is not in the question's"):
        samples(rows, official(tmp_path, HOLT | {"context": HOLT["context"][:2]}, RIVERS), None)


@pytest.mark.skipif(find_spec("ragas") is not None, reason="ragas is installed")
def test_without_ragas_the_way_to_it_is_told(tmp_path: Path, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["eval", "ragas", str(run), "--data", str(tmp_path / "dev.json")]) == 1
    assert "this needs ragas. Install it with: pip install 'remask[ragas]'" in " ".join(capsys.readouterr().err.split())


class Judge(BaseHTTPRequestHandler):
    """Finds every statement faithful and every context useful, and asks back whoever restored the fresco."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        wanted = asked["response_format"]["json_schema"]["schema"]
        content = json.dumps(filled(wanted, wanted))
        reply = json.dumps(
            {"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}]}
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *arguments: Any) -> None: ...


def filled(schema: dict[str, Any], root: dict[str, Any], name: str = "") -> Any:
    """The smallest value that fits, with 1 for verdicts and 0 for other numbers."""
    if "$ref" in schema:
        return filled(root["$defs"][schema["$ref"].rpartition("/")[2]], root, name)
    if schema.get("type") == "object":
        return {key: filled(value, root, key) for key, value in schema["properties"].items()}
    if schema.get("type") == "array":
        return [filled(schema["items"], root, name)]
    if schema.get("type") in ("integer", "number"):
        return int(name in ("verdict", "attributed"))
    return True if schema.get("type") == "boolean" else "Who restored the fresco of Saint Anne?"


@pytest.fixture
def judge() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Judge)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}#judge"
    server.shutdown()
    server.server_close()
    thread.join()


def scored(run: Path, data: Path, *arguments: str) -> dict[str, Any]:
    assert main(["eval", "ragas", str(run), "--data", str(data), "--embedder", "hash:64", *arguments]) == 0
    (found,) = json.loads((run / "ragas.json").read_text())["judged"]
    return {name: (round(metric["value"], 3), metric["n"]) for name, metric in found["metrics"].items()}


@with_ragas
@pytest.mark.filterwarnings("ignore")  # ragas and what it brings warn on import
def test_offline_it_tells_which_paragraphs_were_read_and_how_near_the_answer_is(tmp_path: Path, run: Path) -> None:
    found = scored(run, tmp_path / "dev.json")
    # Two of three and two of two paragraphs are marked; all marked ones are read; the answers are the right ones.
    assert found == {
        "context precision by title": (0.833, 2),
        "context recall by title": (1.0, 2),
        "answer similarity": (1.0, 2),
    }


@with_ragas
@pytest.mark.filterwarnings("ignore")
def test_with_a_judge_it_tells_faithfulness_relevancy_precision_and_recall(
    tmp_path: Path, run: Path, judge: str
) -> None:
    found = scored(run, tmp_path / "dev.json", "--judge", judge, "--limit", "1")
    assert found["faithfulness"] == found["context precision"] == found["context recall"] == (1.0, 1)
    assert found["answer relevancy"] == (1.0, 1)
