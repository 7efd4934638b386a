"""`tests select`: a short form of the tests that predicts the full score."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app, write_next_step
from poor_bench.cli.output import json_option, print_json
from poor_bench.command_line import write_examples
from poor_bench.errors import ConfigError
from poor_bench.messages import harmless, write_count

if TYPE_CHECKING:
    from poor_bench.statistics.short_form import FullScores, ShortForm

_EPILOG = write_examples(
    """
  {program} tests select --keep 25% --dry-run    the tests, and how well they predict
  {program} tests select --keep 25%              tag them `short`
  {program} run --tag short --llm NEW            run them only
  {program} report                               the full score of NEW, predicted
"""
)


@click.command("select", epilog=_EPILOG)
@click.option("--keep", metavar="N%|N", required=True, help="Tests to keep: a share or a number.")
@click.option("--seed", type=int, default=0, help="Seed of the random choice it starts from.")
@click.option("--dry-run", is_flag=True, help="Show the tests without tagging them.")
@json_option
@pass_app
def select(app: AppContext, /, keep: str, seed: int, dry_run: bool, as_json: bool) -> int:
    """Tag a few tests that predict the score on all: the short form.

    The choice has tests of each class and level, keeps groups together, and is learnt from the
    stored scores of at least 5 different models; with fewer it is random. The chosen tests get
    the tag `short` in tests.json, others lose it; nothing else changes. `report` predicts the full
    score of models that ran the short form only.
    """
    from poor_bench.config.edit_entries import TestEdit
    from poor_bench.statistics.short_form import SHORT_TAG, select_short_form

    full = _gather(app)
    short = select_short_form(full, _read_share(keep, len(full.tests)), seed=seed)
    if not dry_run:
        app.config.edit_tests(
            TestEdit(test_ids=frozenset(short.test_ids), added_tag=SHORT_TAG, takes_tag=True)
        )
    if as_json:
        print_json(_to_json(short, is_tagged=not dry_run))
    else:
        _print(short, full, is_tagged=not dry_run)
    return 0


def _gather(app: AppContext) -> FullScores:
    from poor_bench.statistics.outcomes import identify_model
    from poor_bench.statistics.scores import build_score_table
    from poor_bench.statistics.short_form import FullScores

    tests = app.workspace.tests_by_id
    if not tests:
        raise ConfigError("this workspace has no tests")
    results = [result for result in app.store.results() if result.test_id in tests]
    families = {result.llm_id: identify_model(result) for result in results}
    return FullScores(build_score_table(results), tests, families)


def _read_share(text: str, n_tests: int) -> float:
    """Read `25%` or `15` as a share of the tests.

    Raises:
        click.BadParameter: If it is neither, or not from 1 test to all.
    """
    number, is_percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        share = float(number) / 100 if is_percent else int(number) / n_tests
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        hint = f"{text!r}: give a share such as 25%, or a number of tests from 1 to {n_tests}"
        raise click.BadParameter(hint, param_hint="'--keep'")
    return share


def _to_json(short: ShortForm, *, is_tagged: bool) -> dict[str, Any]:
    return {
        "tests": short.test_ids,
        "n_tests": short.n_tests,
        "n_models": short.n_models,
        "is_learnt": short.is_learnt,
        "margin": short.margin,
        "random_margin": short.random_margin,
        "is_tagged": is_tagged,
    }


def _describe_margin(short: ShortForm, models: str) -> str:
    from poor_bench import metrics

    text = f"{metrics.margin_text(short.margin or 0.0)} (95 %)"
    if not short.is_learnt or short.random_margin is None:
        return text
    random = metrics.margin_text(short.random_margin)
    return f"{text}, learnt from {models}; as many random tests within {random}"


def _print(short: ShortForm, full: FullScores, *, is_tagged: bool) -> None:
    from poor_bench.statistics.short_form import LEAST_MODELS

    if not is_tagged:
        for test_id in short.test_ids:
            click.echo(f"  {harmless(test_id)}")
    classes = Counter(full.tests[test_id].class_id for test_id in short.test_ids)
    of_class = ", ".join(f"{harmless(class_id)} {n}" for class_id, n in classes.items())
    n_chosen = f"{len(short.test_ids)} of {write_count(short.n_tests, 'test')}"
    click.echo(f"{n_chosen}{', tagged `short`' if is_tagged else ''}: {of_class}.")
    models = write_count(short.n_models, "different model")
    if not short.is_learnt:
        click.echo(
            f"Chosen at random within classes and levels: {models} with nearly all tests; "
            f"learning needs {LEAST_MODELS}."
        )
    if short.margin is not None:
        click.echo(f"Predicts the full score within {_describe_margin(short, models)}.")
    if is_tagged:
        click.echo(f"Next: {write_next_step('run --tag short')}")
