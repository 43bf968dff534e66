from lookup import MOST, Directory


def test_a_number_is_asked_for_once():
    asked = []
    directory = Directory(lambda number: asked.append(number) or str(number))
    assert directory.name(7) == directory.name(7) == "7"
    assert asked == [7]


def test_memory_stays_bounded():
    directory = Directory(str)
    for number in range(10 * MOST):
        directory.name(number)
    assert len(directory.remembered) <= MOST
    assert directory.name(10 * MOST - 1) == str(10 * MOST - 1)
