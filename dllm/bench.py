"""Measures decoding: `python -m remask.dllm.bench decode`. Prints a table, or writes it as Markdown.

Knows which questions to ask and how to write the answers down; `checkpoints/speed.py` knows how to time.
"""

import argparse
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from .checkpoints.speed import (
    SHAPES,
    Subject,
    Timed,
    Way,
    answer,
    bandwidth,
    pass_seconds,
    peak_memory,
    ratio,
    rounds,
    subject,
    ways,
)

_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where it was measured."""
    asked = _parser().parse_args(arguments)
    lines: list[str] = []
    for line in decode(asked):
        print(line, flush=True)  # noqa: T201 - what it is for
        lines.append(line)
    if asked.out:
        Path(asked.out).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


def decode(asked: argparse.Namespace) -> Iterator[str]:
    """The report, line by line."""
    began = time.perf_counter()
    prompts = [int(each) for each in asked.prompts.split(",")]
    answers = [int(each) for each in asked.answers.split(",")]
    device = torch.device(asked.device)
    torch.set_num_threads(asked.threads or torch.get_num_threads())
    it = subject(
        asked.shape,
        dtype=_DTYPES[asked.dtype],
        device=asked.device,
        positions=max(prompts) + max(answers) + 64,
        compile_trunk=asked.compile,
    )
    yield from _heading(asked, it)
    all_ways = ways(asked.tokens_a_pass, block_length=asked.block)
    curve = [(prompt, asked.answer, asked.rounds if prompt == asked.prompt else 1) for prompt in prompts]
    curve.sort(key=lambda each: (each[0] != asked.prompt, each[0]))
    curve += [(min(prompts), slots, 1) for slots in answers if slots != asked.answer]
    last = 0.0
    for prompt, slots, count in curve:
        spent = time.perf_counter() - began
        if last and spent + last * prompt > asked.seconds:
            yield f"\nprompt {prompt}, answer {slots}: left out, for {asked.seconds:.0f} seconds would not do. Raise --seconds."
            continue
        started = time.perf_counter()
        found = rounds(
            it,
            all_ways,
            prompt=prompt,
            slots=slots,
            count=count,
            over=lambda: time.perf_counter() - began > asked.seconds,
        )
        made = len(next(iter(found.values())))
        last = max(last, (time.perf_counter() - started) / made / prompt)
        yield from _table(found, prompt=prompt, slots=slots)
        if prompt == asked.prompt and slots == asked.answer:
            yield from _memory(it, all_ways, prompt=prompt, slots=slots)
            yield from _limit(it, device, prompt=prompt)
    yield f"\n{time.perf_counter() - began:.0f} seconds in all."


def _heading(asked: argparse.Namespace, it: Subject) -> Iterator[str]:
    where = torch.cuda.get_device_name() if asked.device == "cuda" else f"{torch.get_num_threads()} threads"
    yield "# Decoding speed"
    yield (
        f"\nA random network in LLaDA's shape ({asked.shape}, {it.parameters / 1e6:,.1f} million parameters, {asked.dtype}); "
        f"{platform.machine()}, {where}; torch {torch.__version__}. {asked.tokens_a_pass} tokens a pass, set by a schedule: a "
        f"random network has no confidence to go by."
    )
    if asked.device == "cpu" and asked.shape != "100m":
        yield f"\nA dry run of the script at size {asked.shape!r}: its figures say nothing about a GPU."


def _table(found: dict[str, list[Timed]], *, prompt: int, slots: int) -> Iterator[str]:
    count = len(next(iter(found.values())))
    yield f"\n## Prompt {prompt}, answer {slots}, {count} interleaved round{'s' if count > 1 else ''}\n"
    heads = "way | read ms | pass ms | passes | answer s | tokens/s"
    yield f"| {heads} | × full, 1 token | × word by word | × after the prompt is read |"
    yield "|---|---|---|---|---|---|---|---|---|"
    naive, words = found["full passes, 1 token each"], found["word by word"]
    for name, timed in found.items():
        seconds = [each.seconds for each in timed]
        read = sum(each.prefill_seconds for each in timed) / count
        decoding = sum(each.decode_seconds for each in timed) / count
        cells = [
            name,
            f"{1000 * read:.0f}",
            f"{1000 * decoding / timed[0].passes:.1f}",
            str(timed[0].passes),
            f"{sum(seconds) / count:.2f}",
            f"{slots * count / sum(seconds):.1f}",
            _interval(ratio([each.seconds for each in naive], seconds)),
            _interval(ratio([each.seconds for each in words], seconds)),
            _interval(ratio([e.decode_seconds for e in words], [e.decode_seconds for e in timed])),
        ]
        yield "| " + " | ".join(cells) + " |"
    yield "\nFull passes are timed once a round and counted as often as they are made. Brackets: 95% of drawing rounds again."


def _interval(found: tuple[float, float, float]) -> str:
    middle, low, high = found
    return f"{middle:.2f}" if low == high else f"{middle:.2f} [{low:.2f}, {high:.2f}]"


def _memory(it: Subject, all_ways: Sequence[Way], *, prompt: int, slots: int) -> Iterator[str]:
    yield "\n| way | weights MB | keys MB | peak beyond weights MB | peak / (weights + keys) |"
    yield "|---|---|---|---|---|"
    for way in all_ways:
        if way.caching not in ("dual", "prompt"):
            continue
        with peak_memory(it.network.device) as peak:
            keys = answer(it, way, prompt=prompt, slots=slots).cache_bytes
        over = (it.weight_bytes + peak.bytes) / (it.weight_bytes + keys)
        figures = " | ".join(f"{number / 1e6:.0f}" for number in (it.weight_bytes, keys, peak.bytes))
        yield f"| {way.name} | {figures} | {over:.2f} |"


def _limit(it: Subject, device: torch.device, *, prompt: int) -> Iterator[str]:
    """A pass over a few columns can't be faster than reading the weights once."""
    speed = bandwidth(device)
    yield f"\nMemory gives {speed / 1e9:.1f} GB/s; reading the weights once takes {1000 * it.weight_bytes / speed:.1f} ms.\n"
    yield "| columns of a pass | ms | of the bandwidth limit | tokens/s at 1, 2, 4, 8 tokens a pass |"
    yield "|---|---|---|---|"
    for columns in (8, 16, 32):
        seconds = pass_seconds(it, prompt=prompt, columns=columns)
        share = it.weight_bytes / speed / seconds
        tokens = ", ".join(f"{each / seconds:.0f}" for each in (1, 2, 4, 8))
        yield f"| {columns} | {1000 * seconds:.1f} | {share:.0%} | {tokens} |"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m remask.dllm.bench", description="Measures decoding on random weights."
    )
    command = parser.add_subparsers(required=True).add_parser("decode", help="tokens a second, each way to decode")
    command.add_argument("--shape", choices=sorted(SHAPES), default="100m")
    command.add_argument("--device", default="cpu", help="cpu or cuda")
    command.add_argument("--dtype", choices=sorted(_DTYPES), default="float32")
    command.add_argument("--prompts", default="256,512,1024,2048,4096", help="lengths of the prompt, for the curve")
    command.add_argument("--prompt", type=int, default=1024, help="the length that gets all rounds")
    command.add_argument("--answers", default="32,64,128", help="lengths of the answer, at the shortest prompt")
    command.add_argument("--answer", type=int, default=64)
    command.add_argument("--tokens-a-pass", type=int, default=4)
    command.add_argument("--block", type=int, default=8, help="slots of a block where the prompt is read once")
    command.add_argument("--rounds", type=int, default=3)
    command.add_argument("--threads", type=int, default=0, help="0: as many as torch takes")
    command.add_argument("--seconds", type=float, default=330, help="start nothing that would take longer in all")
    command.add_argument("--compile", action="store_true", help="compile the network first")
    command.add_argument("--out", default="", help="a Markdown file for the report")
    return parser


if __name__ == "__main__":
    sys.exit(main())
