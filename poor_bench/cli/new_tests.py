"""`tests import` and `tests generate`: add tests whose references prove them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.options import count_option, read_key_values, read_levels, read_parameters
from poor_bench.cli.output import console, json_option, print_json, print_table, show_status
from poor_bench.command_line import next_command, write_examples, write_python_command
from poor_bench.errors import ConfigError
from poor_bench.messages import harmless, write_count
from poor_bench.models.test import EvaluatorSpec

if TYPE_CHECKING:
    from poor_bench.generators.generator import Generator
    from poor_bench.importers.rows import Importer, Row


_SHOWN_REFUSALS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTests:
    """Tests that are to be added, and those that cannot be."""

    class_entry: Mapping[str, Any]
    tests: Sequence[Mapping[str, Any]]
    refused: list[str] = field(default_factory=list)
    """One sentence for each skipped test."""


def prove(app: AppContext, new: NewTests) -> NewTests:
    """Keep the tests whose references score 1.0 and whose empty responses score 0.

    Raises:
        PluginError: If the evaluator cannot be used.
    """
    from poor_bench.lint.lint import build_spec, find_fault

    app.evaluators.get(new.class_entry["evaluation_module"]["name"])
    facts = app.config.evaluator_facts()
    sound: list[Mapping[str, Any]] = []
    refused = list(new.refused)
    with show_status("Scoring the reference responses"):
        for test in new.tests:
            fault = _find_parameter_fault(app, build_spec(new.class_entry, test))
            fault = fault or find_fault(new.class_entry, test, facts)
            if fault:
                refused.append(f"{test['test_id']}: {fault}")
            else:
                sound.append(test)
    return NewTests(class_entry=new.class_entry, tests=sound, refused=refused)


def _find_parameter_fault(app: AppContext, spec: EvaluatorSpec) -> str:
    """Describe what is wrong with the parameters of an evaluator; empty if nothing is."""
    problems = app.evaluators.get(spec.name).check_parameters(spec.parameters)
    return "; ".join(
        f"{place or 'parameters'}: {message}" + (f" ({hint})" if hint else "")
        for place, message, hint in problems
    )


def add_and_report(app: AppContext, new: NewTests, *, dry_run: bool, as_json: bool) -> int:
    """Add tests to the workspace and tell what came of it; return the exit code.

    It is 1 where not one test is sound.
    """
    added = [str(test["test_id"]) for test in new.tests]
    known: Sequence[str] = ()
    if not dry_run and new.tests:
        outcome = app.config.add_tests(new.class_entry, new.tests)
        added, known = list(outcome.added), outcome.known
    exit_code = 1 if new.refused and not new.tests else 0
    if as_json:
        report = {"class": new.class_entry["id"], "added": added, "known": known}
        print_json({**report, "refused": new.refused, "dry_run": dry_run})
        return exit_code
    verb = "would be added" if dry_run else "added"
    click.echo(f"{write_count(len(added), 'test')} of class {new.class_entry['id']} {verb}")
    if known:
        click.echo(f"Already there, unchanged: {write_count(len(known), 'test')}")
    _print_refusals(new.refused)
    if added and not dry_run:
        click.echo(f"Next: {next_command(f'tests show {added[0]}')}")
    return exit_code


def _print_refusals(refused: Sequence[str]) -> None:
    if refused:
        click.echo(f"Skipped: {len(refused)}")
    for reason in refused[:_SHOWN_REFUSALS]:
        click.echo(f"  {harmless(reason)}")
    if len(refused) > _SHOWN_REFUSALS:
        click.echo(f"  ... and {len(refused) - _SHOWN_REFUSALS} more")


_IMPORT_EXAMPLES = write_examples(
    """
  {program} tests import HumanEval.jsonl.gz
  {program} tests import gsm8k_test.jsonl --sample 100 --seed 1
  {program} tests import abstract_algebra_test.csv --class algebra --level 4
  {program} tests import reviews.csv --class reviews \\
      --column text=review --column parameters.expected=mood \\
      --evaluator exact_match --template 'Is this good or bad? {text}'
"""
)

_COLUMN_HELP = (
    "For any table: which column becomes which part of a test (text, texts, test_id, level, "
    "reference_response, group, tags, fields.NAME, parameters.NAME)."
)


@click.command("import", epilog=_IMPORT_EXAMPLES)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "format_name",
    metavar="NAME",
    help="humaneval, mbpp, gsm8k or multiple_choice. Default: detected from the file.",
)
@click.option(
    "--class", "class_id", metavar="ID", help="Test class. Default: the name of the format."
)
@count_option("--level", default=None, most=1000, hint="Level of all tests.")
@count_option("--limit", default=None, hint="Import only the first N rows.")
@count_option("--sample", default=None, hint="Import only N rows, drawn at random.")
@click.option("--seed", type=int, default=0, help="Random seed of --sample.")
@click.option("--column", "columns", multiple=True, metavar="PART=COLUMN", help=_COLUMN_HELP)
@click.option("--evaluator", default="exact_match", help="With --column: evaluator of the tests.")
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    metavar="KEY=VALUE",
    help="With --column: parameter of that evaluator, for all rows.",
)
@click.option("--template", default="{text}", help="With --column: prompt template.")
@click.option("--unproven", is_flag=True, help="Skip scoring the reference responses.")
@click.option("--dry-run", is_flag=True, help="Show what would be added.")
@json_option
@pass_app
def import_tests(app: AppContext, /, file: Path, **options: Any) -> int:
    """Add the tests of a benchmark, or of any table, to the workspace.

    FILE is .jsonl, .json, .csv or .tsv, also compressed (.gz). A test is added only if its
    reference response scores 1.0 and an empty response scores 0. Existing tests stay.
    """
    from poor_bench.importers.rows import read_rows

    rows = read_rows(file)
    if not rows:
        raise ConfigError(f"{file} has no rows")
    importer = _choose_importer(file, [row for _, row in rows], options)
    new = _convert(importer, _select(rows, options), options)
    if not options["unproven"]:
        new = prove(app, new)
    return add_and_report(app, new, dry_run=options["dry_run"], as_json=options["as_json"])


def _choose_importer(file: Path, rows: Sequence[Row], options: dict[str, Any]) -> Importer:
    from poor_bench.importers.datasets import find_importer, recognise
    from poor_bench.importers.rows import make_columns_importer, require_columns

    if options["columns"]:
        columns = read_key_values(options["columns"], "--column")
        require_columns(columns, rows, str(file))
        return make_columns_importer(
            columns,
            evaluator=options["evaluator"],
            parameters=read_parameters(options["parameters"], "--parameter"),
            template=options["template"],
        )
    name = options["format_name"]
    return find_importer(name) if name else recognise(rows[0])


def _select(rows: list[tuple[int, Row]], options: dict[str, Any]) -> list[tuple[int, Row]]:
    rows = rows[: options["limit"]]
    n_sample = options["sample"]
    if n_sample is None or n_sample >= len(rows):
        return rows
    generator = random.Random(options["seed"])
    return sorted(generator.sample(rows, n_sample), key=lambda numbered: numbered[0])


def _convert(importer: Importer, rows: list[tuple[int, Row]], options: dict[str, Any]) -> NewTests:
    from poor_bench.importers.rows import RowError, to_tests

    class_id = options["class_id"] or importer.name
    tests: list[dict[str, Any]] = []
    refused = []
    for number, outcome in to_tests(importer, rows, class_id):
        if isinstance(outcome, RowError):
            refused.append(f"row {number}: {outcome}")
        else:
            level = options["level"] or outcome["level"]
            tests.append({**outcome, "level": level})
    return NewTests(
        class_entry={"id": class_id, **importer.class_entry}, tests=tests, refused=refused
    )


_GENERATE_EXAMPLES = write_examples(
    """
  {program} tests generate                          all generators
  {program} tests generate arithmetic --count 50
  {program} tests generate code --level 3-5 --count 20 --seed 7
  {program} tests generate reasoning_gym.leg_counting
"""
)


@click.command(epilog=_GENERATE_EXAMPLES)
@click.argument("generator", required=False)
@click.option(
    "--class", "class_id", metavar="ID", help="Test class. Default: the name of the generator."
)
@click.option("--level", "levels", default="1-5", metavar="N|N-M", help="Levels.")
@count_option(
    "--count",
    "n_tests",
    default=25,
    most=10_000,
    hint="Number of tests, spread evenly over the levels.",
)
@click.option("--seed", type=click.IntRange(0), default=0, help="Random seed.")
@click.option("--dry-run", is_flag=True, help="Show what would be added.")
@json_option
@pass_app
def generate(
    app: AppContext,
    /,
    generator: str | None,
    class_id: str | None,
    levels: str,
    n_tests: int,
    seed: int,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Add generated tests with their solutions; without GENERATOR, list all generators.

    The same seed gives the same tests. A test is added only if its reference response scores 1.0
    and an empty response scores 0.
    """
    from poor_bench.generators.families import find_generator

    if generator is None:
        return _list_generators(as_json=as_json)
    chosen = find_generator(generator)
    new = _draw(
        chosen, class_id or chosen.name.replace(".", "_"), read_levels(levels), n_tests, seed
    )
    return add_and_report(app, prove(app, new), dry_run=dry_run, as_json=as_json)


def _draw(generator: Generator, class_id: str, levels: range, n_tests: int, seed: int) -> NewTests:
    from poor_bench.generators.generator import LEVELS
    from poor_bench.generators.generator import generate as draw

    if not set(levels) <= set(LEVELS):
        raise click.UsageError(f"--level: generators have levels {LEVELS[0]} to {LEVELS[-1]}")
    tests = list(draw(generator, class_id, levels, n_tests, seed))
    lacking = n_tests - len(tests)
    refused = [f"{write_count(lacking, 'test')}: others do not exist"] if lacking else []
    return NewTests(
        class_entry={"id": class_id, **generator.class_entry}, tests=tests, refused=refused
    )


def _list_generators(*, as_json: bool) -> int:
    from importlib.util import find_spec

    from poor_bench.generators.families import GENERATORS
    from poor_bench.generators.reasoning_gym import list_family_names

    families = list(list_family_names())
    rows = [[generator.name, generator.description] for generator in GENERATORS.values()]
    if as_json:
        rows += [[name, "A family of the library reasoning-gym"] for name in families]
        print_json({"generators": [{"name": name, "description": text} for name, text in rows]})
        return 0
    print_table({"Generator": name, "Makes": text} for name, text in rows)
    install = write_python_command("-m pip install reasoning-gym")
    way = "" if find_spec("reasoning_gym") else f" (not installed: {install})"
    click.echo(f"From the library reasoning-gym{way}:")
    console().print(", ".join(families))
    return 0
