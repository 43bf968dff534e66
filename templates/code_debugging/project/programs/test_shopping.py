from shopping import add_to_basket, total_items


def test_a_given_basket_grows():
    assert add_to_basket("tea", ["milk"]) == ["milk", "tea"]


def test_a_second_basket_is_empty_at_first():
    add_to_basket("tea")
    assert add_to_basket("bread") == ["bread"]


def test_items_are_counted():
    assert total_items([["a"], [], ["b", "c"]]) == 3
