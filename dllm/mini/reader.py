"""The embedded diffusion reader: reads evidence once, drafts, re-masks and cites in passes over a small canvas.

It can only say what the evidence says: an answer is a run of evidence tokens, whole sentences of it, or yes, no, nothing.
"""

# B canvases (candidates), N slots, L positions of the prompt.

import time
from collections.abc import Generator as Steps
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..denoise import Denoised, Proposal, Step, denoise
from ..draft import Budget, CanvasPass, Draft, Kind, Passes, Prompt, Source, Token
from ..policy import Policy, threshold_policy
from .batch import Gathering
from .layout import Layout, LayoutOptions, Words, arrange, beginnings
from .model import END, KIND, KINDS, MASK, Encoded, Reader
from .precision import Precision, fit
from .propose import Reading, blank_canvas, part_slots, read, read_off
from .weights import SHIPPED, Loaded, load_reader
from .windows import WindowCache

BLOCK = "▒"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderOptions:
    """How the reader decodes."""

    threshold: float = 0.5  # slots at least this sure are committed together; the surest one always is
    together: bool = True  # False: a pass commits the surest slot alone, to compare with
    alternatives: float = 0.02  # a rival whose share is below this is not worth a row of the batch
    precision: Precision = "auto"


class _Read(NamedTuple):
    """A prompt after the one pass over it. Never written to."""

    prompt: Prompt
    layout: Layout
    encoded: Encoded
    seconds: float


class EmbeddedReader:
    """A `Generator` that needs no network, no key and no GPU.

    `EmbeddedReader.load()` takes the shipped weights. One instance may serve many threads: what changes
    belongs to a run.
    """

    name = "embedded"
    budget = Budget(candidates=1, run_passes=1, refinements=0)
    """More candidates and passes were measured to answer no better and to cite worse: RESULTS.md, "Denoising taken apart"."""

    def __init__(
        self, reader: Reader, words: Words, layout: LayoutOptions, options: ReaderOptions | None = None
    ) -> None:
        self._words, self._layout = words, layout
        self.options = options or ReaderOptions()
        self._device = next(reader.parameters()).device
        # Converted once: autocast would convert every weight again in every pass.
        self._reader = fit(deepcopy(reader), self.options.precision)
        self._windows = WindowCache()
        self._gathering: Gathering | None = None
        self._last: _Read | None = None  # the prompt read last: refining begins with the one just drafted from

    @classmethod
    def load(cls, path: Path = SHIPPED, *, options: ReaderOptions | None = None) -> "EmbeddedReader":
        """Raises WeightsUnusable or BackendUnavailable, with the way out."""
        loaded: Loaded = load_reader(path)
        return cls(loaded.reader, loaded.words, loaded.layout, options)

    def share_passes(self) -> Gathering:
        """From now on, passes over canvases that runs in several threads come to at one time are made as one. Prompts are
        still read one by one."""
        self._gathering = self._gathering or Gathering(self._reader.predict)
        return self._gathering

    def draft(self, prompt: Prompt, *, candidates: int = 1, max_passes: int = 4, seed: int = 0) -> Passes:
        """Up to `candidates` answers that differ in their words. The first pass looks at everything at once; the rivals it
        leaves get a canvas each, and all are denoised in one batch."""
        begin = time.perf_counter()
        known = self._prefill(prompt)
        yield self._shown(known, blank_canvas(self._reader.shape, 1)[0], 0, committed=0, seconds=known.seconds)
        started = time.perf_counter()
        first = self._read(known, blank_canvas(self._reader.shape, 1))
        canvas = self._rows(known, first, candidates)
        runs = _Reads(self, known, first, ready=canvas.shape[0] == 1, seconds=time.perf_counter() - started)
        result = yield from self._watched(known, runs, canvas, max_passes, seed)
        return self._drafts(known, result, runs, begin, started, canvas.shape[0])

    def refine(
        self,
        prompt: Prompt,
        draft: Draft,
        remask: Sequence[tuple[int, int]],
        *,
        reason: str = "",
        max_passes: int = 4,
        seed: int = 0,
    ) -> Passes:
        """The tokens under `remask` are masked and denoised again, the others stay, and with them their citations."""
        begin = time.perf_counter()
        known = self._prefill(prompt)
        canvas, hidden = self._reopened(known, draft, remask)
        yield replace(
            self._shown(known, canvas[0], 0, committed=0, seconds=known.seconds), remasked=hidden, reason=reason
        )
        started = time.perf_counter()
        first = self._read(known, blank_canvas(self._reader.shape, 1))
        runs = _Reads(self, known, first, ready=False, seconds=time.perf_counter() - started)
        result = yield from self._watched(known, runs, canvas, max_passes, seed)
        return self._drafts(known, result, runs, begin, started, 1)

    # Reading.

    def _prefill(self, prompt: Prompt) -> _Read:
        begin = time.perf_counter()
        known = self._last
        if known is None or known.prompt != prompt:
            known = self._last = self._reading(prompt)
        return known._replace(seconds=time.perf_counter() - begin)

    def _reading(self, prompt: Prompt) -> _Read:
        windows = arrange(self._words, prompt, self._layout)
        shown = np.stack([windows.ids_WT, windows.marks_WT, windows.evidence_WT >= 0])
        rows = [torch.from_numpy(shown[:, w, windows.row(w)]).to(self._device) for w in range(shown.shape[1])]
        layout = windows.joined()
        ids, marks, evidence, pointable, _, last = layout.arrays
        first = beginnings(layout, [each.text for each in prompt.evidence])
        shown_to_canvas = (ids, marks, evidence, pointable, first, last)
        arrays = [torch.from_numpy(a)[None].to(self._device) for a in shown_to_canvas]
        with self._computing():
            read = self._windows.read(self._reader, rows)
            encoded = self._reader.assemble(read, *arrays, pad=self._words.pad)
        return _Read(prompt, layout, encoded, 0.0)

    def _read(self, known: _Read, canvas_BN: Tensor) -> Reading:
        with self._computing():
            if self._gathering is None:
                return read(self._reader, known.encoded, canvas_BN)
            predicted = self._gathering.predicted(known.encoded, canvas_BN)
            return read_off(self._reader.shape, known.encoded, canvas_BN, predicted)

    @contextmanager
    def _computing(self) -> Iterator[None]:
        with torch.inference_mode():
            yield

    # Canvases.

    def _rows(self, known: _Read, first: Reading, candidates: int) -> Tensor:
        """One blank canvas, and one for each rival span, its first slot committed."""
        shape = self._reader.shape
        p_AL = first.table_BAL[0].flatten().softmax(0).view_as(first.table_BAL[0])
        rivals: list[int] = []
        if candidates > 1 and torch.isfinite(first.table_BAL).any():
            rivals = self._rival_starts(known, p_AL, candidates - 1)
        canvas = blank_canvas(shape, 1 + len(rivals))
        for row, at in enumerate(rivals, 1):
            canvas[row, KIND] = KINDS.index("span")
            canvas[row, shape.part("answer").start] = at
        return canvas

    def _rival_starts(self, known: _Read, p_AL: Tensor, count: int) -> list[int]:
        """Where the next best spans begin that share no word with a better one."""
        p, index = p_AL.flatten().topk(min(64, p_AL.numel()))
        taken: list[str] = []
        starts: list[int] = []
        for share, i in zip(p.tolist(), index.tolist(), strict=True):
            if share < self.options.alternatives or len(starts) > count:
                break
            at, length = i % p_AL.shape[1], i // p_AL.shape[1] + 1
            text = self._text(known, at, at + length - 1).lower()
            if not any(text in other or other in text for other in taken):
                taken.append(text)
                starts.append(at)
        return starts[1 : 1 + count]

    def _reopened(
        self, known: _Read, draft: Draft, remask: Sequence[tuple[int, int]]
    ) -> tuple[Tensor, tuple[str, ...]]:
        """The draft as a canvas, with the slots under `remask` masked. Where nothing of it can be placed, all is masked."""
        shape, canvas = self._reader.shape, blank_canvas(self._reader.shape, 1)
        found = [self._position(known.layout, t.source) for t in draft.tokens]
        positions = [p for p in found if p is not None]
        if draft.kind != "span" or not positions or len(positions) != len(found) or len(positions) > shape.answer:
            return canvas, (draft.text,) if draft.text else ()
        hidden = [any(t.start < end and start < t.end for start, end in remask) for t in draft.tokens]
        part = shape.part("answer")
        canvas[0, KIND] = KINDS.index("span")
        canvas[0, part] = MASK if any(hidden) else END
        for j, (position, hide) in enumerate(zip(positions, hidden, strict=True)):
            canvas[0, part.start + j] = MASK if hide else position
        if not hidden[-1]:
            canvas[0, part.start + len(positions) : part.stop] = END
        for slot, source in enumerate(draft.cited[: shape.cite]):
            at = self._position(known.layout, source, mark=True)
            canvas[0, shape.part("cite").start + slot] = MASK if at is None else at
        return canvas, tuple(draft.text[start:end] for start, end in remask)

    @staticmethod
    def _position(layout: Layout, source: Source | None, *, mark: bool = False) -> int | None:
        """Where the token that begins a source stands in the prompt."""
        if source is None:
            return None
        here = (layout.evidence_WT == source.evidence) & layout.pointable_WT & (layout.starts_WT >= source.start)
        if mark:
            here &= layout.marks_WT > 0
        found = here.ravel().nonzero()[0]
        return int(found[0]) if found.size else None

    # Passes.

    def _watched(
        self, known: _Read, runs: "_Reads", canvas: Tensor, max_passes: int, seed: int
    ) -> Steps[CanvasPass, None, Denoised]:
        policy = Policy(max_passes=max_passes)
        if self.options.together:
            policy = threshold_policy(self.options.threshold, max_passes=max_passes)
        steps = denoise(runs, canvas, mask_id=MASK, policy=policy, seed=seed)
        while True:
            try:
                step: Step = next(steps)
            except StopIteration as stop:
                done: Denoised = stop.value
                return done
            yield self._shown(
                known,
                step.canvas_BN[0],
                step.index,
                committed=int(step.committed_BN[0].sum()),
                seconds=step.seconds + runs.seconds,
            )
            runs.seconds = 0.0

    def _shown(self, known: _Read, canvas_N: Tensor, index: int, *, committed: int, seconds: float) -> CanvasPass:
        masked = int((canvas_N == MASK).sum())
        return CanvasPass(index, self._picture(known, canvas_N), committed, masked, seconds=seconds)

    def _picture(self, known: _Read, canvas_N: Tensor) -> str:
        shape = self._reader.shape
        words: list[str] = []
        before: int | None = None
        for value in canvas_N[shape.part("answer")].tolist():
            if value == END:
                break
            glued = before is not None and value == before + 1 and not known.layout.first_WT.flat[value]
            words.append(
                ("" if glued or not words else " ") + (BLOCK if value == MASK else self._text(known, value, value))
            )
            before = value if value >= 0 else None
        kind = int(canvas_N[KIND])
        if not words and kind >= 0:
            words = [f"({KINDS[kind]})"]
        cites = [
            BLOCK if value == MASK else str(int(known.layout.evidence_WT.flat[value]) + 1)
            for value in canvas_N[shape.part("cite")].tolist()
            if value != END
        ]
        return "".join(words) + "".join(f" [{c}]" for c in cites)

    # Drafts.

    def _text(self, known: _Read, first: int, last: int) -> str:
        source = known.layout.source(first, last)
        return known.prompt.evidence[source.evidence].text[source.start : source.end]

    def _drafts(
        self, known: _Read, result: Denoised, runs: "_Reads", begin: float, started: float, rows: int
    ) -> list[Draft]:
        drafts = [self._draft(known, result, runs, row) for row in range(rows)]
        kept: dict[tuple[str, str], Draft] = {}
        for draft in sorted(drafts, key=lambda d: -d.confidence):
            kept.setdefault((draft.kind, draft.text.lower()), draft)
        now = time.perf_counter()
        stages, seconds = {"prefill": known.seconds, "denoise": now - started}, now - begin
        return [replace(d, passes=result.passes, seconds=seconds, stages=stages) for d in kept.values()]

    def _draft(self, known: _Read, result: Denoised, runs: "_Reads", row: int) -> Draft:
        canvas = result.canvas_BN[row]
        kinds = runs.first.predicted.kind_EDK[0, 0].softmax(-1)
        kind: Kind = KINDS[int(canvas[KIND])]  # type: ignore[assignment]
        cited = tuple(self._cited(known, at) for at in part_slots(canvas, self._reader.shape, "cite"))
        positions = part_slots(canvas, self._reader.shape, "answer") if kind == "span" else []
        if kind == "span" and not positions:
            kind = "none"
        share = float(kinds[KINDS.index(kind)])
        # Before anything is committed it tells right answers from wrong ones as well as after it (RESULTS.md), a pass sooner.
        right = float(runs.first.predicted.check_ED[0, 0].sigmoid()) if positions else share
        likely = self._likelihood(known, runs.first.table_BAL[0], positions) if positions else 1.0
        tokens = self._tokens(known, positions, result.confidence_BN[row, self._reader.shape.part("answer")].tolist())
        text = self._said(known, kind, positions, cited)
        bridge = part_slots(canvas, self._reader.shape, "bridge")
        return Draft(
            text,
            tokens,
            kind,
            confidence=(share * likely * right) ** (1 / 3) if positions else share,
            answerable=1.0 - float(kinds[KINDS.index("none")]),
            cited=cited,
            bridge=self._text(known, bridge[0], bridge[-1]) if bridge else "",
            left_out=known.layout.left_out,
        )

    def _said(self, known: _Read, kind: Kind, positions: Sequence[int], cited: Sequence[Source]) -> str:
        if kind == "sentences":
            return " ".join(known.prompt.evidence[s.evidence].text[s.start : s.end].strip() for s in cited)
        if positions:
            return self._text(known, positions[0], positions[-1])
        return kind if kind in ("yes", "no") else ""

    def _likelihood(self, known: _Read, table_AL: Tensor, positions: Sequence[int]) -> float:
        """The share of all spans with these very words, wherever they stand."""
        ids = known.layout.ids_WT.ravel()
        n = len(positions)
        same = (np.lib.stride_tricks.sliding_window_view(ids, n) == ids[list(positions)]).all(1)
        p_AL = table_AL.flatten().softmax(0).view_as(table_AL)
        return float(p_AL[n - 1, : len(same)][torch.from_numpy(same)].sum())

    def _tokens(self, known: _Read, positions: Sequence[int], confidence: Sequence[float]) -> tuple[Token, ...]:
        if not positions:
            return ()
        begin = known.layout.source(positions[0], positions[0]).start
        sources = [known.layout.source(p, p) for p in positions]
        return tuple(Token(s.start - begin, s.end - begin, c, s) for s, c in zip(sources, confidence, strict=False))

    def _cited(self, known: _Read, at: int) -> Source:
        """The sentence that begins at a mark; the whole text where the mark is its title's."""
        number = int(known.layout.evidence_WT.flat[at])
        evidence = known.prompt.evidence[number]
        if known.layout.ends_WT.flat[at] > 0:
            here = int(known.layout.starts_WT.flat[at])
            for start, end in evidence.sentences:
                if start <= here < end:
                    return Source(number, start, end)
        return Source(number, 0, len(evidence.text))


class _Reads:
    """The passes of one run: proposes for `denoise`, and keeps the first reading, whose scores rank the drafts.

    `seconds`: what that reading took, for the first pass to count; it is made before the passes are.
    """

    def __init__(self, owner: EmbeddedReader, known: _Read, first: Reading, *, ready: bool, seconds: float) -> None:
        self._owner, self._known, self.first, self._ready, self.seconds = owner, known, first, ready, seconds

    def __call__(self, canvas_BN: Tensor) -> Proposal:
        if self._ready:
            self._ready = False
            return self.first.proposal
        return self._owner._read(self._known, canvas_BN).proposal
