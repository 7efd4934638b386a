"""Tests that share a template, passage or original: which ones stand or fall together."""

from __future__ import annotations

from collections.abc import Sequence


def number_groups(n_tests: int, groups: Sequence[str | None] | None) -> list[int]:
    """Number the independent units behind the tests.

    Args:
        n_tests: Number of tests.
        groups: Name of each test's group; None for a test that is a group of its own. None in all
            stands for tests that are all independent.

    Returns:
        Number of each test's group, from 0 on, in order of first appearance.

    Raises:
        ValueError: If there are not as many names as tests.

    Example:
        >>> number_groups(4, ["a", None, "a", None])
        [0, 1, 0, 2]
    """
    if groups is None:
        return list(range(n_tests))
    if len(groups) != n_tests:
        raise ValueError(f"{len(groups)} groups for {n_tests} tests")
    numbers: dict[str | int, int] = {}
    return [
        numbers.setdefault(place if name is None else name, len(numbers))
        for place, name in enumerate(groups)
    ]
