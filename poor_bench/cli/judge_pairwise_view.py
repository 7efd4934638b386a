"""Print pairwise comparisons."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.output import Column, console, harmless, plain_table, print_json
from poor_bench.command_line import next_command
from poor_bench.messages import counted

if TYPE_CHECKING:
    from poor_bench.judge.history.judge_run import JudgeRun
    from poor_bench.judge.pairwise.decisions import Decisions
    from poor_bench.judge.pairwise.duel import Duel, Duels
    from poor_bench.judge.pairwise.store import KeptContest


def show_duels(decisions: Decisions, runs: tuple[JudgeRun, JudgeRun], *, as_json: bool) -> None:
    """Print the winners by case and in total."""
    from poor_bench.judge.report.pairwise_text import duels_text, panel_text

    a, b = runs
    if as_json:
        print_json(decisions_to_json(decisions, a.run_id, b.run_id))
        return
    for judge, duels in decisions.by_judge.items():
        if decisions.is_panel:
            click.echo(harmless(judge))
        rows = [_row(duel) for duel in duels.duels]
        console().print(plain_table(["Case", "Better", "A first", "B first", "Why"], rows))
        for sentence in duels_text(duels):
            click.echo(sentence)
        click.echo("")
    if decisions.is_panel:
        for sentence in panel_text(decisions):
            click.echo(sentence)
    for side, run in (("A", a), ("B", b)):
        header = run.header
        click.echo(harmless(f"{side}: {header.run_id}, {header.agent_id}, {header.llm_id}"))


def show_contest(data_dir: Path, reference: str, *, as_json: bool) -> int:
    """Print a stored comparison.

    Raises:
        ConfigError: If there is none, or its runs are gone.
    """
    from poor_bench.judge.history.store import JudgementStore
    from poor_bench.judge.pairwise.decisions import decisions_of
    from poor_bench.judge.pairwise.store import find_contest

    contest = find_contest(data_dir, reference)
    store = JudgementStore(data_dir)
    runs = store.find(contest.a_run_id), store.find(contest.b_run_id)
    show_duels(decisions_of(contest.duels), runs, as_json=as_json)
    if contest.n_planned > len(contest.duels) and not as_json:
        again = next_command(f"judge pairwise {contest.a_run_id} {contest.b_run_id}")
        click.echo(f"Incomplete: {_share_judged(contest)}. Compare again: {again}")
    return 0


def list_contests(data_dir: Path, *, as_json: bool) -> int:
    """Print the stored comparisons, newest last."""
    from poor_bench.judge.pairwise.decisions import decisions_of
    from poor_bench.judge.pairwise.store import kept_contests

    kept = kept_contests(data_dir)
    if as_json:
        print_json(
            {
                "comparisons": [
                    {"run_id": item.run_id, "n_planned": item.n_planned}
                    | decisions_to_json(decisions_of(item.duels), item.a_run_id, item.b_run_id)
                    for item in kept
                ]
            }
        )
    elif not kept:
        click.echo(f"No comparisons yet. Next: {next_command('judge pairwise A B')}")
    else:
        columns: list[Column] = ["Comparison", "A", "B", "Judges", ("Cases", "right")]
        columns += [("A better", "right"), ("B better", "right"), ("Cost", "right")]
        console().print(plain_table(columns, [_listed(item) for item in kept]))
    return 0


def decisions_to_json(decisions: Decisions, a_run_id: str, b_run_id: str) -> dict[str, Any]:
    """Build the JSON output: all judges together, then each."""
    share = decisions.share_of_a
    return {
        "a": a_run_id,
        "b": b_run_id,
        "cases": {case_id: outcome.value for case_id, outcome in decisions.by_case.items()},
        "share_of_a": None if share is None else asdict(share),
        "n_unanimous": decisions.n_unanimous if decisions.is_panel else None,
        "judges": {judge: _duels_json(duels) for judge, duels in decisions.by_judge.items()},
    }


def _duels_json(duels: Duels) -> dict[str, Any]:
    from poor_bench.judge.pairwise.duel import Outcome

    estimates = {
        "share_of_a": duels.share_of_a,
        "position_bias": duels.position_bias,
        "first_preference": duels.first_preference,
    }
    return {
        "counts": {outcome.value: duels.count(outcome) for outcome in Outcome},
        **{name: None if item is None else asdict(item) for name, item in estimates.items()},
        "duels": [{**asdict(duel), "outcome": duel.outcome.value} for duel in duels.duels],
    }


def _share_judged(contest: KeptContest) -> str:
    return f"{len(contest.duels)} of {counted(contest.n_planned, 'pair')} judged"


def _row(duel: Duel) -> list[str]:
    places = ["-" if place is None else place.value for place in (duel.a_first, duel.b_first)]
    why = duel.error or " / ".join(" ".join(reason.split()) for reason in duel.reasons)
    return [duel.case_id, duel.outcome.value, *places, why]


def _listed(contest: KeptContest) -> list[str]:
    from poor_bench.judge.pairwise.decisions import decisions_of
    from poor_bench.judge.pairwise.duel import Outcome
    from poor_bench.reports.number_text import cost_text

    decisions = decisions_of(contest.duels)
    said = list(decisions.by_case.values())
    is_whole = contest.n_planned <= len(contest.duels)
    known = [duel.cost_usd for duel in contest.duels if duel.cost_usd is not None]
    return [
        contest.run_id,
        contest.a_run_id,
        contest.b_run_id,
        ", ".join(decisions.by_judge),
        str(len(said)) if is_whole else f"{len(said)}, incomplete",
        str(said.count(Outcome.A)),
        str(said.count(Outcome.B)),
        cost_text(sum(known)) if known else "",
    ]
