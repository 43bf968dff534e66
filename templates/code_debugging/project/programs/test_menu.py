from menu import commands, titles


def test_each_command_knows_its_own_number():
    made = commands(["open", "save", "quit"])
    assert made["open"]() == "1: chosen"
    assert made["quit"]() == "3: chosen"


def test_titles_are_capitalised():
    assert titles(["open"]) == ["Open"]
