"""`ex` is your answer to the exercise a test file is about; what you have not begun is skipped."""

import re
from collections.abc import Iterator
from types import ModuleType

import pytest
from course import exercise


@pytest.fixture
def ex(request: pytest.FixtureRequest) -> ModuleType:
    number = re.search(r"test_ex_(\d+)", request.path.name)
    assert number is not None
    return exercise(int(number[1]))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    try:
        yield
    except NotImplementedError as error:
        pytest.skip(f"not done yet: {error}")
