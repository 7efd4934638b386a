"""`rescore`: score stored responses again, without asking for them again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from poor_bench import metrics
from poor_bench.cli.context import AppContext, cluster_option, pass_app, use_cluster
from poor_bench.cli.options import (
    limit_cost,
    print_cost_estimate,
    read_selection,
    selection_options,
)
from poor_bench.cli.output import console, json_option, print_json, print_table, say
from poor_bench.cli.sandbox import agree_on_sandbox, sandbox_option
from poor_bench.command_line import next_command, write_examples
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from poor_bench.rescoring import Rescoring
    from poor_bench.runner.rescore import Move, Rescored, RescorePlan, RescoreProblem, RescoreTally


_EPILOG = write_examples(
    """
  {program} rescore --dry-run                show what would change
  {program} rescore --class math_problems
  {program} rescore --class essays --max-cost 0.50
  {program} compare previous last            what the last rescoring changed
  {program} rescore --undo                   bring the earlier scores back

\b
Exit codes:
  0 done; 3 some responses could not be scored and keep their earlier scores
"""
)


@click.command(epilog=_EPILOG)
@selection_options
@click.option("--dry-run", is_flag=True, help="Show what would change; store nothing.")
@click.option("--undo", is_flag=True, help="Bring back the scores from before the last rescoring.")
@click.option(
    "--max-cost",
    type=click.FloatRange(0),
    metavar="USD",
    help="Stop before the cost of judges exceeds this; the rest keeps its earlier scores.",
)
@cluster_option
@sandbox_option
@json_option
@pass_app
def command(
    app: AppContext,
    /,
    dry_run: bool,
    undo: bool,
    max_cost: float | None,
    cluster: str | None,
    as_json: bool,
    **filters: Any,
) -> int:
    """Score stored responses with today's evaluators and show what changed.

    No request goes to the models. Responses that a model judges are judged again where evaluator,
    parameters, rubric or judge changed, also with --dry-run; that may cost money. The earlier
    scores are kept: `compare previous last` shows the difference, --undo restores them.
    """
    from poor_bench.rescoring import Rescoring
    from poor_bench.runner.selection import select
    from poor_bench.workspace_runner import WorkspaceRunner

    machines = use_cluster(app, None if undo else cluster)
    runner = WorkspaceRunner(app.config, cluster=machines)
    rescoring = Rescoring(runner)
    try:
        if undo:
            return _undo(rescoring, filters, dry_run=dry_run, as_json=as_json)
        selection = read_selection(filters)
        if machines is None:
            agree_on_sandbox(app, select(app.workspace, selection).tests)
        plan = rescoring.plan(selection)
        _tell_judging(rescoring, plan, max_cost, quiet=as_json)
        counted = _Counted()
        items = rescoring.rescore(plan)
        with closing(items), closing(items if dry_run else rescoring.store_each(items)) as stored:
            for item in _track(stored, plan.n_items, quiet=as_json):
                counted.add(item)
    finally:
        runner.close()
    n_left = plan.n_items - counted.n_rescored
    _tell(counted, n_left, stored=not dry_run, as_json=as_json)
    return 3 if n_left or counted.problems else 0


class _Counted:
    """What became of stored responses: counts, changed scores and problems, but no responses."""

    def __init__(self) -> None:
        from poor_bench.runner.rescore import RescoreTally

        self.tally = RescoreTally()
        self.n_rescored = 0
        self.changed: list[Move] = []
        """Also those of which the explanation alone changed."""
        self.problems: list[tuple[Move, str]] = []

    def add(self, item: Rescored) -> None:
        self.n_rescored += 1
        self.tally.add(item.outcome, item.old.score)
        if item.is_changed:
            self.changed.append(item.move())
        if item.new is None:
            self.problems.append((item.move(), item.problem))


def _undo(rescoring: Rescoring, filters: dict[str, Any], *, dry_run: bool, as_json: bool) -> int:
    selection = read_selection(filters) if any(filters.values()) else None
    undone = rescoring.plan_undo(selection)
    if not dry_run:
        rescoring.undo(undone)
    moves = [item.move() for item in undone]
    if as_json:
        print_json({"n_restored": len(undone), "restored": [_to_json(move) for move in moves]})
        return 0
    _print_moves(moves)
    what = "to restore" if dry_run else "restored"
    click.echo(f"{write_count(len(undone), 'earlier score')} {what}.")
    click.echo(
        "Undo the change of the evaluator as well: otherwise "
        f"`{next_command('run')}` scores these responses again."
    )
    return 0


def _tell(counted: _Counted, n_left: int, *, stored: bool, as_json: bool) -> None:
    changed, problems = counted.changed, counted.problems
    if as_json:
        print_json(
            {
                "n_rescored": counted.n_rescored,
                "n_left": n_left,
                "changed": [_to_json(move) for move in changed],
                "problems": [_to_json(move, problem) for move, problem in problems],
            }
        )
    else:
        moved = _print_moves(changed)
        print_unscored(counted.tally.problems)
        click.echo(
            f"{write_count(counted.n_rescored - len(problems), 'response')} scored again: "
            f"{write_count(moved, 'score')} and "
            f"{write_count(len(changed) - moved, 'explanation')} changed"
            + ("." if stored else "; nothing was stored.")
        )
        if stored and changed:
            click.echo(f"The earlier scores are kept: `{next_command('rescore --undo')}`.")
    if n_left:
        text = f"{write_count(n_left, 'response')} left with earlier scores: too costly to judge."
        click.echo(text, err=True)


def _tell_judging(
    rescoring: Rescoring, plan: RescorePlan, max_cost: float | None, *, quiet: bool
) -> None:
    """Tell what judging will cost, and limit it."""
    if not plan.judged:
        return
    estimate = rescoring.estimate(plan)
    if max_cost is not None:
        limit_cost(rescoring.manager, estimate, max_cost)
    if not quiet:
        click.echo(f"To be judged again: {write_count(len(plan.judged), 'response')}.", err=True)
        print_cost_estimate(estimate, rescoring.manager.is_local)


def _print_moves(changed: list[Move]) -> int:
    """Print the scores that changed; return how many."""
    moves = [move for move in changed if move.old_score != move.new_score]
    if moves:
        print_moves(moves)
    return len(moves)


def _to_json(move: Move, problem: str = "") -> dict[str, Any]:
    return convert_move_to_json(move) | {"problem": problem}


def _track(items: Iterator[Rescored], n_items: int, *, quiet: bool) -> Iterator[Rescored]:
    from rich.progress import track

    yield from track(items, "Scoring", total=n_items, console=console(stderr=True), disable=quiet)


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
        print_moves(tally.moves[:_SHOWN])
    if tally.n_first:
        click.echo(f"{write_count(tally.n_first, 'stored response')} scored for the first time.")
    if n_again := tally.n_scored - tally.n_first:
        changed = f"{write_count(len(tally.moves), 'score')} changed"
        more = f" ({_SHOWN} shown)" if len(tally.moves) > _SHOWN else ""
        click.echo(
            f"The evaluator changed: {write_count(n_again, 'stored response')} scored again, "
            f"{changed}{more}. The earlier scores are kept: `{undo}`."
        )
    if n_not_rescored:
        click.echo(
            f"{write_count(n_not_rescored, 'stored response')} could not be scored again and "
            f"{'keeps its' if n_not_rescored == 1 else 'keep their'} earlier state."
        )


def convert_tally_to_json(tally: RescoreTally, n_not_rescored: int) -> dict[str, Any]:
    """Build the JSON output of a rescoring."""
    return {
        "n_rescored": tally.n_scored,
        "n_first_scored": tally.n_first,
        "n_not_rescored": n_not_rescored,
        "changed": [convert_move_to_json(move) for move in tally.moves],
        "problems": [problem._asdict() for problem in tally.problems],
    }


def convert_move_to_json(move: Move) -> dict[str, Any]:
    """Build the JSON output of one changed score."""
    return move._asdict()


def print_moves(moves: Sequence[Move]) -> None:
    """Print scores before and after."""
    print_table(
        {
            "Model": move.llm_id,
            "Test": move.test_id if move.trial == 1 else f"{move.test_id}, trial {move.trial}",
            ">Earlier": _format_score(move.old_score),
            ">Now": _format_score(move.new_score),
        }
        for move in moves
    )


def print_unscored(problems: Sequence[RescoreProblem]) -> None:
    """Print each reason why responses could not be scored again, on standard error."""
    for problem in problems:
        count = write_count(problem.n_responses, "response")
        where = f"first at {problem.test_id} of {problem.llm_id}"
        say(f"{problem.message}: {count}, {where}", err=True)


def _format_score(score: float | None) -> str:
    return "-" if score is None else metrics.score_text(score)
