"""`tests cheat`: what answers score that need no model."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean
from typing import TYPE_CHECKING, Any

import click

from poor_bench import metrics
from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import console, json_option, print_json, print_problems, print_table
from poor_bench.command_line import examples
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from poor_bench.lint.cheats import CheatScore
    from poor_bench.models.problem import Problem

_EPILOG = examples(
    """
  {program} tests cheat             which tests are passed without any model
  {program} report                  shows the same scores in grey, under those of the models
"""
)


@click.command("cheat", epilog=_EPILOG)
@json_option
@pass_app
def cheat(app: AppContext, /, as_json: bool) -> int:
    """Find tests that can be passed without a model.

    Scores answers such as a refusal, the prompt itself or all options at once on every test. No
    request is sent; tests that a model judges are left out. `report` and the dashboard show the
    scores under those of the models until the tests change.
    """
    from rich.progress import Progress

    tests = app.workspace.tests
    with Progress(console=console(stderr=True), disable=as_json, transient=True) as progress:
        task = progress.add_task("Cheating", total=len(tests))
        scores = app.config.measure_cheats(lambda: progress.advance(task))
    problems = [item.problem for item in app.config.lint() if item.problem.code == "cheat-passes"]
    class_of = {test.test_id: test.class_id for test in tests}
    if as_json:
        print_json(_to_json(scores, class_of, problems))
    else:
        _print(scores, class_of, problems)
    return 0


def _compute_means(
    scores: Sequence[CheatScore], class_of: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    """Compute the mean score of each cheat by class id."""
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for item in scores:
        if item.score is not None:
            values[class_of[item.test_id]][item.cheat.value].append(item.score)
    return {
        class_id: {cheat: fmean(of_cheat) for cheat, of_cheat in by_cheat.items()}
        for class_id, by_cheat in values.items()
    }


def _to_json(
    scores: Sequence[CheatScore], class_of: Mapping[str, str], problems: Sequence[Problem]
) -> dict[str, Any]:
    from poor_bench.cli.output import problems_to_json

    return {
        "classes": _compute_means(scores, class_of),
        "tests": [
            {"test_id": item.test_id, "cheat": item.cheat.value, "score": item.score}
            for item in scores
        ],
        "problems": problems_to_json(problems),
    }


def _print(
    scores: Sequence[CheatScore], class_of: Mapping[str, str], problems: Sequence[Problem]
) -> None:
    from poor_bench.lint.cheats import Cheat

    means = _compute_means(scores, class_of)
    if means:
        print_table(
            {
                "Cheat": cheat.value,
                **{
                    f">{class_id}": metrics.score_text(by_cheat.get(cheat.value))
                    for class_id, by_cheat in means.items()
                },
            }
            for cheat in Cheat
        )
    print_problems(problems, 50)
    judged = len(class_of) - len({item.test_id for item in scores})
    if judged:
        click.echo(f"Left out, as a model judges them: {write_count(judged, 'test')}.")
    if not problems:
        click.echo("No test can be passed without a model.")
