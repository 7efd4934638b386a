"""The generators that are known by name, our own and those of an optional library."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from poor_bench.config.nearest_name import name_hint
from poor_bench.errors import ConfigError
from poor_bench.generators.arithmetic import ARITHMETIC
from poor_bench.generators.generator import Generator
from poor_bench.generators.lists import LISTS
from poor_bench.generators.reasoning_gym import PREFIX, reasoning_gym_generator
from poor_bench.generators.texts import CODE, STRINGS

GENERATORS: Mapping[str, Generator] = MappingProxyType(
    {generator.name: generator for generator in (ARITHMETIC, LISTS, STRINGS, CODE)}
)


def generator_named(name: str) -> Generator:
    """Return a generator.

    Raises:
        ConfigError: If there is none of that name.
        MissingExtraError: If it needs a library that is not installed.
    """
    if name.startswith(PREFIX):
        return reasoning_gym_generator(name)
    if name not in GENERATORS:
        raise ConfigError(
            f"the generator `{name}` does not exist", hint=name_hint(name, GENERATORS)
        )
    return GENERATORS[name]
