"""What happens in a browser without being asked for: tabs, dialogs, crashes, downloads."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Dialog, Download, Page


_MOST_TABS = 8
_LONGEST_DIALOG = 200
_MOST_DOWNLOADS = 50
_MOST_DOWNLOADED_BYTES = 500_000_000
"""A page can make files by itself, which no limit of the network counts."""


class PageEvents:
    """Listens to a browser context and keeps notes until somebody takes them.

    Dialogs are accepted, since a page is stuck while one is open, and their text is noted.
    A page that closes meanwhile is not an error: what a listener raises would hit another call.
    Downloads are saved in one folder, under names that cannot leave it.
    """

    def __init__(self, context: BrowserContext, downloads: Path) -> None:
        self._context = context
        self._folder = downloads
        self._notes: list[str] = []
        self._downloads: list[Download] = []
        self._n_downloads = 0
        self._n_bytes_left = _MOST_DOWNLOADED_BYTES
        self._crashed: list[Page] = []
        context.on("page", self._take_tab)
        context.on("dialog", self._take_dialog)

    def note(self, text: str) -> None:
        """Add a note of somebody else."""
        self._notes.append(text)

    def is_usable(self, page: Page) -> bool:
        """True if a tab is neither closed nor crashed."""
        return not page.is_closed() and page not in self._crashed

    def save_downloads(self) -> None:
        """Save what was downloaded since the last time."""
        while self._downloads:
            self._save(self._downloads.pop(0))

    def take_notes(self) -> tuple[str, ...]:
        """Take the notes since the last call."""
        notes = tuple(self._notes)
        self._notes.clear()
        return notes

    def _take_tab(self, page: Page) -> None:
        from playwright.sync_api import Error

        page.on("download", self._take_download)
        page.on("crash", self._take_crash)
        n_tabs = len(self._context.pages)
        if n_tabs > _MOST_TABS:
            with suppress(Error):
                page.close()
            self.note(f"a new tab was closed: {_MOST_TABS} are open already")
        elif n_tabs > 1:
            self.note("a new tab was opened and is shown")

    def _take_dialog(self, dialog: Dialog) -> None:
        from playwright.sync_api import Error

        self.note(
            f"the page showed a dialog, which was accepted: {_shorten_dialog(dialog.message)!r}"
        )
        with suppress(Error):
            dialog.accept()

    def _take_crash(self, page: Page) -> None:
        self._crashed.append(page)
        self.note("a page crashed and was closed")

    def _take_download(self, download: Download) -> None:
        from playwright.sync_api import Error

        self._n_downloads += 1
        if self._n_downloads <= _MOST_DOWNLOADS and self._n_bytes_left > 0:
            self._downloads.append(download)
            return
        with suppress(Error):
            download.cancel()
        self.note("a download was cancelled: the trial has downloaded too much")

    def _save(self, download: Download) -> None:
        self._folder.mkdir(exist_ok=True)
        taken = {path.name for path in self._folder.iterdir()}
        name = make_safe_file_name(download.suggested_filename, taken)
        path = self._folder / name
        download.save_as(path)
        download.delete()
        self._n_bytes_left -= path.stat().st_size
        if self._n_bytes_left < 0:
            path.unlink()
            self.note("a download was removed: the trial has downloaded too much")
            return
        self.note(f"a file was downloaded: {self._folder.name}/{name}")


def _shorten_dialog(text: str) -> str:
    return text if len(text) <= _LONGEST_DIALOG else f"{text[:_LONGEST_DIALOG]}..."


_LONGEST_NAME = 80
_RESERVED = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


def make_safe_file_name(suggested: str, taken: Collection[str] = ()) -> str:
    """Make a file name like `suggested` that stays in its folder and is new there.

    Example:
        >>> make_safe_file_name("../../etc/pass wd"), safe_file_name("a.csv", {"a.csv"})
        ('pass_wd', 'a-2.csv')
    """
    last = re.split(r"[/\\]", suggested)[-1]
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", last).strip("._")[-_LONGEST_NAME:].lstrip("._-")
    if not plain or _RESERVED.match(plain):
        plain = f"file_{plain}".rstrip("_")
    path = PurePosixPath(plain)
    number, name = 1, plain
    while name in taken:
        number += 1
        name = f"{path.stem}-{number}{path.suffix}"
    return name
