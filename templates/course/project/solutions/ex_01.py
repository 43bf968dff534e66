"""Exercise 1: what one word of the question adds to a passage's BM25 score."""


def bm25_term(*, count: int, length: int, average_length: float, idf: float, k1: float = 1.2, b: float = 0.75) -> float:
    """idf * count / (count + k1 * (1 - b + b * length / average_length)), as Lucene has it.

    `count` is how often the word stands in the passage, `length` how many words the passage has.
    """
    return idf * count / (count + k1 * (1 - b + b * length / average_length))
