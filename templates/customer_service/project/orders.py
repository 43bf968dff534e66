"""Orders in SQLite, looked up and never changed. Knows a number's shape; not who asks: check that before you go live."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated

from pydantic import Field
from remask.agent.errors import ToolFailed

HERE = Path(__file__).parent
NUMBER = r"LK-\d{5}"


OrderNumber = Annotated[str, Field(pattern=NUMBER, description="the order's number, as in LK-10234")]


def look_up_order(number: OrderNumber) -> dict[str, str]:
    """Look up a customer's order: its state, what was bought, when it was dispatched and delivered, and its tracking number."""
    with closing(_opened()) as database:
        row = database.execute("SELECT * FROM orders WHERE number = ?", (number,)).fetchone()
    if row is None:
        raise ToolFailed(f"there is no order {number}")
    told = {key: str(row[key]) for key in ("number", "state", "item", "ordered", "dispatched", "delivered") if row[key]}
    return told | {"tracking_number": row["tracking"] or "none", "price": f"£{row['price_pence'] / 100:.2f}"}


def mentioned(text: str) -> Iterator[str]:
    """A line for each order that a text names, for the colleague who takes over."""
    for number in dict.fromkeys(re.findall(NUMBER, text)):
        try:
            found = look_up_order(number)
            yield f"{number}: {found['state']}, {found['item']}, {found['price']}, ordered {found['ordered']}"
        except ToolFailed as error:
            yield str(error)


def _opened() -> sqlite3.Connection:
    """Read-only, so that no question can change an order."""
    path = HERE / "orders.sqlite"
    if not path.exists():
        with closing(sqlite3.connect(path)) as made:
            made.executescript((HERE / "orders.sql").read_text(encoding="utf-8"))
    database = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    return database
