"""An answer on the page, by hand."""

from remask.agent.answer import Answer, Citation, Doubt, Hop, Trace
from remask.agent.printed import numbered, printed


def citation(answer_end: int, start: int = 10, document: str = "a.md", quote: str = "It was so.") -> Citation:
    return Citation(
        answer_start=0,
        answer_end=answer_end,
        document_id=document,
        passage_id=f"{document}#0-99",
        start=start,
        end=start + len(quote),
        quote=quote,
        support=0.75,
    )


def trace(**more: object) -> Trace:
    return Trace.model_validate({"question": "q?", "generator": "g", "scorer": "s", "seed": 0, **more})


def answer(**more: object) -> Answer:
    given = {"text": "Ada and Bo", "kind": "span", "confidence": 0.5, "abstained": False, "trace": trace(), **more}
    return Answer.model_validate(given)


def test_each_part_is_followed_by_the_number_of_its_citation() -> None:
    assert numbered("Ada and Bo", [citation(3), citation(10, start=50)]) == "Ada [1] and Bo [2]"


def test_equal_quotations_share_a_number() -> None:
    assert numbered("Ada and Bo", [citation(3), citation(10)]) == "Ada [1] and Bo [1]"


def test_two_citations_of_one_part_stand_together() -> None:
    assert numbered("Ada", [citation(3), citation(3, start=50)]) == "Ada [1][2]"


def test_the_page_names_document_characters_support_and_quotation() -> None:
    page = printed(answer(citations=(citation(10),))).plain
    assert page.splitlines() == [
        "Ada and Bo [1]",
        "",
        "[1] a.md, characters 10 to 20, support 0.75",
        '    "It was so."',
        "",
        "confidence 0.50; 0 passes; ",
    ]


def test_a_quotation_of_several_lines_is_printed_on_one() -> None:
    page = printed(answer(citations=(citation(10, quote="It was\n  so."),))).plain
    assert '    "It was so."' in page.splitlines()


def test_an_answer_quoted_across_a_line_end_is_printed_on_one() -> None:
    page = printed(answer(text="25 July\n1823", citations=(citation(12),))).plain
    assert page.splitlines()[0] == "25 July 1823 [1]"


def test_an_abstention_says_why() -> None:
    page = printed(answer(text="", kind="none", abstained=True, reason="nothing was found")).plain
    assert page.splitlines()[0] == "No answer. nothing was found"


def test_documents_cannot_steer_the_terminal() -> None:
    steering = "\x1b[2J\u202egnp.exe"
    shown = printed(answer(text=steering, citations=(citation(10, quote=steering, document=steering),))).plain
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_what_is_doubtful_and_what_was_not_read_is_said() -> None:
    doubt = Doubt(start=0, end=3, text="Ada", source="disputed", detail="Eva")
    hops = [Hop(query=query, occasion="bridge", hits=(), added=()) for query in ("q?", "Ada Bo")]
    seen = printed(answer(trace=trace(doubts=[doubt], hops=hops, left_out=["a#0-1"], errors=["no weights"]))).plain
    assert 'searched again for "Ada Bo"' in seen
    assert 'doubtful: "Ada" (disputed: Eva)' in seen
    assert "window was full: 1 passage" in seen
    assert "the model failed: no weights" in seen
