"""A published diffusion language model as a `Generator`: questions in, drafts with a confidence for every token out."""

# B drafts side by side, N canvas slots.

import time
from collections.abc import Generator as Steps
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from ..conversation import INSTRUCTION
from ..denoise import Denoised, Step
from ..draft import Budget, CanvasPass, Draft, Passes, Prompt
from ..errors import BackendUnavailable, GenerationFailed
from ..policy import Policy
from ..sample import Sampling
from .asking import Asked, asked
from .choose import Decisions
from .decode import Adjust, Engine, Masked, Order, Renoised
from .family import FamilyName, family_of
from .folder import checkpoint_folder
from .gemma import MODEL_TYPE, Gemma, load_gemma
from .infill import Narrowing, instruction
from .load import load_network
from .network import Network
from .options import GeneratorOptions
from .shards import read_json
from .skeleton import Schema, template
from .streaming import Streamer, stream
from .tokenizer import Tokenizer
from .vocabulary import Vocabulary
from .written import WrittenDraft, WrittenPass, drafted, length, written

__all__ = ["BLOCK", "CheckpointGenerator", "CheckpointName", "GeneratorOptions"]

BLOCK = "▒"
CheckpointName = FamilyName | Literal["diffusiongemma"]


class _Request(NamedTuple):
    """Everything a run knows; none of it is shared with another."""

    prompt: Prompt
    asked: Asked
    state: Any
    begun: float
    prefilled: float


class CheckpointGenerator:
    """One instance may serve many threads: a request's state is its own."""

    def __init__(
        self, network: Network | Gemma, tokenizer: Tokenizer, options: GeneratorOptions | None = None, *, name: str = ""
    ) -> None:
        self.options = options or GeneratorOptions()
        self._model, self._tokenizer = _engine(network, self.options), tokenizer
        self._vocabulary = Vocabulary(tokenizer, self._model.words)
        self._name = name or self._model.name

    @classmethod
    def load(
        cls,
        path_or_id: str,
        *,
        family: CheckpointName | None = None,
        dtype: str = "",
        device: str = "",
        options: GeneratorOptions | None = None,
    ) -> "CheckpointGenerator":
        """Reads a folder, or a hub id. `family`: refuse any other; `llada` takes its mixture of experts too. `device`:
        empty takes a GPU where there is one. Raises BackendUnavailable and WeightsUnusable."""
        folder = checkpoint_folder(path_or_id)
        config = read_json(folder / "config.json")
        gemma = config.get("model_type") == MODEL_TYPE
        found: CheckpointName = "diffusiongemma" if gemma else family_of(config, where=str(folder / "config.json")).name
        if family is not None and found.removesuffix("-moe") != family.removesuffix("-moe"):
            raise BackendUnavailable(
                f"{path_or_id!r} is a {found} checkpoint, not a {family}. Ask for {found.removesuffix('-moe')}:{path_or_id}"
            )
        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        network: Network | Gemma
        if gemma:
            network = load_gemma(folder, dtype=dtype, device=device)
        else:
            network = Network(load_network(folder, dtype=dtype, device=device))
        return cls(network, Tokenizer.load(folder), options, name=f"{family or found}:{path_or_id}")

    @property
    def name(self) -> str:
        return self._name

    @property
    def decide(self) -> Decisions:
        """Choices, an order of the evidence, whether it carries an answer or a statement: as probabilities, in one pass."""
        return Decisions(self._model, self._tokenizer, self._vocabulary)

    @property
    def budget(self) -> Budget:
        """Enough for the drafts of two searches and two refinements."""
        passes = self._model.passes(self._model.slots(self.options.answer_tokens, 0))
        return Budget(run_passes=passes, max_passes=4 * passes)

    def draft(self, prompt: Prompt, *, candidates: int = 1, max_passes: int = 4, seed: int = 0) -> Passes:
        """The likeliest words, and beside them up to `candidates` - 1 drafts that are drawn at a temperature."""
        request = self._begin(prompt)
        slots = self._model.slots(self.options.answer_tokens, len(request.asked.ids))
        canvas_BN = torch.full((max(1, candidates), slots), self._model.mask_id)
        ends = self._tokenizer.ends if self.options.reluctant_ends else ()
        least = self.options.least_tokens
        likeliest = Sampling(
            reluctant=ends, forbidden=self._tokenizer.ends if least else (), forbidden_slots=min(least, slots)
        )
        sampling = [likeliest] + [replace(likeliest, temperature=self.options.temperature)] * (len(canvas_BN) - 1)
        yield self._shown(canvas_BN[0], 0, masked=slots, seconds=request.prefilled)
        done = yield from self._run(request, canvas_BN, sampling, max_passes, seed)
        return self._drafts(request, done)

    def stream(self, prompt: Prompt, streamer: Streamer, *, max_passes: int = 4, seed: int = 0) -> Draft:
        """Drafts one answer into a streamer of transformers' shape, such as its `TextDiffusionStreamer`."""
        return stream(self.draft(prompt, max_passes=max_passes, seed=seed), streamer)

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
        """Masks the slots whose characters lie under the spans, and no other; as many tokens come back as were taken."""
        request = self._begin(prompt)
        ids, confidence, spans = self._reopened(draft, len(request.asked.ids))
        hidden = [any(s < stop and start < e for start, stop in remask) for s, e in spans]
        canvas_N = torch.tensor([self._model.mask_id if hide else id_ for id_, hide in zip(ids, hidden, strict=True)])
        taken = tuple(draft.text[start:end] for start, end in remask)
        first = self._shown(canvas_N, 0, masked=sum(hidden), seconds=request.prefilled)
        yield replace(first, remasked=taken, reason=reason)
        # An end in the middle would cut off words that were not doubted.
        sampling = [Sampling(forbidden=self._tokenizer.ends)]
        done = yield from self._run(request, canvas_N[None], sampling, max_passes, seed)
        was_N = torch.tensor(confidence)
        kept_BN = torch.where(torch.tensor(hidden)[None], done.confidence_BN.cpu(), was_N[None])
        return self._drafts(request, replace(done, confidence_BN=kept_BN))

    def infill_json(self, schema: Schema, prompt: Prompt, *, max_passes: int = 16, seed: int = 0) -> dict[str, Any]:
        """A value of the schema, whatever the model says: the skeleton is given, each slot may hold only what fits, and the
        values are read off the slots. See `skeleton.template` for the schemas, and what it raises where one can't be
        promised. A value that is not required is None where the model says null."""
        if schema.get("type", "object") != "object":
            raise GenerationFailed(
                f"the schema has type {schema['type']!r}, and an object is filled in. Wrap it in one"
            )
        words, mask_id = self._vocabulary, self._model.mask_id
        made = template(schema, words, mask_id=mask_id, encode=self._tokenizer.encode, decode=self._tokenizer.decode)
        request = self._begin(prompt, slots=len(made.ids), instruction=instruction(schema))
        slots = self._model.slots(len(made.ids), len(request.asked.ids))
        canvas = [*made.ids, *[self._tokenizer.ends[0]] * (slots - len(made.ids))]
        narrow = Narrowing(made, mask_id=mask_id, filler=words.filler, closers=words.closers, passes=max_passes)
        passes = self._run(request, torch.tensor([canvas]), [Sampling()], max_passes, seed, narrow)
        done = _finished(passes)
        value: dict[str, Any] = made.read(done.canvas_BN[0].tolist(), done.confidence_BN[0].tolist())
        return value

    # Running.

    def _begin(self, prompt: Prompt, *, slots: int = 0, instruction: str = INSTRUCTION) -> _Request:
        begun = time.perf_counter()
        window = self.options.window or self._model.window
        room = window - self._model.slots(slots or self.options.answer_tokens, 0)
        kept = bool(self.options.decode.document_bytes)
        conversation = asked(self._tokenizer, prompt, room=room, instruction=instruction, find_head=kept)
        without: list[int] = []
        if self.options.lean and prompt.evidence:
            without = asked(self._tokenizer, Prompt(prompt.question), room=room, instruction=instruction).ids
        state = self._model.prefill(conversation.ids, head=conversation.head, without=without)
        return _Request(prompt, conversation, state, begun, time.perf_counter() - begun)

    def _run(
        self,
        request: _Request,
        canvas_BN: Tensor,
        sampling: Sequence[Sampling],
        max_passes: int,
        seed: int,
        adjust: Adjust | None = None,
    ) -> Steps[CanvasPass, None, Denoised]:
        # A template is filled to its last slot, whatever its slots hold.
        ends = () if adjust or not self.options.stop_at_end else self._tokenizer.ends
        order = Order(
            sampling=sampling,
            max_passes=max_passes,
            seed=seed,
            ends=ends,
            adjust=adjust,
            credit=self.options.credit,
        )
        steps = self._model.run(request.state, canvas_BN.to(self._model.device), order)
        while True:
            try:
                step: Step = next(steps)
            except StopIteration as stop:
                done: Denoised = stop.value
                return done
            shown = self._shown(step.canvas_BN[0], step.index, masked=int(step.masked_B[0]), seconds=step.seconds)
            yield replace(shown, committed=int(step.committed_BN[0].sum()))

    def _reopened(self, draft: Draft, prompt_tokens: int) -> tuple[list[int], list[float], Sequence[tuple[int, int]]]:
        """Ids, confidences and character spans of a draft's slots: its own canvas, or, where it has none or its text is not
        that of its canvas any more, its text in tokens, and ends after it."""
        if isinstance(draft, WrittenDraft) and draft.ids:
            mine = written(self._tokenizer, draft.ids, shown=0)
            if mine.text == draft.text:
                return list(draft.ids), list(draft.sure), mine.spans
        tokens = self._tokenizer.spans(draft.text)
        wanted = max(self.options.answer_tokens, len(tokens) + 1)
        ends = self._model.slots(wanted, prompt_tokens) - len(tokens)
        ids = [id_ for id_, _, _ in tokens] + [self._tokenizer.ends[0]] * ends
        return ids, [1.0] * len(ids), [(start, end) for _, start, end in tokens] + [(0, 0)] * ends

    # What is shown and given.

    def _shown(self, canvas_N: Tensor, index: int, *, masked: int, seconds: float) -> WrittenPass:
        ids = canvas_N.tolist()
        return WrittenPass(index, "".join(self._pieces(ids)), 0, masked, seconds=seconds, ids=tuple(ids))

    def _pieces(self, ids: Sequence[int]) -> Iterator[str]:
        said: list[int] = []
        for id_ in ids[: length(self._tokenizer, ids)]:
            if id_ != self._model.mask_id:
                said.append(id_)
                continue
            yield self._tokenizer.decode(said) + BLOCK
            said = []
        yield self._tokenizer.decode(said)

    def _drafts(self, request: _Request, done: Denoised) -> list[Draft]:
        seconds = time.perf_counter() - request.begun
        stages = {"prefill": request.prefilled, "denoise": seconds - request.prefilled}
        kept: dict[str, Draft] = {}
        sure_BN, nats_BN = done.confidence_BN.cpu(), torch.zeros(len(done.canvas_BN), 0)
        if found := self._model.grounds(request.state, done.canvas_BN):
            sure_BN, nats_BN = sure_BN * found.trust_BN, found.nats_BN
        shown = len(request.prompt.evidence) - len(request.asked.left_out)
        rows = zip(done.canvas_BN.tolist(), sure_BN.tolist(), nats_BN.tolist(), strict=True)
        drafts = [
            replace(drafted(self._tokenizer, ids, sure, shown=shown), grounds=tuple(nats)) for ids, sure, nats in rows
        ]
        for draft in sorted(drafts, key=lambda d: -d.confidence):
            kept.setdefault(draft.text.lower(), draft)
        return [
            replace(draft, left_out=request.asked.left_out, passes=done.passes, seconds=seconds, stages=stages)
            for draft in kept.values()
        ]


def _finished(passes: Steps[CanvasPass, None, Denoised]) -> Denoised:
    while True:
        try:
            next(passes)
        except StopIteration as stop:
            done: Denoised = stop.value
            return done


def _engine(network: Network | Gemma, options: GeneratorOptions) -> Engine:
    if isinstance(network, Gemma):
        if options.lean:
            raise ValueError(
                f"lean={options.lean!r} needs a model with a mask, and DiffusionGemma has none. Leave it at 0"
            )
        return Renoised(network, options.renoise)
    policy = options.policy or Policy(commit="threshold", threshold=options.threshold)
    return Masked(network, options.decode, policy, lean=options.lean)
