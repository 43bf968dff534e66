"""The network of the embedded reader: an encoder whose keys and values a canvas of slots attends to.

The prompt is encoded once and never sees the canvas, so its cache is exact. Every slot of the canvas ends as a pointer: at a
position of the prompt, or at one of a few fixed words. Knows tensors. Does not know text.
"""

# E examples, W windows an example, T tokens a window, L = W*T positions, D draws (canvases) an example, N slots,
# H heads, C width. Suffixes name the axes.

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

KINDS = ("span", "yes", "no", "sentences", "none")
CHECK, KIND = 0, 1
END, MASK = -1, -2  # canvas values that are no position
Part = Literal["answer", "cite", "bridge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderShape:
    """Sizes of the network. The backbone's are those of MiniLM-L6; the canvas's are ours."""

    vocabulary: int = 30522
    width: int = 384
    heads: int = 12
    layers: int = 6
    inner: int = 1536
    positions: int = 512
    answer: int = 14  # slots; a longer answer is given as whole sentences
    cite: int = 4
    bridge: int = 6

    @property
    def slots(self) -> int:
        return 2 + self.answer + self.cite + self.bridge

    def part(self, part: Part) -> slice:
        """The slots of a part: check and kind come first, then answer, citations, bridge."""
        begin = {"answer": 2, "cite": 2 + self.answer, "bridge": 2 + self.answer + self.cite}[part]
        return slice(begin, begin + {"answer": self.answer, "cite": self.cite, "bridge": self.bridge}[part])


class Windows(NamedTuple):
    """Windows, each read by itself. [W, T, C] or, one a layer, [W, H, T, C/H]."""

    states: Tensor
    start: Tensor
    stop: Tensor
    cite: Tensor
    keys: list[Tensor]
    values: list[Tensor]

    def each(self, change: Callable[[Tensor], Tensor]) -> "Windows":
        """The same change made to every tensor."""
        return Windows(
            change(self.states),
            change(self.start),
            change(self.stop),
            change(self.cite),
            [change(k) for k in self.keys],
            [change(v) for v in self.values],
        )


class Encoded(NamedTuple):
    """A prompt, read once: the cache the canvas attends to, and the states it points at."""

    states_ELC: Tensor
    start_ELC: Tensor  # what start, stop and citation queries are matched with
    stop_ELC: Tensor
    cite_ELC: Tensor
    keys: list[Tensor]  # one a layer, [E, H, L, C/H]
    values: list[Tensor]
    real_EL: Tensor  # bool: not padding
    point_EL: Tensor  # bool: a first piece of a word of the evidence, where a span may begin
    last_EL: Tensor  # bool: a last piece of a word, where a span may end
    mark_EL: Tensor  # bool: a sentence or a title begins here
    run_EL: Tensor  # int: how many positions from here on, this one included, are of the same text


class Predicted(NamedTuple):
    """What a pass over the canvas says. Log-probabilities of spans follow from `start` and `stop`:
    log P(span from s of n tokens) = start[s] + sum of log(1 - σ(stop[j, s+j])) for j < n-1 + log σ(stop[n-1, s+n-1])."""

    check_ED: Tensor  # logit: the committed answer is right
    kind_EDK: Tensor
    start_EDL: Tensor  # log-probability that the answer begins here
    stop_EDAL: Tensor  # logit: the answer that has its j-th token here ends here
    cite_EDML: Tensor  # log-probability of each mark for each citation slot, with END last: [..., L+1]
    bridge_start_EDL: Tensor
    bridge_stop_EDBL: Tensor
    bridge_some_ED: Tensor  # logit: there is something more to look up
    support_EDL: Tensor  # logit: what begins at this mark supports an answer; the same for all canvases of a prompt


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """Scaled dot-product attention [B, H, Q, c] under a boolean mask, or none.

    On a CPU in bfloat16 two plain products take half the time of the fused kernel (measured, 4 x 384 tokens, with gradients).
    """
    if q.dtype is not torch.bfloat16 or q.device.type != "cpu":
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    with torch.autocast("cpu", enabled=False):
        scores = torch.matmul(q * q.shape[-1] ** -0.5, k.transpose(-1, -2))
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        return torch.matmul(scores.softmax(-1), v)


def attend_canvas(
    q: Tensor, k: Tensor, v: Tensor, past_k: Tensor, past_v: Tensor, hidden: Tensor | None, D: int
) -> Tensor:
    """[E, H, D*N, c]: every slot sees the whole prompt, but for `hidden` positions, and the slots of its own canvas of D.

    In two parts, so that neither the prompt's keys nor its values are copied for a few slots.
    """
    E, H, DN, c = q.shape
    N, L = DN // D, past_k.shape[2]
    q = q * c**-0.5
    prompt = torch.matmul(q, past_k.transpose(-1, -2))
    if hidden is not None:
        prompt = prompt.masked_fill(hidden, float("-inf"))
    own = torch.matmul(q.view(E, H, D, N, c), k.view(E, H, D, N, c).transpose(-1, -2)).view(E, H, DN, N)
    p = torch.cat([prompt, own], -1).softmax(-1)
    mine = torch.matmul(p[..., L:].view(E, H, D, N, N), v.view(E, H, D, N, c)).view(E, H, DN, c)
    return torch.matmul(p[..., :L], past_v) + mine


def merge(mixed_BHTc: Tensor) -> Tensor:
    """The heads side by side: [B, T, C]."""
    return mixed_BHTc.transpose(1, 2).flatten(2)


class _Rows:
    """The tokens of windows padded at their ends, one a row, and back."""

    def __init__(self, real_WT: Tensor) -> None:
        self.shape = real_WT.shape
        self.at_R = None if real_WT.all() else real_WT.flatten().nonzero()[:, 0]
        self.apart = self.at_R is not None and real_WT.device.type == "cpu"
        """Whether to attend window by window: on a CPU small products cost nothing extra, and padding does."""
        self.lengths: list[int] = real_WT.sum(1).tolist()

    def taken(self, x_WTC: Tensor) -> Tensor:
        """[R, C]: without the padding."""
        flat = x_WTC.flatten(0, 1)
        return flat if self.at_R is None else flat.index_select(0, self.at_R)

    def spread(self, x_RC: Tensor) -> Tensor:
        """[W, T, C]: zero where there is padding."""
        if self.at_R is not None:
            W, T = self.shape
            x_RC = x_RC.new_zeros(W * T, x_RC.shape[1]).index_copy(0, self.at_R, x_RC)
        return x_RC.view(*self.shape, -1)


class Layer(nn.Module):
    """One post-norm transformer layer, as in BERT."""

    def __init__(self, shape: ReaderShape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.qkv = nn.Linear(shape.width, 3 * shape.width)
        self.mix = nn.Linear(shape.width, shape.width)
        self.mix_norm = nn.LayerNorm(shape.width, eps=1e-12)
        self.up = nn.Linear(shape.width, shape.inner)
        self.down = nn.Linear(shape.inner, shape.width)
        self.norm = nn.LayerNorm(shape.width, eps=1e-12)

    def split(self, qkv_BTC: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, [B, H, T, c] each."""
        B, T, C = qkv_BTC.shape
        q, k, v = qkv_BTC.view(B, T, 3, self.heads, C // (3 * self.heads)).permute(2, 0, 3, 1, 4)
        return q, k, v

    def finish(self, x: Tensor, mixed: Tensor) -> Tensor:
        """[..., C] both: what went in, and what attention made of it."""
        x = self.mix_norm(x + self.mix(mixed))
        out: Tensor = self.norm(x + self.down(F.gelu(self.up(x))))
        return out


class Reader(nn.Module):
    """The whole network. `words` (the word embeddings) stay frozen and are not saved with the weights."""

    def __init__(self, shape: ReaderShape) -> None:
        super().__init__()
        self.shape = shape
        C = shape.width
        self.words = nn.Embedding(shape.vocabulary, C)
        self.places = nn.Embedding(shape.positions, C)
        self.types = nn.Embedding(2, C)
        self.marks = nn.Embedding(3, C)
        self.embed_norm = nn.LayerNorm(C, eps=1e-12)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        # The canvas.
        self.slots = nn.Parameter(torch.randn(shape.slots, C) * 0.05)
        self.special = nn.Parameter(torch.randn(2 + len(KINDS), C) * 0.02)  # mask, end, kinds
        self.carry = nn.Linear(C, C)
        self.canvas_norm = nn.LayerNorm(C, eps=1e-12)
        self.head = nn.Sequential(nn.Linear(C, C), nn.GELU(), nn.LayerNorm(C))
        self.check = nn.Linear(C, 1)
        self.kind = nn.Linear(C, len(KINDS))
        self.start_query, self.start_key = nn.Linear(C, C), nn.Linear(C, C)
        self.stop_query, self.stop_key = nn.Linear(C, C), nn.Linear(C, C)
        self.stop_bias = nn.Parameter(torch.zeros(()))
        self.cite_query, self.cite_key = nn.Linear(C, C), nn.Linear(C, C)
        self.cite_end = nn.Linear(C, 1)
        self.bridge_query, self.bridge_stop_query = nn.Linear(C, C), nn.Linear(C, C)
        self.bridge_some = nn.Linear(C, 1)
        self.support = nn.Linear(C, 1)

    def backbone(self) -> list[nn.Parameter]:
        """The parameters that came from the encoder and want a small learning rate."""
        parts = (self.places, self.types, self.embed_norm, self.layers)
        return [p for part in parts for p in part.parameters()]

    def lowest(self, layers: int) -> list[nn.Module]:
        """The word embeddings, which are never trained, and so many layers from below with all that is beneath them."""
        beneath: list[nn.Module] = [self.words]
        if layers:
            beneath += [self.places, self.types, self.marks, self.embed_norm, *self.layers[:layers]]
        return beneath

    def encode(
        self,
        ids_EWT: Tensor,
        marks_EWT: Tensor,
        evidence_EWT: Tensor,
        pointable_EWT: Tensor,
        first_EWT: Tensor,
        last_EWT: Tensor,
        *,
        pad: int,
    ) -> Encoded:
        """Reads prompts: one pass over every window, windows apart from each other."""
        flat = [t.flatten(0, 1) for t in (ids_EWT, marks_EWT, evidence_EWT)]
        windows = self.read_windows(flat[0], flat[1], (flat[2] >= 0).long(), pad=pad)
        return self.assemble(windows, ids_EWT, marks_EWT, evidence_EWT, pointable_EWT, first_EWT, last_EWT, pad=pad)

    def read_windows(self, ids_WT: Tensor, marks_WT: Tensor, types_WT: Tensor, *, pad: int) -> "Windows":
        """The costly part: each window read by itself, so that one read before need not be read again."""
        T = ids_WT.shape[1]
        assert self.shape.positions >= T, f"a window of {T} tokens is longer than the encoder's {self.shape.positions}"
        x = self.words(ids_WT) + self.places(torch.arange(T, device=ids_WT.device)) + self.types(types_WT)
        # Added to the sum before its norm, so that zero marks leave the pre-trained encoder as it was.
        x = self.embed_norm(x + self.marks(marks_WT))
        real_WT = ids_WT != pad
        mask = None if real_WT.all() else real_WT[:, None, None, :]
        # All but attention is done for the tokens alone, one a row: a third of the windows of ten passages is padding.
        rows = _Rows(real_WT)
        x = rows.taken(x)
        keys, values = [], []
        for layer in self.layers:
            assert isinstance(layer, Layer)
            qkv = layer.qkv(x)
            q, k, v = layer.split(rows.spread(qkv))
            if rows.apart:
                each = (merge(attend(*layer.split(own[None]), None))[0] for own in qkv.split(rows.lengths))
                mixed = torch.cat(tuple(each))
            else:
                mixed = rows.taken(merge(attend(q, k, v, mask)))
            x = layer.finish(x, mixed)
            keys.append(k)
            values.append(v)
        start, stop, cite = (rows.spread(key(x)) for key in (self.start_key, self.stop_key, self.cite_key))
        return Windows(rows.spread(x), start, stop, cite, keys, values)

    @staticmethod
    def assemble(
        windows: "Windows",
        ids_EWT: Tensor,
        marks_EWT: Tensor,
        evidence_EWT: Tensor,
        pointable_EWT: Tensor,
        first_EWT: Tensor,
        last_EWT: Tensor,
        *,
        pad: int,
    ) -> Encoded:
        """Windows to prompts of W windows each."""
        E, W, T = ids_EWT.shape
        pointable = pointable_EWT.flatten(1)
        return Encoded(
            windows.states.view(E, W * T, -1),
            windows.start.view(E, W * T, -1),
            windows.stop.view(E, W * T, -1),
            windows.cite.view(E, W * T, -1),
            [_join(k, E, W) for k in windows.keys],
            [_join(v, E, W) for v in windows.values],
            (ids_EWT != pad).flatten(1),
            pointable & first_EWT.flatten(1),
            pointable & last_EWT.flatten(1),
            (marks_EWT > 0).flatten(1),
            run_lengths(evidence_EWT, pointable_EWT),
        )

    def predict(self, encoded: Encoded, canvas_EDN: Tensor) -> Predicted:
        """One pass over canvases. A slot holds a position of the prompt, MASK, END, or (the kind slot) a kind's number."""
        x_EDNC = self._run(encoded, canvas_EDN)
        h = self.head(x_EDNC)
        answer, cite, bridge = (h[:, :, self.shape.part(p)] for p in ("answer", "cite", "bridge"))
        scale = self.shape.width**-0.5
        return Predicted(
            self.check(h[:, :, CHECK]).squeeze(-1).float(),
            self.kind(h[:, :, KIND]).float(),
            _pointer(self.start_query(answer[:, :, 0]), encoded.start_ELC, scale, encoded.point_EL),
            _affinity(self.stop_query(answer), encoded.stop_ELC, scale) + self.stop_bias,
            self._cite(cite, encoded, scale),
            _pointer(self.bridge_query(bridge[:, :, 0]), encoded.start_ELC, scale, encoded.point_EL),
            _affinity(self.bridge_stop_query(bridge), encoded.stop_ELC, scale) + self.stop_bias,
            self.bridge_some(h[:, :, self.shape.part("bridge").start]).squeeze(-1).float(),
            self.support(encoded.states_ELC).squeeze(-1).float()[:, None].expand(-1, canvas_EDN.shape[1], -1),
        )

    def _run(self, encoded: Encoded, canvas_EDN: Tensor) -> Tensor:
        E, D, N = canvas_EDN.shape
        x = self._embed(encoded, canvas_EDN).view(E, D * N, -1)
        hidden = None if encoded.real_EL.all() else ~encoded.real_EL[:, None, None]
        for layer, past_k, past_v in zip(self.layers, encoded.keys, encoded.values, strict=True):
            assert isinstance(layer, Layer)
            q, k, v = layer.split(layer.qkv(x))
            x = layer.finish(x, merge(attend_canvas(q, k, v, past_k, past_v, hidden, D)))
        return x.view(E, D, N, -1)

    def _embed(self, encoded: Encoded, canvas_EDN: Tensor) -> Tensor:
        """A committed slot carries the state it points at, so that its neighbours can continue that span."""
        E, D, N = canvas_EDN.shape
        index = canvas_EDN.clamp(min=0).view(E, D * N, 1)
        index = index.clamp(max=encoded.states_ELC.shape[1] - 1)
        pointed = encoded.states_ELC.gather(1, index.expand(-1, -1, encoded.states_ELC.shape[2])).view(E, D, N, -1)
        carried = self.carry(pointed)
        masked, ended = (canvas_EDN == MASK)[..., None], (canvas_EDN == END)[..., None]
        held = torch.where(masked, self.special[0], torch.where(ended, self.special[1], carried))
        kind = self.special[2 + canvas_EDN[:, :, KIND].clamp(min=0, max=len(KINDS) - 1)]
        kind = torch.where(masked[:, :, KIND], self.special[0], kind)
        check = self.special[0].expand_as(kind)
        held = torch.cat([check[:, :, None], kind[:, :, None], held[:, :, 2:]], 2)
        out: Tensor = self.canvas_norm(self.slots + held)
        return out

    def _cite(self, h_EDMC: Tensor, encoded: Encoded, scale: float) -> Tensor:
        scores = _affinity(self.cite_query(h_EDMC), encoded.cite_ELC, scale)
        scores = scores.masked_fill(~encoded.mark_EL[:, None, None, :], -1e4)
        return torch.cat([scores, self.cite_end(h_EDMC).float()], -1).log_softmax(-1)


def _join(x: Tensor, E: int, W: int) -> Tensor:
    """[E*W, H, T, c] -> [E, H, W*T, c]: the canvas sees every window."""
    H, T, c = x.shape[1:]
    return x.view(E, W, H, T, c).transpose(1, 2).reshape(E, H, W * T, c)


def _affinity(q_EDMC: Tensor, k_ELC: Tensor, scale: float) -> Tensor:
    return torch.einsum("edmc,elc->edml", q_EDMC * scale, k_ELC).float()


def _pointer(q_EDC: Tensor, k_ELC: Tensor, scale: float, allowed_EL: Tensor) -> Tensor:
    scores = torch.einsum("edc,elc->edl", q_EDC * scale, k_ELC).float()
    return scores.masked_fill(~allowed_EL[:, None, :], -1e4).log_softmax(-1)


def run_lengths(evidence_EWT: Tensor, pointable_EWT: Tensor) -> Tensor:
    """How many positions from each on belong to the same text in the same window: [E, W*T], 0 where nothing may be pointed at.

    >>> run_lengths(torch.tensor([[[-1, 0, 0, 1, 1]]]), torch.tensor([[[False, True, True, True, True]]]))
    tensor([[0, 2, 1, 2, 1]])
    """
    T = evidence_EWT.shape[-1]
    at = torch.arange(T, device=evidence_EWT.device)
    goes_on = F.pad(pointable_EWT[..., 1:] & (evidence_EWT[..., 1:] == evidence_EWT[..., :-1]), (0, 1))
    ends = torch.where(goes_on, T, at).flip(-1).cummin(-1).values.flip(-1)
    return torch.where(pointable_EWT, ends - at + 1, 0).flatten(1)
