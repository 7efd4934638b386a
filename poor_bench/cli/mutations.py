"""`tests analyse --mutate`: whether the evaluators see that an answer is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.output import console, print_json, print_table, say
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poor_bench.cli.context import AppContext
    from poor_bench.lint.mutations import MutantScore, Survival

_SHOWN = 10


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
        print_json({"mutations": [_to_json(each) for each in survivals], "left_out": n_left_out})
    else:
        _print(survivals, n_left_out)
    return 0


def _to_json(survival: Survival) -> dict[str, Any]:
    return {
        "class_id": survival.class_id,
        "mutation": survival.mutation.value,
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


def _print(survivals: Sequence[Survival], n_left_out: int) -> None:
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
    for survivor in survivors[:_SHOWN]:
        say(_describe(survivor))
    if len(survivors) > _SHOWN:
        click.echo(f"{len(survivors) - _SHOWN} more: --json lists all")
    if not survivors:
        click.echo("Every wrong answer loses score.")
    if n_left_out:
        tests = write_count(n_left_out, "test")
        click.echo(f"Left out: {tests} without a right answer in the files, or judged by a model.")


def _describe(survivor: MutantScore) -> str:
    answer = survivor.change or " ".join(survivor.text.split())
    shown = answer if len(answer) <= 80 else f"{answer[:77]}..."
    return f"{survivor.test_id}: {survivor.mutation.value}, scores {survivor.score:.2f}: {shown}"
