"""`tests generate`: add tests made by rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from poor_bench.cli.adding_tests import NewTests, add_and_report, prove
from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import console, json_option, plain_table, print_json
from poor_bench.cli.selection_options import levels_in
from poor_bench.command_line import examples, python_command
from poor_bench.messages import counted

if TYPE_CHECKING:
    from poor_bench.generators.generator import Generator

_EPILOG = examples(
    """
  {program} tests generate                          all generators
  {program} tests generate arithmetic --count 50
  {program} tests generate code --level 3-5 --count 20 --seed 7
  {program} tests generate reasoning_gym.leg_counting
"""
)


@click.command(epilog=_EPILOG)
@click.argument("generator", required=False)
@click.option(
    "--class", "class_id", metavar="ID", help="Test class. Default: the name of the generator."
)
@click.option(
    "--level", "levels", default="1-5", show_default=True, metavar="N|N-M", help="Levels."
)
@click.option(
    "--count",
    "n_tests",
    type=click.IntRange(1, 10_000),
    default=25,
    show_default=True,
    help="Number of tests, spread evenly over the levels.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed.")
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
    from poor_bench.generators.registry import generator_named

    if generator is None:
        return _list_generators(as_json=as_json)
    chosen = generator_named(generator)
    new = _draw(chosen, class_id or chosen.name.replace(".", "_"), levels_in(levels), n_tests, seed)
    return add_and_report(app, prove(app, new), dry_run=dry_run, as_json=as_json)


def _draw(generator: Generator, class_id: str, levels: range, n_tests: int, seed: int) -> NewTests:
    from poor_bench.generators.generator import LEVELS
    from poor_bench.generators.generator import generate as draw

    if not set(levels) <= set(LEVELS):
        raise click.UsageError(f"--level: generators have levels {LEVELS[0]} to {LEVELS[-1]}")
    tests = list(draw(generator, class_id, levels, n_tests, seed))
    lacking = n_tests - len(tests)
    refused = [f"{counted(lacking, 'test')}: no more different ones exist"] if lacking else []
    return NewTests(
        class_entry={"id": class_id, **generator.class_entry}, tests=tests, refused=refused
    )


def _list_generators(*, as_json: bool) -> int:
    from importlib.util import find_spec

    from poor_bench.generators.reasoning_gym import family_names
    from poor_bench.generators.registry import GENERATORS

    families = list(family_names())
    rows = [[generator.name, generator.description] for generator in GENERATORS.values()]
    if as_json:
        rows += [[name, "A family of the library reasoning-gym"] for name in families]
        print_json({"generators": [{"name": name, "description": text} for name, text in rows]})
        return 0
    console().print(plain_table(["Generator", "Makes"], rows))
    install = python_command("-m pip install reasoning-gym")
    way = "" if find_spec("reasoning_gym") else f" (not installed: {install})"
    click.echo(f"From the library reasoning-gym{way}:")
    console().print(", ".join(families))
    return 0
