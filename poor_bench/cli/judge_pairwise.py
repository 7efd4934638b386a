"""`judge pairwise`: which of two runs is better, asked in both orders."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import console, harmless, json_option, plain_table, print_json

if TYPE_CHECKING:
    from poor_bench.judge.history.judge_run import JudgeRun
    from poor_bench.judge.judge import Judge
    from poor_bench.judge.pairwise.duel import Duel, Duels
    from poor_bench.llm_manager import LLMManager

_EPILOG = """\b
Examples:
  python main.py judge pairwise sales_old sales_new --judge ollama:qwen3:8b
  python main.py judge pairwise 20261122T0315 last --judge ollama:qwen3:8b

\b
Every case is shown twice, with the order swapped: a judge that prefers a place contradicts itself.
"""


@click.command(epilog=_EPILOG)
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option("--judge", "name", metavar="LLM", help="Who judges; that of config.yaml by default.")
@json_option
@pass_app
def pairwise(app: AppContext, /, before: str, after: str, name: str | None, as_json: bool) -> int:
    """Let the conversations of two runs compete, case by case."""
    from poor_bench.judge.history.store import JudgementStore
    from poor_bench.judge.pairwise.arena import common_conversations
    from poor_bench.judge.pairwise.duel import Outcome, duels_of
    from poor_bench.llm_manager import LLMManager

    store = JudgementStore(app.data_dir)
    a, b = store.find(before), store.find(after)
    if not common_conversations(a, b):
        from poor_bench.errors import ConfigError

        raise ConfigError(f"{a.run_id} and {b.run_id} have no case in common")
    manager = LLMManager(app.data_dir)
    try:
        judge = _judge(app, a, name, manager)
        duels = duels_of(_hold(app, judge, a, b, manager.clock.now_iso(), quiet=as_json))
    finally:
        manager.close()
    _show(duels, a, b, as_json=as_json)
    return 3 if duels.count(Outcome.FAILED) else 0


def _judge(app: AppContext, run: JudgeRun, name: str | None, manager: LLMManager) -> Judge:
    from poor_bench.config.judge_settings import load_judge_settings
    from poor_bench.judge.agents.load import load_agent_shelf, rubric_of
    from poor_bench.judge.agents.prepare import judges_of
    from poor_bench.judge.judge import Judge

    shelf = load_agent_shelf(app.data_dir)
    settings = load_judge_settings(app.data_dir)
    [llm] = judges_of(() if name is None else (name,), shelf, settings, os.environ)
    rubric, _ = rubric_of(shelf.agent(run.header.agent_id))
    return Judge(llm, manager, rubric)


def _hold(
    app: AppContext, judge: Judge, a: JudgeRun, b: JudgeRun, now_iso: str, *, quiet: bool
) -> list[Duel]:
    from poor_bench.judge.pairwise.arena import Arena
    from poor_bench.judge.pairwise.store import keeping_duels
    from poor_bench.runner.identity import new_run_id

    same_orders = a.header.system_prompt == b.header.system_prompt
    arena = Arena(judge, a.header.system_prompt if same_orders else "")
    duels = []
    with keeping_duels(app.data_dir, new_run_id(now_iso), a.run_id, b.run_id) as keep:
        for duel in arena.duels(a, b):
            keep(duel)
            duels.append(duel)
            if not quiet:
                click.echo(harmless(f"{duel.case_id}: {duel.outcome}"), err=True)
    return duels


def _show(duels: Duels, a: JudgeRun, b: JudgeRun, *, as_json: bool) -> None:
    if as_json:
        print_json(_to_json(duels, a, b))
        return
    from poor_bench.judge.report.pairwise_text import duels_text

    rows = [_row(duel) for duel in duels.duels]
    console().print(plain_table(["Case", "Better", "A first", "B first", "Why"], rows))
    for side, run in (("A", a), ("B", b)):
        header = run.header
        click.echo(harmless(f"{side}: {header.run_id}, {header.agent_id}, {header.llm_id}"))
    for sentence in duels_text(duels):
        click.echo(sentence)


def _row(duel: Duel) -> list[str]:
    places = ["-" if place is None else place.value for place in (duel.a_first, duel.b_first)]
    why = duel.error or " / ".join(" ".join(reason.split()) for reason in duel.reasons)
    return [duel.case_id, duel.outcome.value, *places, why]


def _to_json(duels: Duels, a: JudgeRun, b: JudgeRun) -> dict[str, Any]:
    from poor_bench.judge.pairwise.duel import Outcome

    listed: Sequence[Duel] = duels.duels
    estimates = {
        "share_of_a": duels.share_of_a,
        "position_bias": duels.position_bias,
        "first_preference": duels.first_preference,
    }
    return {
        "a": a.run_id,
        "b": b.run_id,
        "counts": {outcome.value: duels.count(outcome) for outcome in Outcome},
        **{name: None if item is None else asdict(item) for name, item in estimates.items()},
        "duels": [{**asdict(duel), "outcome": duel.outcome.value} for duel in listed],
    }
