"""`judge pairwise`: which of two runs is better, judged in both orders."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.judge_options import judge_names, judge_options, money_options, most_text
from poor_bench.cli.output import harmless, json_option, print_json
from poor_bench.command_line import examples
from poor_bench.messages import counted

if TYPE_CHECKING:
    from poor_bench.judge.history.judge_run import JudgeRun
    from poor_bench.judge.judge import Judge
    from poor_bench.judge.pairwise.contest import Contest
    from poor_bench.judge.pairwise.duel import Duel
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
@money_options
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
    from poor_bench.cli.judge_pairwise_view import list_contests, show_contest

    if not references:
        return list_contests(app.data_dir, as_json=as_json)
    if len(references) == 1:
        return show_contest(app.data_dir, references[0], as_json=as_json)
    if len(references) > _MOST_RUNS:
        raise click.UsageError("give two runs, A and B")
    return _compete(app, references, judge_names(judge, panel), max_cost, dry_run, as_json)


def _compete(
    app: AppContext,
    references: tuple[str, ...],
    judges: tuple[str, ...],
    max_cost: float | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    from contextlib import closing

    from poor_bench.cli.judge_pairwise_view import show_duels
    from poor_bench.judge.history.store import JudgementStore
    from poor_bench.judge.pairwise.decisions import decisions_of
    from poor_bench.judge.pairwise.duel import Outcome
    from poor_bench.llm_manager import LLMManager

    store = JudgementStore(app.data_dir)
    a, b = (store.find(reference) for reference in references)
    with closing(LLMManager(app.data_dir)) as manager:
        contest = _contest(app, a, b, judges, manager)
        if contest.left_out and not as_json:
            names = ", ".join(contest.left_out)
            click.echo(harmless(f"Skipped, because only one run has them: {names}"), err=True)
        if dry_run:
            return _tell_plan(contest, as_json=as_json)
        _limit(contest, max_cost)
        if not as_json and (most_usd := contest.estimated_cost_usd()):
            click.echo(f"Cost: {most_text(most_usd)}", err=True)
        duels = _hold(app, contest, quiet=as_json)
    show_duels(decisions_of(duels), (a, b), as_json=as_json)
    if contest.budget.n_refused:
        from poor_bench.reports.number_text import cost_text

        text = f"{counted(contest.budget.n_refused, 'pair')} might have exceeded --max-cost"
        click.echo(f"{text} {cost_text(max_cost)} and were skipped.", err=True)
    is_whole = not contest.budget.n_refused
    return 0 if is_whole and all(duel.outcome is not Outcome.FAILED for duel in duels) else 3


def _contest(
    app: AppContext, a: JudgeRun, b: JudgeRun, judges: tuple[str, ...], manager: LLMManager
) -> Contest:
    from poor_bench.errors import ConfigError
    from poor_bench.judge.pairwise.contest import Contest

    contest = Contest(a, b, _judges(app, a, judges, manager), manager)
    if not contest.pairs:
        raise ConfigError(f"{a.run_id} and {b.run_id} share no case")
    return contest


def _judges(
    app: AppContext, run: JudgeRun, names: tuple[str, ...], manager: LLMManager
) -> list[Judge]:
    from poor_bench.config.judge_settings import load_judge_settings
    from poor_bench.judge.agents.load import load_agent_shelf, rubric_of
    from poor_bench.judge.agents.prepare import judges_of
    from poor_bench.judge.judge import Judge

    shelf = load_agent_shelf(app.data_dir)
    settings = load_judge_settings(app.data_dir)
    rubric, _ = rubric_of(shelf.agent(run.header.agent_id))
    return [Judge(llm, manager, rubric) for llm in judges_of(names, shelf, settings, os.environ)]


def _limit(contest: Contest, max_cost: float | None) -> None:
    from poor_bench.calls.budget import Budget, require_prices

    if max_cost is not None:
        require_prices((judge.llm for judge in contest.judges), contest.manager.is_local)
        contest.budget = Budget(max_cost)


def _hold(app: AppContext, contest: Contest, *, quiet: bool) -> list[Duel]:
    from poor_bench.judge.pairwise.store import keeping_duels
    from poor_bench.runner.identity import new_run_id

    run_id = new_run_id(contest.manager.clock.now_iso())
    duels = []
    runs = contest.a.run_id, contest.b.run_id
    with keeping_duels(app.data_dir, run_id, *runs, contest.n_duels) as keep:
        for duel in contest.duels():
            keep(duel)
            duels.append(duel)
            if not quiet:
                click.echo(harmless(f"{duel.judge}, {duel.case_id}: {duel.outcome}"), err=True)
    return duels


def _tell_plan(contest: Contest, *, as_json: bool) -> int:
    n_duels, judges = len(contest.pairs), [judge.llm.id for judge in contest.judges]
    most_usd = contest.estimated_cost_usd()
    if as_json:
        print_json({"duels": n_duels, "judges": judges, "most_usd": most_usd})
        return 0
    click.echo(f"{counted(n_duels, 'pair')}, each in both orders, judged by {', '.join(judges)}")
    click.echo(most_text(most_usd))
    return 0
