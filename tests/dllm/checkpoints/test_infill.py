"""JSON by infilling: whatever a model says, what comes out is a value of the schema."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from remask.dllm.checkpoints.generator import CheckpointGenerator, GeneratorOptions
from remask.dllm.checkpoints.infill import Narrowing, instruction
from remask.dllm.checkpoints.skeleton import Template, template
from remask.dllm.checkpoints.tokenizer import Tokenizer
from remask.dllm.checkpoints.vocabulary import Vocabulary
from remask.dllm.conversation import messages
from remask.dllm.draft import Evidence, Prompt
from remask.dllm.errors import GenerationFailed
from remask.dllm.structured import infills

from .tiny import checkpoint, gemma_checkpoint, words

TOKENIZER = Tokenizer(words())
MASK = words().mask_token_id
VOCABULARY = Vocabulary(TOKENIZER, len(words()) + 6)
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "year": {"type": "integer", "minimum": 0},
        "height": {"type": "number"},
        "floors": {"type": "integer", "minimum": 3, "maximum": 12},
        "lit": {"type": "boolean"},
        "kind": {"enum": ["lighthouse", "light ship", "beacon", 7]},
        "nickname": {"type": "string"},
        "keepers": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
        "place": {"type": "object", "properties": {"town": {"type": ["string", "null"]}}, "required": ["town"]},
    },
    "required": ["name", "year", "height", "floors", "lit", "kind", "keepers", "place"],
}
PROMPT = Prompt("Describe it.", (Evidence("The lighthouse of Port Ember was built by Mira Holt in 1871."),))


def made(schema: dict[str, Any]) -> Template:
    return template(schema, VOCABULARY, mask_id=MASK, encode=TOKENIZER.encode, decode=TOKENIZER.decode)


def fits(schema: dict[str, Any], value: Any, *, may_be_none: bool = False) -> bool:
    """A validator for what is promised, written from the meaning of the keywords."""
    kind = schema.get("type")
    if any(value == each and type(value) is type(each) for each in schema.get("enum", ())):
        return True
    if value is None:
        return may_be_none or kind == "null" or (isinstance(kind, list) and "null" in kind)
    kind = next(k for k in kind if k != "null") if isinstance(kind, list) else kind
    if kind == "object":
        required = schema.get("required", schema["properties"])
        return list(value) == list(schema["properties"]) and all(
            fits(inner, value[name], may_be_none=name not in required) for name, inner in schema["properties"].items()
        )
    if kind == "array":
        few, many = schema.get("minItems", 0), schema.get("maxItems", 4)
        return few <= len(value) <= many and all(fits(schema["items"], item) for item in value)
    if kind in ("integer", "number"):
        right = type(value) is (int if kind == "integer" else float)
        return right and schema.get("minimum", value) <= value <= schema.get("maximum", value)
    if kind == "string":
        return isinstance(value, str) and len(value) <= schema.get("maxLength", len(value)) and '"' not in value
    return kind == "boolean" and isinstance(value, bool)


leaves = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "maxLength": 3},
        {"type": "integer"},
        {"type": "number", "minimum": 0},
        {"type": "integer", "minimum": -2, "maximum": 20},
        {"type": "boolean"},
        {"type": ["integer", "null"]},
        {"enum": ["New York", "New Angeles", "Los Angeles", 3, None]},
    ]
)


def objects(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    named = st.dictionaries(st.sampled_from(["a", "b", 'c"d', "é"]), inner, max_size=3)
    whole = named.flatmap(
        lambda each: (
            st.lists(st.sampled_from(sorted(each)), unique=True).map(
                lambda required: {"type": "object", "properties": each, "required": required}
            )
            if each
            else st.just({"type": "object", "properties": {}})
        )
    )
    lists = st.tuples(inner, st.integers(0, 1)).map(
        lambda pair: {"type": "array", "items": pair[0], "minItems": pair[1], "maxItems": 2}
    )
    return st.one_of(whole, lists)


@given(st.recursive(leaves, objects, max_leaves=4), st.integers(0, 2**32))
@settings(deadline=None, max_examples=80)
def test_any_words_that_the_slots_may_hold_make_a_value_of_the_schema(schema: dict[str, Any], seed: int) -> None:
    canvas, chance = made(schema), random.Random(seed)
    assert {slot for slot, id_ in enumerate(canvas.ids) if id_ == MASK} == set(canvas.allowed)
    ids = list(canvas.ids)
    for slot, allowed_V in canvas.allowed.items():
        ids[slot] = chance.choice(allowed_V.nonzero()[:, 0].tolist())
    value = canvas.read(ids, [chance.random() for _ in ids])
    assert fits(schema, value), value
    assert json.loads(json.dumps(value)) == value


def filled(canvas: Template, said: dict[str, Any]) -> list[int]:
    """The canvas as it stands once every choice in it is made by hand, its other slots the filler."""
    ids = list(canvas.ids)
    for slot in canvas.allowed:
        ids[slot] = VOCABULARY.filler
    for choice in canvas.choices:
        at = next((i for i, value in enumerate(choice.values) if value in said.values()), 0)
        for slot, word in zip(choice.slots, choice.words[at], strict=True):
            ids[slot] = word
    return ids


def test_a_text_ends_at_its_first_quotation_mark() -> None:
    canvas = made({"type": "object", "properties": {"name": {"type": "string"}}})
    ids = list(canvas.ids)
    said = TOKENIZER.encode('Mira" and so on')
    for slot, id_ in zip(canvas.texts[0], [*said, *[VOCABULARY.filler] * 99], strict=False):
        ids[slot] = id_
    assert canvas.read(ids, [1.0] * len(ids)) == {"name": "Mira"}
    assert TOKENIZER.decode(ids).startswith('{"name": "Mira"')


def test_numbers_are_read_to_their_first_filler() -> None:
    canvas = made({"type": "object", "properties": {"year": {"type": "integer", "minimum": 0}}})
    ids = list(canvas.ids)
    for slot, id_ in zip(
        canvas.texts[0], [TOKENIZER.encode(d)[0] for d in "187"] + [VOCABULARY.filler] * 3, strict=True
    ):
        ids[slot] = id_
    assert canvas.read(ids, [1.0] * len(ids)) == {"year": 187}


def test_an_optional_property_is_none_where_the_model_says_null() -> None:
    canvas = made({"type": "object", "properties": {"lit": {"type": "boolean"}}, "required": []})
    ids = filled(canvas, {"": "null", "lit": True})
    assert canvas.read(ids, [1.0] * len(ids)) == {"lit": None}


def test_a_mix_of_two_choices_is_read_as_the_one_that_is_surer() -> None:
    canvas = made({"type": "object", "properties": {"city": {"enum": ["New York", "Los Angeles"]}}})
    (choice,) = canvas.choices
    ids, sure = list(canvas.ids), [1.0] * len(canvas.ids)
    half = len(choice.slots) // 2
    for at, slot in enumerate(choice.slots):
        ids[slot] = choice.words[at >= half][at]
        sure[slot] = 0.9 if at >= half else 0.1
    assert canvas.read(ids, sure) == {"city": "Los Angeles"}


@pytest.mark.parametrize(
    ("schema", "named"),
    [
        ({"type": "string", "pattern": "a+"}, "'pattern' of 'it' of the schema"),
        ({"$ref": "#/x"}, r"'\$ref'"),
        ({"type": "integer", "minimum": 5}, "one bound of 'it'"),
        ({"type": "integer", "minimum": 0, "maximum": 9999}, "10000 values"),
        ({"type": "array"}, "says no items"),
        ({"enum": []}, "empty enum"),
        ({"type": "blob"}, "has type 'blob'"),
        ({"type": ["string", "integer"]}, "has type"),
    ],
)
def test_what_cannot_be_promised_is_refused_by_name_and_place(schema: dict[str, Any], named: str) -> None:
    with pytest.raises(GenerationFailed, match=named):
        made({"type": "object", "properties": {"it": schema}})


# Narrowing.


def narrowing(canvas: Template, passes: int = 9) -> Narrowing:
    return Narrowing(canvas, mask_id=MASK, filler=VOCABULARY.filler, closers=VOCABULARY.closers, passes=passes)


def test_words_that_a_slot_may_not_hold_are_ruled_out() -> None:
    canvas = made(SCHEMA)
    logits = narrowing(canvas)(torch.zeros(1, len(canvas.ids), VOCABULARY.size), torch.tensor([canvas.ids]))
    for slot, allowed_V in canvas.allowed.items():
        assert bool((logits[0, slot][~allowed_V] == -torch.inf).all())
        assert bool(torch.isfinite(logits[0, slot]).any())


def test_after_a_word_that_ends_a_text_only_filler_is_left() -> None:
    canvas = made({"type": "object", "properties": {"name": {"type": "string"}}})
    held = torch.tensor([canvas.ids])
    third = canvas.texts[0][2]
    held[0, third] = TOKENIZER.encode('"')[0]
    logits = narrowing(canvas)(torch.randn(1, len(canvas.ids), VOCABULARY.size), held)
    for at, slot in enumerate(canvas.texts[0]):
        assert (int(torch.isfinite(logits[0, slot]).sum()) == 1) == (at > 2)


def test_a_choice_is_made_as_a_whole() -> None:
    canvas = made({"type": "object", "properties": {"city": {"enum": ["New York", "Los Angeles"]}}})
    (choice,) = canvas.choices
    logits = torch.zeros(1, len(canvas.ids), VOCABULARY.size)
    first, last = choice.slots[1], choice.slots[-1]  # the quotation mark they begin with says nothing
    logits[0, first, choice.words[0][1]] = 1.0  # "N" by a little,
    logits[0, last, choice.words[1][-1]] = 9.0  # the longer one's end by a lot
    out = narrowing(canvas)(logits, torch.tensor([canvas.ids]))
    likeliest = [int(out[0, slot].argmax()) for slot in choice.slots]
    assert likeliest == list(choice.words[1])
    held = torch.tensor([canvas.ids])
    held[0, first] = choice.words[0][1]
    out = narrowing(canvas)(logits, held)
    assert [int(out[0, slot].argmax()) for slot in choice.slots[2:]] == list(choice.words[0][2:])


def test_a_choice_stays_open_while_it_is_unsure_until_the_last_pass() -> None:
    canvas = made({"type": "object", "properties": {"lit": {"type": "boolean"}}})
    (choice,) = canvas.choices
    logits, held = torch.zeros(1, len(canvas.ids), VOCABULARY.size), torch.tensor([canvas.ids])
    narrow = narrowing(canvas, passes=2)
    slot = next(s for at, s in enumerate(choice.slots) if choice.words[0][at] != choice.words[1][at])
    assert int(torch.isfinite(narrow(logits, held)[0, slot]).sum()) == 2
    assert int(torch.isfinite(narrow(logits, held)[0, slot]).sum()) == 1


def test_the_schema_stands_in_the_instruction_braces_and_all() -> None:
    system = messages("Who?", (), plain=str, instruction=instruction(SCHEMA))[0]["content"]
    assert json.dumps(SCHEMA) in system
    assert "=====evidence-" in system


# Whole generators.


@pytest.mark.parametrize("name", ["llada", "dream", "sdar", "llada2", "diffusiongemma"])
def test_every_family_fills_in_a_value_of_the_schema(tmp_path: Path, name: str) -> None:
    where = gemma_checkpoint(tmp_path) if name == "diffusiongemma" else checkpoint(tmp_path, name)
    generator = CheckpointGenerator.load(str(where), device="cpu", options=GeneratorOptions(answer_tokens=8))
    assert infills(generator)
    for seed, passes in ((0, 16), (1, 1)):
        value = generator.infill_json(SCHEMA, PROMPT, max_passes=passes, seed=seed)
        assert fits(SCHEMA, value), value


def test_a_schema_that_is_no_object_is_refused(tmp_path: Path) -> None:
    generator = CheckpointGenerator.load(str(checkpoint(tmp_path, "llada")), device="cpu")
    with pytest.raises(GenerationFailed, match="Wrap it in one"):
        generator.infill_json({"type": "string"}, PROMPT)
