from board import count, empty_board, place


def test_one_mark_is_one_mark():
    board = empty_board(3, 3)
    place(board, 0, 1, "x")
    assert count(board, "x") == 1


def test_a_board_of_one_row():
    board = empty_board(1, 2)
    place(board, 0, 0, "o")
    assert board == [["o", " "]]


def test_a_new_board_is_blank():
    assert count(empty_board(2, 2), " ") == 4
