"""Every lesson runs, and shows what it says it shows."""

from importlib import import_module

import pytest


@pytest.mark.parametrize("number", range(1, 11))
def test_a_lesson_runs(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    lesson = import_module(f"lesson_{number:02}")
    lesson.main()
    assert len(capsys.readouterr().out.splitlines()) >= 3


def test_the_toy_learns_its_rule() -> None:
    """Half of the sailings at least keep the rule that the boat decides the port and the port the pier."""
    lesson = import_module("lesson_03")
    toy, losses = lesson.train(250)
    assert sum(losses[-20:]) < 0.5 * sum(losses[:20])
    words = lesson.write(toy, lesson.Policy(steps=lesson.LENGTH))[-1].split()
    assert lesson.SAILINGS[words[2]] == (words[5], words[8])


def test_filling_both_slots_at_once_breaks_half_of_the_cities_and_one_a_pass_none() -> None:
    lesson = import_module("lesson_04")
    together, _ = lesson.broken(lesson.POLICIES["both at once"])
    apart, passes = lesson.broken(lesson.POLICIES["one a pass"])
    assert 0.4 < together < 0.6
    assert apart < 0.05
    assert passes == 2
