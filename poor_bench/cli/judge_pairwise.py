"""`judge pairwise`: which of two runs gave the better conversations."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.options import cost_options, format_highest_cost, judge_options
from poor_bench.cli.output import json_option, print_json, print_table, say
from poor_bench.command_line import examples, next_command
from poor_bench.messages import counted

if TYPE_CHECKING:
    from poor_bench.judge.judge import Judge
    from poor_bench.judge.judged_run import JudgeRun
    from poor_bench.judge.pairwise import PairwiseRun
    from poor_bench.judge.pairwise_results import PairComparison, PairwiseTally, PanelPreferences
    from poor_bench.judge.storage import StoredPairwise
    from poor_bench.llm_manager import LLMManager


_EPILOG = examples(
    """
  {program} judge pairwise sales_old sales_new --judge ollama:qwen3:8b
  {program} judge pairwise 20261122T0315 last --judge gpt-a --panel claude-b --max-cost 0.5
  {program} judge pairwise                comparisons so far
  {program} judge pairwise last           show a comparison

\b
Each case is judged twice, with the order swapped, to detect position bias.
"""
)
_MOST_RUNS = 2


@click.command(epilog=_EPILOG)
@click.argument("references", metavar="[A B]", nargs=-1)
@judge_options
@cost_options
@json_option
@pass_app
def pairwise(
    app: AppContext,
    /,
    references: tuple[str, ...],
    judge: str | None,
    panel: tuple[str, ...],
    max_cost: float | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Compare the conversations of two runs, case by case.

    With one name, that of a comparison or `last`, show it again. Without names, list all.
    """
    if not references:
        return list_pairwise(app.data_dir, as_json=as_json)
    if len(references) == 1:
        return show_pairwise(app.data_dir, references[0], as_json=as_json)
    if len(references) > _MOST_RUNS:
        raise click.UsageError("give two runs, A and B")
    return _compete(
        app, references, tuple(filter(None, (judge, *panel))), max_cost, dry_run, as_json
    )


def _compete(
    app: AppContext,
    references: tuple[str, ...],
    judges: tuple[str, ...],
    max_cost: float | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    from contextlib import closing

    from poor_bench.judge.pairwise_results import PairOutcome, combine_judges
    from poor_bench.judge.storage import JudgementStore
    from poor_bench.llm_manager import LLMManager

    store = JudgementStore(app.data_dir)
    a, b = (store.find(reference) for reference in references)
    with closing(LLMManager(app.data_dir)) as manager:
        contest = _contest(app, a, b, judges, manager)
        if contest.left_out and not as_json:
            names = ", ".join(contest.left_out)
            say(f"Skipped, because only one run has them: {names}", err=True)
        if dry_run:
            return _tell_plan(contest, as_json=as_json)
        _limit(contest, max_cost)
        if not as_json and (most_usd := contest.estimated_cost_usd()):
            click.echo(f"Cost: {format_highest_cost(most_usd)}", err=True)
        duels = _hold(app, contest, quiet=as_json)
    show_comparisons(combine_judges(duels), (a, b), as_json=as_json)
    if contest.budget.n_refused:
        from poor_bench.metrics import cost_text

        text = f"{counted(contest.budget.n_refused, 'pair')} might have exceeded --max-cost"
        click.echo(f"{text} {cost_text(max_cost)} and were skipped.", err=True)
    is_whole = not contest.budget.n_refused
    return 0 if is_whole and all(duel.outcome is not PairOutcome.FAILED for duel in duels) else 3


def _contest(
    app: AppContext, a: JudgeRun, b: JudgeRun, judges: tuple[str, ...], manager: LLMManager
) -> PairwiseRun:
    from poor_bench.errors import ConfigError
    from poor_bench.judge.pairwise import PairwiseRun

    contest = PairwiseRun(a, b, _judges(app, a, judges, manager), manager)
    if not contest.pairs:
        raise ConfigError(f"{a.run_id} and {b.run_id} share no case")
    return contest


def _judges(
    app: AppContext, run: JudgeRun, names: tuple[str, ...], manager: LLMManager
) -> list[Judge]:
    from poor_bench.config.judge_settings import load_judge_settings
    from poor_bench.judge.agent_registry import load_agent_registry, rubric_of
    from poor_bench.judge.judge import Judge
    from poor_bench.judge.run_plan import judges_of

    shelf = load_agent_registry(app.data_dir)
    settings = load_judge_settings(app.data_dir)
    rubric, _ = rubric_of(shelf.agent(run.header.agent_id))
    return [Judge(llm, manager, rubric) for llm in judges_of(names, shelf, settings, os.environ)]


def _limit(contest: PairwiseRun, max_cost: float | None) -> None:
    from poor_bench.calls.budget import Budget, require_prices

    if max_cost is not None:
        require_prices((judge.llm for judge in contest.judges), contest.manager.is_local)
        contest.budget = Budget(max_cost)


def _hold(app: AppContext, contest: PairwiseRun, *, quiet: bool) -> list[PairComparison]:
    from poor_bench.judge.storage import store_comparisons
    from poor_bench.runs.history import new_run_id

    run_id = new_run_id(contest.manager.clock.now_iso())
    duels = []
    runs = contest.a.run_id, contest.b.run_id
    with store_comparisons(app.data_dir, run_id, *runs, contest.n_comparisons) as keep:
        for duel in contest.duels():
            keep(duel)
            duels.append(duel)
            if not quiet:
                say(f"{duel.judge}, {duel.case_id}: {duel.outcome}", err=True)
    return duels


def _tell_plan(contest: PairwiseRun, *, as_json: bool) -> int:
    n_comparisons, judges = len(contest.pairs), [judge.llm.id for judge in contest.judges]
    most_usd = contest.estimated_cost_usd()
    if as_json:
        print_json({"duels": n_comparisons, "judges": judges, "most_usd": most_usd})
        return 0
    n_pairs = counted(n_comparisons, "pair")
    click.echo(f"{n_pairs}, each in both orders, judged by {', '.join(judges)}")
    click.echo(format_highest_cost(most_usd))
    return 0


def show_comparisons(
    decisions: PanelPreferences, runs: tuple[JudgeRun, JudgeRun], *, as_json: bool
) -> None:
    """Print the winners by case and in total."""
    from poor_bench.judge.report_text import panel_text, tally_text

    a, b = runs
    if as_json:
        print_json(decisions_to_json(decisions, a.run_id, b.run_id))
        return
    for judge, duels in decisions.by_judge.items():
        if decisions.is_panel:
            say(judge)
        print_table(_row(duel) for duel in duels.duels)
        for sentence in tally_text(duels):
            click.echo(sentence)
        click.echo("")
    if decisions.is_panel:
        for sentence in panel_text(decisions):
            click.echo(sentence)
    for side, run in (("A", a), ("B", b)):
        header = run.header
        say(f"{side}: {header.run_id}, {header.agent_id}, {header.llm_id}")


def show_pairwise(data_dir: Path, reference: str, *, as_json: bool) -> int:
    """Print a stored comparison.

    Raises:
        ConfigError: If there is none, or its runs are gone.
    """
    from poor_bench.judge.pairwise_results import combine_judges
    from poor_bench.judge.storage import JudgementStore, find_pairwise

    contest = find_pairwise(data_dir, reference)
    store = JudgementStore(data_dir)
    runs = store.find(contest.a_run_id), store.find(contest.b_run_id)
    show_comparisons(combine_judges(contest.duels), runs, as_json=as_json)
    if contest.n_planned > len(contest.duels) and not as_json:
        again = next_command(f"judge pairwise {contest.a_run_id} {contest.b_run_id}")
        click.echo(f"Incomplete: {_share_judged(contest)}. Compare again: {again}")
    return 0


def list_pairwise(data_dir: Path, *, as_json: bool) -> int:
    """Print the stored comparisons, newest last."""
    from poor_bench.judge.pairwise_results import combine_judges
    from poor_bench.judge.storage import stored_pairwise_runs

    kept = stored_pairwise_runs(data_dir)
    if as_json:
        print_json(
            {
                "comparisons": [
                    {"run_id": item.run_id, "n_planned": item.n_planned}
                    | decisions_to_json(combine_judges(item.duels), item.a_run_id, item.b_run_id)
                    for item in kept
                ]
            }
        )
    elif not kept:
        click.echo(f"No comparisons yet. Next: {next_command('judge pairwise A B')}")
    else:
        print_table(map(_list_comparison, kept))
    return 0


def decisions_to_json(decisions: PanelPreferences, a_run_id: str, b_run_id: str) -> dict[str, Any]:
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


def _duels_json(duels: PairwiseTally) -> dict[str, Any]:
    from poor_bench.judge.pairwise_results import PairOutcome

    estimates = {
        "share_of_a": duels.share_of_a,
        "position_bias": duels.position_bias,
        "first_preference": duels.first_preference,
    }
    return {
        "counts": {outcome.value: duels.count(outcome) for outcome in PairOutcome},
        **{name: None if item is None else asdict(item) for name, item in estimates.items()},
        "duels": [{**asdict(duel), "outcome": duel.outcome.value} for duel in duels.duels],
    }


def _share_judged(contest: StoredPairwise) -> str:
    return f"{len(contest.duels)} of {counted(contest.n_planned, 'pair')} judged"


def _row(duel: PairComparison) -> dict[str, str]:
    return {
        "Case": duel.case_id,
        "Better": duel.outcome.value,
        "A first": duel.a_first.value if duel.a_first else "-",
        "B first": duel.b_first.value if duel.b_first else "-",
        "Why": duel.error or " / ".join(" ".join(reason.split()) for reason in duel.reasons),
    }


def _list_comparison(contest: StoredPairwise) -> dict[str, str]:
    from poor_bench.judge.pairwise_results import PairOutcome, combine_judges
    from poor_bench.metrics import cost_text

    decisions = combine_judges(contest.duels)
    said = list(decisions.by_case.values())
    is_whole = contest.n_planned <= len(contest.duels)
    known = [duel.cost_usd for duel in contest.duels if duel.cost_usd is not None]
    return {
        "Comparison": contest.run_id,
        "A": contest.a_run_id,
        "B": contest.b_run_id,
        "Judges": ", ".join(decisions.by_judge),
        ">Cases": str(len(said)) if is_whole else f"{len(said)}, incomplete",
        ">A better": str(said.count(PairOutcome.A)),
        ">B better": str(said.count(PairOutcome.B)),
        ">Cost": cost_text(sum(known)) if known else "",
    }
