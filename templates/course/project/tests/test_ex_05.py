"""Checks exercise 5. Skipped until you begin; a wrong answer fails."""

DOCUMENTS = {"a": "Größe: 5 m. 🌊 Wave."}


def test_a_true_quotation_holds(ex) -> None:
    assert ex.citation_holds(DOCUMENTS, "a", 0, 5, "Größe")
    assert ex.citation_holds(DOCUMENTS, "a", 12, 13, "🌊")  # characters are counted, not bytes


def test_wrong_place_wrong_words_or_no_such_document(ex) -> None:
    assert not ex.citation_holds(DOCUMENTS, "a", 1, 5, "Größe")
    assert not ex.citation_holds(DOCUMENTS, "a", 0, 5, "Grösse")
    assert not ex.citation_holds(DOCUMENTS, "b", 0, 5, "Größe")


def test_nothing_is_no_evidence(ex) -> None:
    assert not ex.citation_holds(DOCUMENTS, "a", 3, 3, "")


def test_offsets_from_the_end_are_no_offsets(ex) -> None:
    assert not ex.citation_holds(DOCUMENTS, "a", -5, -1, "Wave")
