"""Baskets of a small shop."""


def add_to_basket(item: str, basket: list[str] | None = None) -> list[str]:
    """The basket with one more item; a new basket where none is given."""
    basket = [] if basket is None else basket
    basket.append(item)
    return basket


def total_items(baskets: list[list[str]]) -> int:
    """How many items all baskets hold."""
    return sum(len(basket) for basket in baskets)
