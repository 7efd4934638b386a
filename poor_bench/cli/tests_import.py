"""`tests import`: bring in the tests of public benchmarks, or of any table."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.adding_tests import NewTests, add_and_report, prove
from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.key_values import key_values, plain_key_values
from poor_bench.cli.output import json_option
from poor_bench.command_line import examples
from poor_bench.errors import ConfigError

if TYPE_CHECKING:
    from poor_bench.importers.imported import Importer, Row

_EPILOG = examples(
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
    "reference_response, tags, fields.NAME, parameters.NAME)."
)


@click.command("import", epilog=_EPILOG)
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
@click.option("--level", type=click.IntRange(1, 1000), help="Level of all tests.")
@click.option("--limit", type=click.IntRange(1), help="Import only the first N rows.")
@click.option("--sample", type=click.IntRange(1), help="Import only N rows, drawn at random.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed of --sample.")
@click.option("--column", "columns", multiple=True, metavar="PART=COLUMN", help=_COLUMN_HELP)
@click.option(
    "--evaluator",
    default="exact_match",
    show_default=True,
    help="With --column: evaluator of the tests.",
)
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    metavar="KEY=VALUE",
    help="With --column: parameter of that evaluator, for all rows.",
)
@click.option(
    "--template", default="{text}", show_default=True, help="With --column: prompt template."
)
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
    importer = _importer(file, [row for _, row in rows], options)
    new = _convert(importer, _chosen(rows, options), options)
    if not options["unproven"]:
        new = prove(app, new)
    return add_and_report(app, new, dry_run=options["dry_run"], as_json=options["as_json"])


def _importer(file: Path, rows: Sequence[Row], options: dict[str, Any]) -> Importer:
    from poor_bench.importers.registry import importer_named, recognise
    from poor_bench.importers.rows import columns_importer, require_columns

    if options["columns"]:
        columns = key_values(options["columns"], "--column")
        require_columns(columns, rows, str(file))
        return columns_importer(
            columns,
            evaluator=options["evaluator"],
            parameters=plain_key_values(options["parameters"], "--parameter"),
            template=options["template"],
        )
    name = options["format_name"]
    return importer_named(name) if name else recognise(rows[0])


def _chosen(rows: list[tuple[int, Row]], options: dict[str, Any]) -> list[tuple[int, Row]]:
    rows = rows[: options["limit"]]
    n_sample = options["sample"]
    if n_sample is None or n_sample >= len(rows):
        return rows
    generator = random.Random(options["seed"])
    return sorted(generator.sample(rows, n_sample), key=lambda numbered: numbered[0])


def _convert(importer: Importer, rows: list[tuple[int, Row]], options: dict[str, Any]) -> NewTests:
    from poor_bench.importers.imported import RowError, to_tests

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
