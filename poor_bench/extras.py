"""Packages that are not installed by default."""

from __future__ import annotations

import importlib
import re
from types import ModuleType

from poor_bench.command_line import write_python_command
from poor_bench.errors import MissingExtraError


def import_extra(module: str, needed_by: str, requirement: str) -> ModuleType:
    """Import a package that is not installed by default.

    Args:
        module: What is imported.
        needed_by: The beginning of the message, such as "`tune prompt` needs".
        requirement: The package as pip takes it.

    Raises:
        MissingExtraError: If it is not installed; the hint installs it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = re.split("[<>=]", requirement)[0]
        hint = write_python_command("-m pip install", requirement)
        raise MissingExtraError(f"{needed_by} the package {package}", hint=hint) from error
