"""Throughput and rates: which blocks go where, what is kept, and the sums by hand."""

import json
from pathlib import Path
from typing import cast

import pytest
from remask.agent.answer import RefinePass
from remask.agent.cli import main
from remask.evals.errors import RunUnusable
from remask.evals.folder import RunFolder, read_settings
from remask.evals.load import BLOCK, Block, under_load
from remask.evals.measure import Setting
from remask.evals.rates import rates

from .sheets import HOLT, official
from .test_latency import row

ARGUMENTS = ("--backend", "gold", "--baseline", "floor", "--warm", "0", "--at-once", "2", "--at-once", "1")


def many(folder: Path, count: int) -> Path:
    return official(folder, *({**HOLT, "_id": f"q{number}"} for number in range(count)))


def timed(data: Path, out: Path, *arguments: str) -> int:
    return main(["eval", "latency", "--data", str(data), "--out", str(out), *ARGUMENTS, *arguments])


def test_blocks_go_through_all_backends_in_turn_at_every_level(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert timed(many(tmp_path, BLOCK + 3), out) == 0
    blocks = [Block.model_validate_json(line) for line in (out / "blocks.jsonl").read_text().splitlines()]
    assert [(b.at_once, b.number, b.backend, len(b.waited)) for b in blocks] == [
        (1, 0, "floor", 8),
        (1, 0, "gold", 8),
        (1, 1, "gold", 3),
        (1, 1, "floor", 3),
        (2, 0, "gold", 8),
        (2, 0, "floor", 8),
        (2, 1, "floor", 3),
        (2, 1, "gold", 3),
    ]
    assert all(b.seconds * b.at_once >= 0.5 * sum(b.waited) for b in blocks)


def test_the_report_sums_the_blocks_and_compares_with_the_first_backend(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert timed(many(tmp_path, 3), out) == 0
    blocks = {b.key: b for b in (Block.model_validate_json(x) for x in (out / "blocks.jsonl").read_text().splitlines())}
    found = json.loads((out / "report.json").read_text())["load"]
    assert [(one["backend"], one["at_once"]) for one in found] == [("gold", 1), ("floor", 1), ("gold", 2), ("floor", 2)]
    for one in found:
        mine, ours = blocks[one["backend"], one["at_once"], 0], blocks["gold", one["at_once"], 0]
        assert one["per_second"]["value"] == pytest.approx(3 / mine.seconds, rel=1e-4)
        if one["backend"] == "floor":
            assert one["ratio"]["value"] == pytest.approx(mine.seconds / ours.seconds, rel=1e-4)
    assert "questions a second" in (out / "report.md").read_text()


def test_what_was_done_is_not_done_again_even_where_a_line_was_torn(tmp_path: Path) -> None:
    data, out = many(tmp_path, 3), tmp_path / "out"
    assert timed(data, out) == 0
    before = (out / "blocks.jsonl").read_text()
    (out / "blocks.jsonl").write_text(before[:-20])
    assert timed(data, out) == 0
    after = (out / "blocks.jsonl").read_text().splitlines()
    assert after[:-1] == before.splitlines()[:-1]
    assert len(after) == 4


def test_a_damaged_file_of_blocks_is_refused(tmp_path: Path) -> None:
    data, out = many(tmp_path, 1), tmp_path / "out"
    assert timed(data, out) == 0
    (out / "blocks.jsonl").write_text('{"backend": "gold"}\n')
    folder = RunFolder(out, read_settings(out))
    with pytest.raises(RunUnusable, match=r"blocks\.jsonl: Field required"):
        under_load([], [], cast(Setting, None), folder, [1], seed=0)


def test_load_can_be_left_out(tmp_path: Path) -> None:
    assert timed(many(tmp_path, 1), tmp_path / "out", "--load", "0") == 0
    assert not (tmp_path / "out" / "blocks.jsonl").exists()


def passes(*committed: int) -> tuple[RefinePass, ...]:
    return tuple(
        RefinePass(run=1, stage="draft", index=i, canvas="", committed=c, masked=0) for i, c in enumerate(committed)
    )


def test_tokens_are_counted_by_pass_and_by_second() -> None:
    canvas = row().model_copy(
        update={"tokens": 6, "passes": passes(0, 20, 4), "seconds": {"draft": 0.2, "refine": 0.1}}
    )
    found = rates([canvas, canvas.model_copy(update={"tokens": 0})])
    assert found is not None
    assert (found.tokens.value, found.per_pass.value if found.per_pass else 0) == (6.0, 3.0)
    assert found.per_second.value == pytest.approx(20.0)
    assert found.tokens.n == 1, "a question that got no answer has no tokens"


def test_a_model_that_writes_word_by_word_makes_one_token_a_pass() -> None:
    found = rates([row().model_copy(update={"tokens": 3, "passes": passes(1, 1, 1), "seconds": {"draft": 1.5}})])
    assert found is not None
    assert found.per_pass is not None
    assert (found.per_pass.value, found.per_second.value) == (1.0, 2.0)
    assert rates([row().model_copy(update={"seconds": {"draft": 1.0}})]) is None
