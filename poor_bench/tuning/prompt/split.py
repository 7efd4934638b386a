"""Split cases into training, validation and held-out parts; pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from poor_bench.tuning.prompt.cases import Case

LEAST_CASES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Shares of the cases, each above 0; what both leave over is held out."""

    train: float = 0.35
    validation: float = 0.3

    @property
    def held_out(self) -> float:
        """The share that no candidate sees before the end."""
        return 1 - self.train - self.validation


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Ids of the cases of each part."""

    train: tuple[str, ...]
    """Their answers and feedback are shown to the LLM that writes new prompts."""
    validation: tuple[str, ...]
    """Their scores choose among candidates."""
    held_out: tuple[str, ...]
    """Used only for the final test."""


def proof_calls(split: Split, n_calls_per_case: int) -> int:
    """Calls of the final test: two prompts on all held-out cases."""
    return 2 * len(split.held_out) * n_calls_per_case


def kept_split(header: Mapping[str, Any]) -> Split:
    """Read the split from a search's header."""
    return Split(**{part: tuple(ids) for part, ids in header["split"].items()})


def split_cases(cases: Sequence[Case], shares: Shares, seed: int) -> Split:
    """Divide cases so that every part has about the same mix of levels.

    Cases are sorted by level and, within a level, by a hash of seed and id; then each goes to the
    part that lacks most of its share so far. The same seed gives the same parts on every machine,
    in whatever order the tests stand.

    Raises:
        ValueError: If a share is too small, or there are fewer than `LEAST_CASES` cases.

    Example:
        >>> split = split_cases([Case(str(n)) for n in range(10)], Shares(), seed=0)
        >>> len(split.train), len(split.validation), len(split.held_out)
        (3, 3, 4)
    """
    wanted = {
        "train": shares.train,
        "validation": shares.validation,
        "held_out": shares.held_out,
    }
    if min(wanted.values()) < 0.01:
        raise ValueError(
            "training, validation and held-out tests each need a share of at least 1 %"
        )
    if len(cases) < LEAST_CASES:
        raise ValueError(
            f"{len(cases)} tests are too few to split; at least {LEAST_CASES} are required"
        )
    parts: dict[str, list[str]] = {name: [] for name in wanted}
    for number, case in enumerate(sorted(cases, key=lambda case: _place(case, seed)), start=1):
        parts[_most_owed(parts, wanted, number)].append(case.id)
    empty = [name.replace("_", "-") for name, part in parts.items() if not part]
    if empty:
        raise ValueError(f"no test is left for {empty[0]}: increase its share")
    return Split(**{name: tuple(part) for name, part in parts.items()})


def _place(case: Case, seed: int) -> tuple[int, str]:
    return case.level, hashlib.sha256(f"{seed} {case.id}".encode()).hexdigest()


def _most_owed(parts: Mapping[str, Sequence[str]], wanted: Mapping[str, float], number: int) -> str:
    return max(wanted, key=lambda name: wanted[name] * number - len(parts[name]))
