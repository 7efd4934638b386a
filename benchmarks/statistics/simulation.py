"""What all simulations share: shares with their Monte-Carlo error, and one table of goals.

Each script of this folder runs alone (`python benchmarks/statistics/NAME.py`), takes `--runs N`,
and prints every figure beside its Monte-Carlo error and the goal it should reach.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A simulated figure, with the goal it should reach."""

    label: str
    value: float
    error: float
    """Monte-Carlo standard error, at least 0."""
    at_least: float | None = None
    at_most: float | None = None
    percent: bool = True
    at_best: float | None = None
    """Proven bound: no method gets a better figure."""

    @property
    def reached(self) -> bool | None:
        """Whether the figure meets its goal; None without a goal."""
        if self.at_least is None and self.at_most is None:
            return None
        return (self.at_least is None or self.value >= self.at_least) and (
            self.at_most is None or self.value <= self.at_most
        )

    @property
    def is_out_of_reach(self) -> bool:
        """True if no method reaches the goal."""
        return self.at_best is not None and replace(self, value=self.at_best).reached is False

    @property
    def is_surely_missed(self) -> bool:
        """True if the figure misses its goal by more than two Monte-Carlo errors."""
        return (self.at_least is not None and self.value + 2 * self.error < self.at_least) or (
            self.at_most is not None and self.value - 2 * self.error > self.at_most
        )

    def cells(self) -> tuple[str, str, str, str]:
        """Give the cells of its row: label, figure, goal, verdict."""
        scale, unit = (100, " %") if self.percent else (1, "")
        goals = [
            f"{sign} {limit * scale:.4g}{unit}"
            for sign, limit in ((">=", self.at_least), ("<=", self.at_most))
            if limit is not None
        ]
        verdict = {None: "", True: "reached", False: "MISSED"}[self.reached]
        if self.reached is False and self.is_out_of_reach and self.at_best is not None:
            verdict = f"out of reach (at best {self.at_best * scale:.1f}{unit})"
        figure = f"{self.value * scale:.2f} ± {self.error * scale:.2f}{unit}"
        return self.label, figure, " and ".join(goals), verdict


def measure_share(
    label: str,
    hits: int,
    runs: int,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
) -> Figure:
    """Turn a count of `hits` in `runs` into a share with its Monte-Carlo standard error.

    Args:
        label: What was counted.
        hits: 0 to `runs`.
        runs: Simulated runs, at least 1.
        at_least: Goal, 0.0 to 1.0.
        at_most: Goal, 0.0 to 1.0.
    """
    share = hits / runs
    smoothed = (hits + 1) / (runs + 2)  # so that 0 of 100 does not claim an error of 0
    error = math.sqrt(smoothed * (1 - smoothed) / runs)
    return Figure(label=label, value=share, error=error, at_least=at_least, at_most=at_most)


def measure_mean(
    label: str,
    values: Sequence[float],
    *,
    at_least: float | None = None,
    at_most: float | None = None,
) -> Figure:
    """Turn simulated values, at least 2, into their mean with its Monte-Carlo standard error."""
    n = len(values)
    mean = math.fsum(values) / n
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    return Figure(
        label=label,
        value=mean,
        error=math.sqrt(variance / n),
        at_least=at_least,
        at_most=at_most,
        percent=False,
    )


def print_figures(title: str, figures: Sequence[Figure]) -> bool:
    """Print a table of figures, and a verdict on their goals; True if each reaches its goal."""
    rows = [figure.cells() for figure in figures]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    print(title)
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print(("  " + "  ".join(cells)).rstrip())
    verdicts = [figure.reached for figure in figures if figure.reached is not None]
    if verdicts and all(verdicts):
        print(f"  Goal reached by {len(verdicts)} of {len(verdicts)} figures.")
    elif verdicts:
        surely = sum(figure.is_surely_missed for figure in figures)
        beyond = sum(figure.reached is False and figure.is_out_of_reach for figure in figures)
        print(
            f"  Goal MISSED by {verdicts.count(False)} of {len(verdicts)} figures, "
            f"by more than two Monte-Carlo errors: {surely}"
            + (f"; out of reach of any method: {beyond}." if beyond else ".")
        )
    return all(verdicts)


def read_runs(description: str, default: int) -> int:
    """Read `--runs` from the command line: how many runs to simulate for each figure."""
    return _read_runs(argparse.ArgumentParser(description=description), default)[0]


def read_runs_and_workspace(description: str, default: int) -> tuple[int, Path | None]:
    """Read `--runs`, and the folder of a workspace whose stored results are used, too."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("workspace", type=Path, nargs="?", help="folder with tests and results")
    runs, arguments = _read_runs(parser, default)
    return runs, arguments.workspace


def _read_runs(parser: argparse.ArgumentParser, default: int) -> tuple[int, argparse.Namespace]:
    parser.add_argument("--runs", type=int, default=default, help="simulated runs for each figure")
    arguments = parser.parse_args()
    if arguments.runs < 2:
        parser.error("--runs must be at least 2")
    return int(arguments.runs), arguments
