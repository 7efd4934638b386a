"""Order and steps of the tests of a sweep; pure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from poor_bench.models.test import Test

FIRST_RUNG = 6
"""Tests before the first variant can be dropped."""
GROWTH = 2


def rungs_of(tests: Sequence[Test], seed: int) -> list[list[Test]]:
    """Split the tests into steps, each about as large as all before.

    Every step mixes classes and levels as the whole does: tests of each class and level are put in
    the order of a hash of seed and id, and are dealt out evenly.

    Example:
        >>> tests = [Test(test_id=str(n), class_id="c", level=1, text="t") for n in range(16)]
        >>> [len(rung) for rung in rungs_of(tests, seed=0)]
        [6, 6, 4]
    """
    ordered = _mixed(tests, seed)
    rungs = []
    done, size = 0, FIRST_RUNG
    while done < len(ordered):
        rungs.append(ordered[done : done + size])
        done += size
        size = done * (GROWTH - 1)
    return rungs


def _mixed(tests: Sequence[Test], seed: int) -> list[Test]:
    strata: dict[tuple[str, int], list[Test]] = {}
    for test in sorted(tests, key=lambda test: _hash(test.test_id, seed)):
        strata.setdefault((test.class_id, test.level), []).append(test)
    places = [
        ((position + 0.5) / len(stratum), _hash(test.test_id, seed), test)
        for stratum in strata.values()
        for position, test in enumerate(stratum)
    ]
    return [test for _, _, test in sorted(places, key=lambda place: place[:2])]


def _hash(test_id: str, seed: int) -> str:
    return hashlib.sha256(f"{seed} {test_id}".encode()).hexdigest()
