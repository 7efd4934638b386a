import doctest
import importlib
import pkgutil

import pytest

import poor_bench.judge

MODULES = [
    module.name
    for module in pkgutil.iter_modules(poor_bench.judge.__path__, poor_bench.judge.__name__ + ".")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_docstrings_are_true(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
