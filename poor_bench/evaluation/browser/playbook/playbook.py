"""A playbook in memory: steps that know where in their file they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from poor_bench.config.file_models import FileModel
from poor_bench.config.nearest_name import name_hint
from poor_bench.errors import ConfigError

SERVER = "server"
"""A parameter that every playbook has: the address of the suite's own server."""


@dataclass(frozen=True, slots=True)
class PlaybookAction:
    """One step."""

    kind: str
    """Its key, such as `click`."""
    content: FileModel | str | bool
    line: int | None
    steps: tuple[PlaybookAction, ...] = ()
    """Of `for_each` and `when`."""


@dataclass(frozen=True, slots=True)
class Playbook:
    """Steps, and the parameters that they need."""

    name: str
    params: Mapping[str, str | None]
    """With defaults; None where the case has to give a value."""
    steps: tuple[PlaybookAction, ...]

    def params_with(self, given: Mapping[str, object]) -> dict[str, str]:
        """The value of every parameter, as text.

        Raises:
            ConfigError: If one is missing, or the playbook does not know one.
        """
        for name in given:
            if name not in self.params and name != SERVER:
                hint = name_hint(name, list(self.params))
                raise ConfigError(
                    f"the playbook {self.name!r} does not have a parameter {name!r}", hint=hint
                )
        values = {**self.params, **{name: str(value) for name, value in given.items()}}
        missing = [name for name, value in values.items() if value is None]
        if missing:
            raise ConfigError(
                f"the playbook {self.name!r} needs the parameters {', '.join(missing)}",
                hint="set them in `playbook_params`",
            )
        return {name: value for name, value in values.items() if value is not None}
