"""`tests cheat` and `tests analyse --mutate`: what answers score that are not right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import click

from poor_bench import metrics
from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import (
    console,
    json_option,
    print_json,
    print_problems,
    print_table,
    say,
)
from poor_bench.command_line import write_examples
from poor_bench.messages import write_count
from poor_bench.models.problem import Problem

if TYPE_CHECKING:
    from poor_bench.lint.cheats import CheatScore
    from poor_bench.lint.mutations import MutantScore, Survival


_EPILOG = write_examples(
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
    request is sent; tests that a model judges are skipped. `report` and the dashboard show the
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

    return {
        "classes": _compute_means(scores, class_of),
        "tests": scores,
        "problems": problems,
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


_MOST_SURVIVORS = 10


def run_mutations(app: AppContext, *, as_json: bool) -> int:
    """Score wrong answers that look right on every test, and print how many pass as right."""
    from rich.progress import Progress

    from poor_bench.lint.mutations import count_survivors, score_mutants
    from poor_bench.lint.subject import list_subjects

    subjects = list(list_subjects(app.workspace))
    with Progress(console=console(stderr=True), disable=as_json, transient=True) as progress:
        task = progress.add_task("Mutating", total=len(subjects))
        facts = app.config.evaluator_facts()
        scores = list(score_mutants(subjects, facts, on_test=lambda: progress.advance(task)))
    survivals = count_survivors(scores)
    n_left_out = len(subjects) - len({score.test_id for score in scores})
    if as_json:
        print_json(
            {"mutations": [_survival_to_json(each) for each in survivals], "left_out": n_left_out}
        )
    else:
        _print_survivals(survivals, n_left_out)
    return 0


def _survival_to_json(survival: Survival) -> dict[str, Any]:
    return {
        "class_id": survival.class_id,
        "mutation": survival.mutation,
        "n_mutants": survival.n_mutants,
        "n_survivors": len(survival.survivors),
        "survivors": [
            {
                "test_id": each.test_id,
                "answer": each.text,
                "change": each.change,
                "score": each.score,
            }
            for each in survival.survivors
        ],
    }


def _print_survivals(survivals: Sequence[Survival], n_left_out: int) -> None:
    print_table(
        {
            "Class": each.class_id,
            "Wrong answer": each.mutation.value,
            ">Mutants": str(each.n_mutants),
            ">Pass as right": str(len(each.survivors)),
        }
        for each in survivals
    )
    survivors = [survivor for each in survivals for survivor in each.survivors]
    for survivor in survivors[:_MOST_SURVIVORS]:
        say(_describe(survivor))
    if len(survivors) > _MOST_SURVIVORS:
        click.echo(f"{len(survivors) - _MOST_SURVIVORS} more: --json lists all")
    if not survivors:
        click.echo("Every wrong answer loses score.")
    if n_left_out:
        tests = write_count(n_left_out, "test")
        click.echo(f"Left out: {tests} without a right answer in the files, or judged by a model.")


def _describe(survivor: MutantScore) -> str:
    answer = survivor.change or " ".join(survivor.text.split())
    shown = answer if len(answer) <= 80 else f"{answer[:77]}..."
    return f"{survivor.test_id}: {survivor.mutation.value}, scores {survivor.score:.2f}: {shown}"
