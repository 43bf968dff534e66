"""A board of squares for games."""


def empty_board(rows: int, columns: int) -> list[list[str]]:
    """A board of blank squares."""
    return [[" "] * columns for _ in range(rows)]


def place(board: list[list[str]], row: int, column: int, mark: str) -> None:
    """Puts a mark on one square."""
    board[row][column] = mark


def count(board: list[list[str]], mark: str) -> int:
    """How many squares bear a mark."""
    return sum(row.count(mark) for row in board)
