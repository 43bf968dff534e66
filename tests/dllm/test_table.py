"""The denoiser that is a table."""

import pytest
import torch
from remask.dllm.table import TableDenoiser

MASK = 2
TABLE = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
AFTER = torch.tensor([[10.0, 20.0], [30.0, 40.0]])


def test_a_masked_neighbour_adds_nothing() -> None:
    model = TableDenoiser(TABLE, mask_id=MASK, after_VV=AFTER, before_VV=AFTER)
    assert torch.equal(model.predict((), torch.tensor([[MASK] * 3]))[0], TABLE)


def test_committed_neighbours_add_their_rows_from_both_sides() -> None:
    model = TableDenoiser(TABLE, mask_id=MASK, after_VV=AFTER, before_VV=100 * AFTER)
    logits = model.predict((), torch.tensor([[1, MASK, 0]]))[0]
    assert logits.tolist() == [[1.0, 2.0], [3.0 + 30 + 1000, 4.0 + 40 + 2000], [5.0, 6.0]]


def test_padding_is_no_neighbour_and_a_shorter_canvas_takes_the_first_slots() -> None:
    model = TableDenoiser(TABLE, mask_id=MASK, after_VV=AFTER)
    assert torch.equal(model.predict((), torch.tensor([[-1, MASK]]))[0], TABLE[:2])


def test_a_pass_changes_nothing_in_the_model() -> None:
    model = TableDenoiser(TABLE.clone(), mask_id=MASK, after_VV=AFTER)
    canvas = torch.tensor([[1, MASK, MASK]])
    first = model.predict((), canvas)
    model.predict((), torch.tensor([[0, 0, 0]]))
    assert torch.equal(model.predict((), canvas), first)


def test_a_canvas_longer_than_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match="4 slots is longer than the table of 3"):
        TableDenoiser(TABLE, mask_id=MASK).predict((), torch.full((1, 4), MASK))


def test_a_neighbour_table_of_the_wrong_size_is_refused() -> None:
    with pytest.raises(ValueError, match="after_VV"):
        TableDenoiser(TABLE, mask_id=MASK, after_VV=torch.zeros(3, 3))
