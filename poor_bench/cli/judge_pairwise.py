"""`judge pairwise`: which of two runs gave the better conversations."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.options import (
    beside_option,
    cost_options,
    format_highest_cost,
    judge_options,
    resume_option,
)
from poor_bench.cli.output import json_option, print_json, print_plan_json, print_table, say
from poor_bench.command_line import next_command, write_examples
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from poor_bench.judge.judged_run import JudgeRun
    from poor_bench.judge.pairwise_results import PairComparison, PairwiseTally, PanelPreferences
    from poor_bench.judge.pairwise_run import PairwiseRun
    from poor_bench.judge.storage import StoredPairwise


_EPILOG = write_examples(
    """
  {program} judge pairwise sales_old sales_new --judge ollama:qwen3:8b
  {program} judge pairwise 20261122T0315 last --judge gpt-a --panel claude-b --max-cost 0.5
  {program} judge pairwise sales_old sales_new --again 20
  {program} judge pairwise                comparisons so far
  {program} judge pairwise last           show a comparison

\b
Each case is judged twice, with the order swapped. --again asks about some cases twice in each
order, to tell position bias from inconsistency.
"""
)
_MOST_RUNS = 2


@click.command(epilog=_EPILOG)
@click.argument("references", metavar="[A B]", nargs=-1)
@judge_options
@click.option(
    "--again",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Ask about N cases twice in each order, to tell position bias from inconsistency.",
)
@cost_options
@resume_option
@beside_option
@json_option
@pass_app
def pairwise(
    app: AppContext,
    /,
    references: tuple[str, ...],
    judge: str | None,
    panel: tuple[str, ...],
    resume: str | None,
    **options: Any,
) -> int:
    """Compare the conversations of two runs, case by case.

    With one name, that of a comparison or `last`, show it again. Without names, list all. With
    --resume, continue a comparison: what is missing or failed is run.
    """
    as_json = options["as_json"]
    if resume and references:
        raise click.UsageError("--resume uses the runs of the comparison: omit A and B")
    if not references and not resume:
        return list_pairwise(app.data_dir, as_json=as_json)
    if len(references) == 1:
        show_pairwise(app.data_dir, references[0], as_json=as_json)
        return 0
    if len(references) > _MOST_RUNS:
        raise click.UsageError("give two runs, A and B")
    judges = tuple(filter(None, (judge, *panel)))
    return _compare(app, references, judges, resume, **options)


def _compare(
    app: AppContext,
    references: tuple[str, ...],
    judges: tuple[str, ...],
    resume: str | None,
    *,
    max_cost: float | None,
    dry_run: bool,
    beside: bool,
    **options: Any,
) -> int:

    as_json = options["as_json"]
    from poor_bench.cli.screen import open_job_view
    from poor_bench.judge.pairwise_results import PairOutcome
    from poor_bench.judge.pairwise_run import PairwiseRunner
    from poor_bench.judge.report_text import write_outcome
    from poor_bench.runs.turn import run_alone

    with closing(PairwiseRunner(app.data_dir)) as runner:
        if resume:
            run = runner.resume(resume, judges)
        else:
            run = runner.plan(references, judges, n_again=options["again"])
        if run.a.run_id == run.b.run_id and not as_json:
            say("A and B are the same run: this shows the judge's position bias only.", err=True)
        if run.left_out and not as_json:
            say(f"Skipped, because only one run has them: {', '.join(run.left_out)}", err=True)
        if dry_run:
            return _tell_plan(run, as_json=as_json)
        runner.limit_cost(run, max_cost)
        if not as_json and (most_usd := run.estimate_cost_usd()) != 0:
            click.echo(f"Cost: {format_highest_cost(most_usd)}", err=True)
        alone = run_alone(runner.store.history, run.header, beside=beside)
        with alone, open_job_view("Pairs", run.n_left, quiet=as_json) as view:
            for made in runner.run(run):
                view.tell(f"{made.judge}, {made.case_id}: {write_outcome(made.outcome)}")
                view.move(f"{made.judge}, {made.case_id}", advance=1)
    stored = show_pairwise(app.data_dir, run.run_id, as_json=as_json)
    if run.budget.n_refused:
        from poor_bench.metrics import cost_text

        text = f"{write_count(run.budget.n_refused, 'pair')} might have exceeded --max-cost"
        click.echo(f"{text} {cost_text(max_cost)} and were skipped.", err=True)
    has_failed = any(made.outcome is PairOutcome.FAILED for made in stored.comparisons)
    return 3 if run.budget.n_refused or has_failed else 0


def _tell_plan(run: PairwiseRun, *, as_json: bool) -> int:
    n_comparisons, judges = len(run.pairs), [judge.llm.id for judge in run.judges]
    most_usd = run.estimate_cost_usd()
    if as_json:
        from poor_bench.judge.storage import PAIRWISE_RUNS

        counts = {"duels": n_comparisons, "judges": judges, "most_usd": most_usd}
        print_plan_json(PAIRWISE_RUNS, run.header, counts, n_planned=run.n_left, cost_usd=most_usd)
        return 0
    n_pairs = write_count(n_comparisons, "pair")
    twice = min(run.n_again, n_comparisons)
    again = f", {twice} of them twice" if twice else ""
    click.echo(f"{n_pairs}, each in both orders{again}, judged by {', '.join(judges)}")
    click.echo(format_highest_cost(most_usd))
    return 0


def _print_decisions(decisions: PanelPreferences, a: JudgeRun, b: JudgeRun) -> None:
    from poor_bench.judge.report_text import describe_panel, tally_text

    for judge, comparisons in decisions.by_judge.items():
        if decisions.is_panel:
            say(judge)
        print_table(_build_row(comparison) for comparison in comparisons.comparisons)
        for sentence in tally_text(comparisons):
            click.echo(sentence)
        click.echo("")
    if decisions.is_panel:
        for sentence in describe_panel(decisions):
            click.echo(sentence)
    for side, run in (("A", a), ("B", b)):
        header = run.header
        say(f"{side}: {header.run_id}, {header.agent_id}, {header.llm_id}")


def show_pairwise(data_dir: Path, reference: str, *, as_json: bool) -> StoredPairwise:
    """Print a stored comparison: the winners by case and in total.

    Raises:
        ConfigError: If there is none, or its runs are gone.
    """
    from poor_bench.judge.pairwise_results import combine_judges
    from poor_bench.judge.storage import JudgementStore, PairwiseStore

    kept, store = PairwiseStore(data_dir), JudgementStore(data_dir)
    pairwise = kept.find(reference)
    a, b = store.find(pairwise.a_run_id), store.find(pairwise.b_run_id)
    decisions = combine_judges(pairwise.comparisons)
    if as_json:
        from poor_bench.runs.history import run_to_json

        n_failed, cost_usd = pairwise.n_failed, pairwise.cost_usd
        run = run_to_json(kept.history, pairwise.run_id, n_failed=n_failed, cost_usd=cost_usd)
        print_json({"run": run, **decisions_to_json(decisions, a.run_id, b.run_id)})
        return pairwise
    _print_decisions(decisions, a, b)
    if pairwise.n_planned > len(pairwise.comparisons):
        go_on = next_command(f"judge pairwise --resume {pairwise.run_id}")
        click.echo(f"Incomplete: {_describe_share(pairwise)}. Resume: {go_on}")
    return pairwise


def list_pairwise(data_dir: Path, *, as_json: bool) -> int:
    """Print the stored comparisons, newest last."""
    from poor_bench.judge.pairwise_results import combine_judges
    from poor_bench.judge.storage import PairwiseStore

    kept = PairwiseStore(data_dir).runs()
    if as_json:
        print_json(
            {
                "comparisons": [
                    {"run_id": item.run_id, "n_planned": item.n_planned}
                    | decisions_to_json(
                        combine_judges(item.comparisons), item.a_run_id, item.b_run_id
                    )
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
    return {
        "a": a_run_id,
        "b": b_run_id,
        "cases": decisions.by_case,
        "share_of_a": decisions.share_of_a,
        "n_unanimous": decisions.n_unanimous if decisions.is_panel else None,
        "judges": {
            judge: _tally_to_json(comparisons) for judge, comparisons in decisions.by_judge.items()
        },
    }


def _tally_to_json(comparisons: PairwiseTally) -> dict[str, Any]:
    from poor_bench.judge.pairwise_results import PairOutcome

    return {
        "counts": {outcome.value: comparisons.count(outcome) for outcome in PairOutcome},
        "share_of_a": comparisons.share_of_a,
        "position_bias": comparisons.position_bias,
        "first_preference": comparisons.first_preference,
        "order_preference": comparisons.order_preference,
        "inconsistency": comparisons.inconsistency,
        "order_effect": comparisons.order_effect,
        "order_p_values": comparisons.order_significance,
        "duels": [
            {**asdict(comparison), "outcome": comparison.outcome}
            for comparison in comparisons.comparisons
        ],
    }


def _describe_share(pairwise: StoredPairwise) -> str:
    return f"{len(pairwise.comparisons)} of {write_count(pairwise.n_planned, 'pair')} judged"


def _build_row(comparison: PairComparison) -> dict[str, str]:
    from poor_bench.judge.report_text import write_outcome

    return {
        "Case": comparison.case_id,
        "Better": write_outcome(comparison.outcome),
        "A first": comparison.a_first.value if comparison.a_first else "n/a",
        "B first": comparison.b_first.value if comparison.b_first else "n/a",
        "Why": comparison.error
        or " / ".join(" ".join(reason.split()) for reason in comparison.reasons),
    }


def _list_comparison(pairwise: StoredPairwise) -> dict[str, str]:
    from poor_bench.judge.pairwise_results import PairOutcome, combine_judges
    from poor_bench.metrics import cost_text

    decisions = combine_judges(pairwise.comparisons)
    said = list(decisions.by_case.values())
    is_whole = pairwise.n_planned <= len(pairwise.comparisons)
    return {
        "Comparison": pairwise.run_id,
        "A": pairwise.a_run_id,
        "B": pairwise.b_run_id,
        "Judges": ", ".join(pairwise.judges),
        ">Cases": str(len(said)) if is_whole else f"{len(said)}, incomplete",
        ">A better": str(said.count(PairOutcome.A)),
        ">B better": str(said.count(PairOutcome.B)),
        ">Cost": cost_text(pairwise.cost_usd) or "",
    }
