"""Import what a suite names as `package.module:function`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from poor_bench.errors import ConfigError, describe_crash


def import_factory(written: str) -> Callable[..., Any]:
    """Return the function that `package.module:function` names.

    Raises:
        ConfigError: If there is no such module or function, or the module fails.
    """
    module_name, _, name = written.partition(":")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        hint = (
            "modules are looked up from the folder that the command was started in; `examples` "
            "stand in the project's folder, and do not come with an installed package"
        )
        raise ConfigError(
            f"`{module_name}` cannot be imported: {describe_crash(error)}", hint=hint
        ) from error
    factory = getattr(module, name, None)
    if not callable(factory):
        raise ConfigError(f"`{module_name}` has no function `{name}`")
    found: Callable[..., Any] = factory
    return found
