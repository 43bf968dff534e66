"""Checks exercise 6. Skipped until you begin; a wrong answer fails."""


def test_a_new_name_is_searched_for_beside_the_question(ex) -> None:
    assert ex.next_query("Who founded it?", "Lund's boatyard", ["The ferry"]) == "Who founded it? Lund's boatyard"


def test_what_was_read_is_not_searched_for(ex) -> None:
    assert ex.next_query("Who founded it?", " lund's BOATYARD", ["Lund's boatyard "]) is None


def test_no_bridge_no_search(ex) -> None:
    assert ex.next_query("Who founded it?", "  ", []) is None
