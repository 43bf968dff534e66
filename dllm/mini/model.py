"""The network of the embedded reader: an encoder whose keys and values a canvas of slots attends to.

The prompt is encoded once and never sees the canvas, so its cache is exact. Every slot of the canvas ends as a pointer: at a
position of the prompt, or at one of a few fixed words. Knows tensors. Does not know text.
"""

# E examples, W windows an example, T tokens a window, L = W*T positions, R rows (tokens without padding), S kinds of states,
# K keys and values, D draws (canvases) an example, N slots, H heads, C width, c = C/H. Suffixes name the axes.

from collections.abc import Sequence
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
    """Windows of R rows in all, each read by itself: the cache before it is a prompt's."""

    states_SRC: Tensor  # final states, and what start, stop and citation queries are matched with
    heads_KHRc: Tensor  # each layer's keys, then its values

    def split(self, lengths: Sequence[int]) -> list["Windows"]:
        """Each window with memory of its own: a part would keep the whole alive."""
        parts = zip(
            torch.split(self.states_SRC, [*lengths], 1), torch.split(self.heads_KHRc, [*lengths], 2), strict=True
        )
        return [Windows(states.clone(), heads.clone()) for states, heads in parts]

    @staticmethod
    def joined(windows: Sequence["Windows"]) -> "Windows":
        return Windows(torch.cat([w.states_SRC for w in windows], 1), torch.cat([w.heads_KHRc for w in windows], 2))

    def spread(self, at_R: Tensor, positions: int) -> "Windows":
        """Row r at position `at_R[r]` of so many, zero elsewhere."""
        (S, _, C), (K, H, _, c) = self.states_SRC.shape, self.heads_KHRc.shape
        states, heads = self.states_SRC.new_zeros(S, positions, C), self.heads_KHRc.new_zeros(K, H, positions, c)
        return Windows(states.index_copy(1, at_R, self.states_SRC), heads.index_copy(2, at_R, self.heads_KHRc))


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

    On a CPU in bfloat16 two plain products take half the time of the fused kernel with gradients (4 x 384 tokens), and 1.7
    times its time without (10 windows of 60 to 280 tokens).
    """
    if not torch.is_grad_enabled() or q.dtype is not torch.bfloat16 or q.device.type != "cpu":
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


class Ragged:
    """Windows of these lengths, one after another without padding: who attends to whom."""

    def __init__(self, lengths: Sequence[int], device: torch.device, *, apart: bool | None = None) -> None:
        """`apart`: attend window by window instead of all padded to the longest. On a CPU by itself: there small products
        cost nothing extra, and padding does."""
        self._lengths = [n for n in lengths if n]
        self._apart = apart if apart is not None else device.type == "cpu"
        longest_W = torch.tensor(self._lengths, device=device)[:, None]
        self._real_WT = torch.arange(max(self._lengths, default=0), device=device) < longest_W
        self._at_R = self._real_WT.flatten().nonzero()[:, 0]
        self.columns_R = self._real_WT.nonzero()[:, 1]
        """The place of every row in its window."""

    def attended(self, layer: "Layer", qkv_RC: Tensor) -> Tensor:
        """[R, C]: every row attends to the rows of its own window."""
        if self._apart:
            return torch.cat(
                [merge(attend(*layer.split(own[None]), None))[0] for own in torch.split(qkv_RC, self._lengths)]
            )
        padded = qkv_RC.new_zeros(self._real_WT.numel(), qkv_RC.shape[1]).index_copy(0, self._at_R, qkv_RC)
        mixed = attend(*layer.split(padded.view(*self._real_WT.shape, -1)), self._real_WT[:, None, None])
        return merge(mixed).flatten(0, 1).index_select(0, self._at_R)


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
        E, W, T = ids_EWT.shape
        real_P = (ids_EWT != pad).flatten()
        at_R = real_P.nonzero()[:, 0]
        shown_3P = torch.stack([ids_EWT, marks_EWT, (evidence_EWT >= 0).long()]).flatten(1)
        windows = self.read(shown_3P[:, at_R], real_P.view(E * W, T).sum(1).tolist())
        if len(at_R) < len(real_P):
            windows = windows.spread(at_R, len(real_P))
        return self.assemble(
            windows,
            ids_EWT,
            marks_EWT,
            evidence_EWT,
            pointable_EWT,
            first_EWT,
            last_EWT,
            pad=pad,
        )

    def read(self, shown_3R: Tensor, lengths: Sequence[int]) -> Windows:
        """The costly part: ids, marks and types of windows of these lengths, one after another. Each is read by itself, so
        that one read before need not be read again."""
        ids_R, marks_R, types_R = shown_3R
        longest = max(lengths, default=0)
        assert longest <= self.shape.positions, f"{longest} tokens are more than the encoder's {self.shape.positions}"
        ragged = Ragged(lengths, ids_R.device)
        x = self.words(ids_R) + self.places(ragged.columns_R) + self.types(types_R)
        # Added to the sum before its norm, so that zero marks leave the pre-trained encoder as it was.
        x = self.embed_norm(x + self.marks(marks_R))
        heads = []
        for layer in self.layers:
            assert isinstance(layer, Layer)
            qkv = layer.qkv(x)
            x = layer.finish(x, ragged.attended(layer, qkv))
            heads += [part[0] for part in layer.split(qkv[None])[1:]]
        return Windows(torch.stack([x, self.start_key(x), self.stop_key(x), self.cite_key(x)]), torch.stack(heads))

    @staticmethod
    def assemble(
        windows: Windows,
        ids_EWT: Tensor,
        marks_EWT: Tensor,
        evidence_EWT: Tensor,
        pointable_EWT: Tensor,
        first_EWT: Tensor,
        last_EWT: Tensor,
        *,
        pad: int,
    ) -> Encoded:
        """What was read, R = E*W*T rows, to prompts of W windows each."""
        E, W, T = ids_EWT.shape
        pointable = pointable_EWT.flatten(1)
        states, start, stop, cite = windows.states_SRC.view(4, E, W * T, -1)
        K, H, _, c = windows.heads_KHRc.shape
        heads = list(windows.heads_KHRc.view(K, H, E, W * T, c).transpose(1, 2))
        return Encoded(
            states,
            start,
            stop,
            cite,
            heads[0::2],
            heads[1::2],
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


def _affinity(q_EDMC: Tensor, k_ELC: Tensor, scale: float) -> Tensor:
    E, D, M, _ = q_EDMC.shape
    return torch.matmul((q_EDMC * scale).flatten(1, 2), k_ELC.transpose(1, 2)).view(E, D, M, -1).float()


def _pointer(q_EDC: Tensor, k_ELC: Tensor, scale: float, allowed_EL: Tensor) -> Tensor:
    scores = torch.matmul(q_EDC * scale, k_ELC.transpose(1, 2)).float()
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
