from settings import known, setting


def test_what_is_missing_has_its_default():
    assert setting({}, "volume") == 5


def test_what_is_given_counts():
    assert setting({"volume": 9}, "volume") == 9


def test_zero_and_false_are_values():
    assert setting({"volume": 0}, "volume") == 0
    assert setting({"dark": False}, "dark") is False


def test_names_are_sorted():
    assert known() == ["dark", "name", "volume"]
