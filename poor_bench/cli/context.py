"""What the commands share: the workspace folder and what is opened in it on demand."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from poor_bench.config.workspace import Workspace
    from poor_bench.plugins import EvaluatorRegistry
    from poor_bench.results.store import ResultStore
    from poor_bench.workspace_folder import WorkspaceFolder


class AppContext:
    """Opens the workspace, the evaluators and the store when a command first asks for them."""

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
    def evaluators(self) -> EvaluatorRegistry:
        """The evaluators of the workspace and the project."""
        return self.config.evaluators

    @cached_property
    def store(self) -> ResultStore:
        """The results of the workspace."""
        return self.config.store


pass_app = click.make_pass_decorator(AppContext)
