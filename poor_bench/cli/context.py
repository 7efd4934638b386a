"""What commands share: the workspace, what is opened in it on demand, and the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from poor_bench.cli.output import say, show_status
from poor_bench.command_line import next_command, use_workspace
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from poor_bench.cluster.cluster import Cluster
    from poor_bench.config.load import Workspace
    from poor_bench.judge.storage import JudgementStore
    from poor_bench.models.llm import LLM
    from poor_bench.plugins import EvaluatorRegistry
    from poor_bench.results.store import ResultStore
    from poor_bench.workspace_folder import WorkspaceFolder


class AppContext:
    """The workspace, its evaluators and its results, each opened on first use."""

    def __init__(self, data_dir: Path, *, is_given: bool = False) -> None:
        """Hold a workspace folder.

        Args:
            data_dir: The folder.
            is_given: True if the command line names it.
        """
        self.data_dir = data_dir
        self.is_given = is_given

    @cached_property
    def config(self) -> WorkspaceFolder:
        """The manager of the workspace's files."""
        from poor_bench.workspace_folder import WorkspaceFolder

        return WorkspaceFolder(self.data_dir)

    @cached_property
    def workspace(self) -> Workspace:
        """The validated workspace.

        Raises:
            ConfigError: With every problem of every file.
        """
        return self.config.workspace

    @cached_property
    def llm_names(self) -> dict[str, str]:
        """LLM id to the name that screens show."""
        return {llm.id: llm.label or llm.id for llm in self.workspace.llms}

    @cached_property
    def evaluators(self) -> EvaluatorRegistry:
        """The evaluators of the workspace and the project."""
        return self.config.evaluators

    @cached_property
    def store(self) -> ResultStore:
        """The results of the workspace."""
        return self.config.store

    @cached_property
    def judgements(self) -> JudgementStore:
        """The judged runs of the workspace."""
        from poor_bench.judge.storage import JudgementStore

        return JudgementStore(self.data_dir)

    def find_llm(self, name: str) -> LLM:
        """Find the LLM that an id, label or prefix names, enabled or not.

        Raises:
            ConfigError: If it names no LLM, or several; the hint names the nearest.
        """
        from poor_bench.config.names import llm_named

        return llm_named(name, self.workspace.llms)


pass_app = click.make_pass_decorator(AppContext)


FOLDER = click.Path(path_type=Path, file_okay=False)
DEFAULT_FOLDER = Path("data")


def accept_workspace(command: click.Command) -> None:
    """Give `--data` to a command, and to all commands of a group."""
    if not any("--data" in parameter.opts for parameter in command.params):
        command.params.append(_build_option())
    if isinstance(command, click.Group):
        for each in command.commands.values():
            accept_workspace(each)


def _build_option() -> click.Option:
    return click.Option(
        ["--data", "data_dir"],
        type=FOLDER,
        metavar="DIR",
        expose_value=False,
        is_eager=True,
        callback=_use_workspace_option,
        help="Workspace folder.",
    )


def _use_workspace_option(context: click.Context, _: click.Parameter, folder: Path | None) -> None:
    """Use a folder instead of the default one.

    Raises:
        click.UsageError: If another folder was given before.
    """
    app = context.find_object(AppContext)
    if folder is None or app is None:
        return
    if app.is_given and folder.resolve() != app.data_dir.resolve():
        message = f"--data names two workspaces: {app.data_dir} and {folder}"
        raise click.UsageError(message, context)
    app.data_dir, app.is_given = folder, True
    use_workspace(folder)


_FILTERS = frozenset({"--llm", "--class", "--level", "--test", "--tag", "--trials", "--shard"})


def write_next_step(words: str) -> str:
    """Build a further command line with the filters that the running command was given.

    Args:
        words: A command that takes the filters of the running command.
    """
    context = click.get_current_context(silent=True)
    return next_command(words, *([] if context is None else _list_given_filters(context)))


def _list_given_filters(context: click.Context) -> Iterator[str]:
    for parameter in context.command.params:
        option = next((name for name in parameter.opts if name in _FILTERS), None)
        name = parameter.name or ""
        if option and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            value = context.params[name]
            for each in value if parameter.multiple else (value,):
                yield from (option, str(each))


cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Ask and score on the workers of a dask scheduler (tcp://HOST:8786), or of N processes "
    "here (local:N).",
)


def use_cluster(app: AppContext, address: str | None) -> Cluster | None:
    """Open the cluster that the option names until the command ends; None without the option.

    Raises:
        ConfigError: If nobody answers there, or no worker can be used.
        MissingExtraError: If the extra `cluster` is not installed.
    """
    if address is None:
        return None
    return click.get_current_context().with_resource(open_chosen_cluster(app, address))


@contextmanager
def open_chosen_cluster(app: AppContext, address: str) -> Iterator[Cluster]:
    """Open a cluster for a workspace; tell on standard error what happens to workers.

    Raises:
        ConfigError: If nobody answers there, or no worker can be used.
        MissingExtraError: If the extra `cluster` is not installed.
    """
    from poor_bench.cluster.cluster import open_cluster
    from poor_bench.sandbox import find_lowest_level
    from poor_bench.workspace_runner import accept_level_in

    accept_level_in(app.data_dir)
    with ExitStack() as stack:
        with show_status(f"Connecting to the cluster {address}"):
            opened = open_cluster(address, app.workspace, find_lowest_level(), tell=_tell)
            cluster = stack.enter_context(opened)
        say(_describe(cluster), err=True)
        yield cluster


def _tell(sentence: str) -> None:
    say(sentence, err=True)


def _describe(cluster: Cluster) -> str:
    ready = [member for member in cluster.session.table.members if member.readiness]
    n_threads = sum(member.n_threads for member in ready)
    hosts = {member.host for member in ready}
    return (
        f"Cluster: {write_count(len(ready), 'worker')} on {write_count(len(hosts), 'machine')}, "
        f"{write_count(n_threads, 'thread')}."
    )
