"""Parse the command line, run one command, turn errors into messages and exit codes."""

from __future__ import annotations

import importlib
import re
import sys
import traceback
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.core import ParameterSource

from poor_bench import __version__
from poor_bench.cli.context import DEFAULT_FOLDER, FOLDER, AppContext, accept_workspace
from poor_bench.cli.process import discard_output, leave, open_missing_streams
from poor_bench.command_line import find_program, next_command, use_workspace, write_examples
from poor_bench.errors import PoorBenchError
from poor_bench.messages import harmless

if TYPE_CHECKING:
    from poor_bench.config.load import Workspace


COMMANDS = {
    "run": "Run all pending tests and score the responses.",
    "status": "Show completed, pending, failed and stale trials per model.",
    "report": "Show or export the scores.",
    "issues": "Show the causes of lost score, and suggestions.",
    "compare": "Show what got better or worse, and whether it is significant.",
    "gate": "Check results against limits, for continuous integration.",
    "results": "Show single results: prompt, thinking, response, score.",
    "ratings": "Export, import and use people's scores of answers.",
    "rescore": "Score stored responses again with the current evaluators.",
    "tune": "Find a better prompt or better parameters, and prove it.",
    "judge": "Have models judge agents, and measure how reliable the judges are.",
    "suite": "Run suites of cases for computer-using agents.",
    "batches": "List and cancel batches at providers.",
    "runs": "List, watch and delete stored runs of every kind.",
    "llms": "List, add, discover and try models.",
    "tests": "List, check, import and generate tests.",
    "evaluators": "List evaluators, show their parameters, create one.",
    "validate": "Check all files of the workspace.",
    "init": "Create a workspace with commented examples.",
    "dashboard": "Serve the dashboard on this machine.",
    "sandbox": "Show and test the sandbox for model-written code.",
    "doctor": "Check the installation, the workspace and the endpoints.",
}
"""Name of each command, which is also its module in `poor_bench.cli`, and its help line."""


_EPILOG = (
    write_examples("  {program} run\n  {program} run --data my_bench --llm 'ollama:*'")
    + """

\b
Exit codes: 0 done, 1 a gate failed, 2 wrong file or option, 3 trials that failed to run or
have no current score, 4 results that cannot be read or written, 70 an internal error,
130 interrupted.
"""
)


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, so that `--help` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the names in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command and return its `command`."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"poor_bench.cli.{cmd_name}").command
        accept_workspace(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help lines without importing a single command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the nearest command if the name is unknown."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            nearest = get_close_matches(name, COMMANDS, n=1)
            hint = f" Did you mean `{nearest[0]}`?" if nearest else ""
            ctx.fail(f"The command `{name}` does not exist.{hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "show_default": True,
    },
    epilog=_EPILOG,
)
@click.option(
    "--data",
    "data_dir",
    type=FOLDER,
    metavar="DIR",
    envvar="POOR_BENCH_DATA",
    default=DEFAULT_FOLDER,
    help="Workspace folder.",
)
@click.version_option(__version__, prog_name="poor_bench")
@click.pass_context
def root(ctx: click.Context, data_dir: Path) -> None:
    """Find out how good an LLM is at your tasks, on your machine, and why it fails."""
    is_given = ctx.get_parameter_source("data_dir") is ParameterSource.COMMANDLINE
    ctx.obj = AppContext(data_dir, is_given=is_given)
    use_workspace(data_dir if is_given else None)
    if ctx.invoked_subcommand is None:
        command = root.get_command(ctx, "status")
        assert command is not None
        ctx.invoke(command)


_INTERNAL_ERROR = 70
"""EX_SOFTWARE of sysexits.h; 1, with which Python ends, would say that a gate failed."""


def console() -> NoReturn:
    """Run the command line and end the process with its exit code, 70 after a fault of ours."""
    try:
        code = main()
    except Exception:  # noqa: BLE001 - printed, as Python would
        traceback.print_exc()
        code = _INTERNAL_ERROR
    leave(code)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Returns:
        0 done, 1 a gate failed, 2 usage or configuration, 3 some trials failed to run or have no
        current score, 4 the store, 130 interrupted.
    """
    open_missing_streams()
    use_workspace(None)
    try:
        with root.make_context(
            find_program(), sys.argv[1:] if arguments is None else arguments
        ) as ctx:
            value: Any = _invoke(ctx)
    except click.ClickException as error:
        error.show()
        if isinstance(error, click.UsageError):
            _print_hints(error)
        return error.exit_code
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        return 130
    except OSError as error:
        return _report_os_error(error)
    return value if isinstance(value, int) else 0


def _invoke(ctx: click.Context) -> Any:
    """Run a command. Errors are printed here, while hints can still name its workspace."""
    try:
        return root.invoke(ctx)
    except PoorBenchError as error:
        from poor_bench.cli.output import print_error

        print_error(error)
        return error.exit_code


def _print_hints(error: click.UsageError) -> None:

    for line in list_option_hints(error):
        click.echo(f"  {harmless(line)}", err=True)


def _report_os_error(error: OSError) -> int:
    if isinstance(error, BrokenPipeError):
        discard_output()
        return 0
    where = f"{error.filename}: " if error.filename else ""
    click.echo(f"Error: {where}{error.strerror or error}", err=True)
    return 2


_STRAY = re.compile(r"\AGot unexpected extra arguments? \((.+)\)\Z")


def list_option_hints(error: click.UsageError) -> list[str]:
    """Explain by which options a command takes the words that it refused.

    Returns:
        A sentence for each known test, class, LLM, level or tag; none for other errors.
    """
    stray = _STRAY.search(error.message)
    app = error.ctx.find_object(AppContext) if error.ctx is not None else None
    if error.ctx is None or stray is None or app is None:
        return []
    try:
        return list(_find_hints(stray[1].split(), app.workspace, error.ctx))
    except PoorBenchError:  # the workspace cannot be read: the refusal itself says enough
        return []


def _find_hints(words: list[str], workspace: Workspace, context: click.Context) -> Iterator[str]:
    known = _list_known_names(workspace)
    taken = {option for parameter in context.command.params for option in parameter.opts}
    command = context.command_path.removeprefix(f"{context.find_root().command_path} ")
    for word in words:
        for option, (kind, names) in known.items():
            if option in taken and any(fnmatchcase(name, word) for name in names):
                line = next_command(command, option, word)
                yield f"{word} is a {kind}; use {option}: {line}"
                break


def _list_known_names(workspace: Workspace) -> dict[str, tuple[str, set[str]]]:
    tests, classes, llms = workspace.tests, workspace.test_classes, workspace.llms
    tags = {tag for test in tests for tag in (*test.tags, *classes[test.class_id].tags)}
    return {
        "--test": ("test", {test.test_id for test in tests}),
        "--class": ("test class", set(classes)),
        "--llm": ("model", {name for llm in llms for name in (llm.id, llm.label) if name}),
        "--level": ("level", {str(test.level) for test in tests}),
        "--tag": ("tag", tags),
    }
