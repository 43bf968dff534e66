"""Prices with tax."""


def with_tax(net_cents: int, percent: int) -> int:
    """Gross price in whole cents; half a cent goes up."""
    return (net_cents * (100 + percent) + 50) // 100


def split_bill(total_cents: int, people: int) -> list[int]:
    """Shares in whole cents that add up to the total; the first ones pay the odd cents."""
    share, rest = divmod(total_cents, people)
    return [share + (1 if number < rest else 0) for number in range(people)]
