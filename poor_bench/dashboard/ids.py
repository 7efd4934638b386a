"""Ids of the shell. Pages have their own enum beside them: `<page>-<thing>-<kind>`."""

from __future__ import annotations

from enum import StrEnum


class ShellIds(StrEnum):
    """What stands around every page."""

    ADDRESS = "shell-address-store"
    """Path and search of the page that is shown; `assets/address.js` follows the browser's."""
    VERSION = "shell-version-store"
    """A text that changes whenever there is something new to show; pages listen to it."""
    CLOCK = "shell-clock-interval"
    NAVIGATION = "shell-navigation-nav"
    RUN_STATUS = "shell-run-status"
    REFRESH = "shell-refresh-button"
    NOTICES = "shell-notices-container"
    PROBLEMS = "shell-problems-banner"
    PAGE = "shell-page-main"
