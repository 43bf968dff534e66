from prices import split_bill, with_tax


def test_half_a_cent_goes_up():
    assert with_tax(50, 5) == 53  # 52.5
    assert with_tax(150, 25) == 188  # 187.5


def test_whole_cents_stay():
    assert with_tax(100, 25) == 125


def test_a_bill_is_paid_to_the_cent():
    assert split_bill(100, 3) == [34, 33, 33]
