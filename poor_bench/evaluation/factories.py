"""Import what a suite names as `package.module:function`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from poor_bench.errors import ConfigError, describe_crash


def import_factory(written: str) -> Callable[..., Any]:
    """Import the function that `package.module:function` names.

    Modules are found in the current folder first, as `python -m` finds them, then among the
    installed packages.

    Raises:
        ConfigError: If the module cannot be imported, or does not have the function.
    """
    module_name, _, name = written.partition(":")
    _search_current_folder()
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        hint = (
            "modules are searched in the folder where the command starts, then in the installed "
            "packages; `examples` is part of the project folder, not of an installed package"
        )
        reason = describe_crash(error)
        raise ConfigError(f"cannot import `{module_name}`: {reason}", hint=hint) from error
    factory = getattr(module, name, None)
    if not callable(factory):
        raise ConfigError(f"`{module_name}` does not have a function `{name}`")
    found: Callable[..., Any] = factory
    return found


def _search_current_folder() -> None:
    """Put the current folder first on the search path: `python main.py` and scripts do not."""
    folder = str(Path.cwd())
    if folder not in sys.path and "" not in sys.path:
        sys.path.insert(0, folder)
    importlib.invalidate_caches()
