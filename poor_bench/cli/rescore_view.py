"""How scores look that were computed again: for `rescore`, and for `run`, which does so first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.output import Column, console, harmless, plain_table
from poor_bench.messages import counted

if TYPE_CHECKING:
    from rich.table import Table

    from poor_bench.runner.rescore import Move, Problem, RescoreTally

_SHOWN = 20
"""Changed scores that `run` lists; `compare previous last` shows all."""


def print_rescored(tally: RescoreTally, n_not_rescored: int, undo: str) -> None:
    """Print what a run made of the stored responses whose evaluator had changed.

    Args:
        tally: What became of them.
        n_not_rescored: Responses that keep their earlier scores.
        undo: Command line that brings the earlier scores back.
    """
    if not tally.n_scored and not n_not_rescored:
        return
    if tally.moves:
        console().print(moves_table(tally.moves[:_SHOWN]))
    if tally.n_first:
        click.echo(f"{counted(tally.n_first, 'stored response')} scored for the first time.")
    if n_again := tally.n_scored - tally.n_first:
        changed = f"{counted(len(tally.moves), 'score')} changed"
        more = f" ({_SHOWN} shown)" if len(tally.moves) > _SHOWN else ""
        click.echo(
            f"The evaluator changed: {counted(n_again, 'stored response')} scored again, "
            f"{changed}{more}. The earlier scores are kept: `{undo}`."
        )
    if n_not_rescored:
        click.echo(
            f"{counted(n_not_rescored, 'stored response')} could not be scored again and "
            f"{'keeps its' if n_not_rescored == 1 else 'keep their'} earlier state."
        )


def rescored_to_json(tally: RescoreTally, n_not_rescored: int) -> dict[str, Any]:
    """Return the same for machines."""
    return {
        "n_rescored": tally.n_scored,
        "n_first_scored": tally.n_first,
        "n_not_rescored": n_not_rescored,
        "changed": [rescored_record(move) for move in tally.moves],
        "problems": [problem._asdict() for problem in tally.problems],
    }


def rescored_record(move: Move) -> dict[str, Any]:
    """Return one changed score for machines."""
    return move._asdict()


def moves_table(moves: Sequence[Move]) -> Table:
    """Return a table of scores before and after."""
    columns: list[Column] = ["Model", "Test", ("Earlier", "right"), ("Now", "right")]
    rows = [
        [
            move.llm_id,
            move.test_id if move.trial == 1 else f"{move.test_id}, trial {move.trial}",
            _score(move.old_score),
            _score(move.new_score),
        ]
        for move in moves
    ]
    return plain_table(columns, rows)


def print_problems(problems: Sequence[Problem]) -> None:
    """Print each reason why responses could not be scored again, on standard error."""
    for problem in problems:
        count = counted(problem.n_responses, "response")
        where = f"first at {problem.test_id} of {problem.llm_id}"
        click.echo(harmless(f"{problem.message}: {count}, {where}"), err=True)


def _score(score: float | None) -> str:
    return "-" if score is None else f"{score:.3f}"
