"""Import what a suite names as `package.module:function`."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from poor_bench.config.nearest_name import name_hint
from poor_bench.errors import ConfigError, describe_crash

_WHERE = (
    "modules are searched in the folder where the command starts, then in the installed packages; "
    "`examples` is part of the project folder, not of an installed package"
)


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
        if isinstance(error, ModuleNotFoundError) and _is_part(error.name, module_name):
            raise _unknown_module(module_name, str(error.name)) from None
        reason = describe_crash(error)
        raise ConfigError(f"cannot import `{module_name}`: {reason}", hint=_WHERE) from error
    factory = getattr(module, name, None)
    if not callable(factory):
        functions = [each for each, value in vars(module).items() if callable(value)]
        message = f"`{module_name}` does not have a function `{name}`"
        raise ConfigError(message, hint=name_hint(name, functions))
    found: Callable[..., Any] = factory
    return found


def _is_part(missing: str | None, module_name: str) -> bool:
    """True if the written module is missing, and not one that it imports."""
    return bool(missing) and f"{module_name}.".startswith(f"{missing}.")


def _unknown_module(module_name: str, missing: str) -> ConfigError:
    parent, _, name = missing.rpartition(".")
    path = getattr(sys.modules.get(parent), "__path__", None) if parent else None
    beside = [each.name for each in pkgutil.iter_modules(path)] if path or not parent else []
    near = name_hint(name, beside)
    message = f"cannot import `{module_name}`: the module `{missing}` does not exist"
    return ConfigError(message, hint="; ".join(filter(None, (near, _WHERE))))


def _search_current_folder() -> None:
    """Put the current folder first on the search path: `python main.py` and scripts do not."""
    folder = str(Path.cwd())
    if folder not in sys.path and "" not in sys.path:
        sys.path.insert(0, folder)
    importlib.invalidate_caches()
