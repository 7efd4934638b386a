"""The web dashboard: pages over one workspace, with the runner inside."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_MANTINE = "dash_mantine_components"

USED_COMPONENTS = """
    ActionIcon Button Checkbox CheckboxGroup ColorSchemeToggle MantineProvider Modal
    MultiSelect NotificationContainer NumberInput Popover PopoverDropdown PopoverTarget
    Progress ProgressRoot ProgressSection SegmentedControl Select TextInput Textarea Tooltip
""".split()  # noqa: SIM905 - the list of visible texts leaves out what is split
"""The components of Mantine that pages use."""


class UsedComponents(ModuleType):
    """Replace Mantine's module `_imports_`, which imports all 190 components at each start.

    Used ones are imported at the start, not when a page first needs them: each document lists
    which of their properties can hold other components.
    """

    __all__ = list(USED_COMPONENTS)  # noqa: RUF012 - Mantine adds to it

    def __getattr__(self, name: str) -> Any:
        if name not in USED_COMPONENTS:
            raise AttributeError(name)
        return getattr(import_module(f"{_MANTINE}.{name}"), name)


sys.modules.setdefault(f"{_MANTINE}._imports_", UsedComponents(f"{_MANTINE}._imports_"))
