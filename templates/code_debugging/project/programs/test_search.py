from search import position


def test_every_place_is_found():
    values = [2, 4, 6, 8, 10]
    assert [position(values, value) for value in values] == [0, 1, 2, 3, 4]


def test_the_middle_is_found():
    assert position([1, 5, 9], 5) == 1


def test_what_is_not_there_is_not_found():
    assert position([1, 5, 9], 4) is None
    assert position([], 4) is None
