"""Exercise 6: search again? And for what?"""


def next_query(question: str, bridge: str, titles: list[str]) -> str | None:
    """The question with the bridge after it; None where there is no bridge, or a document of that name was read already.

    Names are compared without regard to case and outer blanks.
    """
    raise NotImplementedError("your turn")
