"""Views of a page: for an agent, and for the replay of a trial.

An agent sees the accessibility tree, one element a line, indented by two spaces per level, such as
`- button "Search" [ref=e12]`. It is the format of Playwright's `aria_snapshot(mode="ai")`; elements
in frames have refs like `f1e2`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from poor_bench.evaluation.agent import Step, TrialControl
from poor_bench.evaluation.browser.session import ActionError, BrowserSession
from poor_bench.ports import Clock

if TYPE_CHECKING:
    from playwright.sync_api import Page


_LONGEST_TEXT = 100_000
_LONGEST_TITLE = 200
_LONGEST_URL = 1000
_PASSWORDS = "fields => fields.map(field => field.value).filter(value => value)"
_VISIBLE_TEXT = f"() => (document.body?.innerText ?? '').slice(0, {_LONGEST_TEXT})"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """View of a page for an agent, without secrets."""

    url: str
    title: str
    tree: str
    """See `tree`; empty where the page cannot be read."""
    text: str
    """All that is visible, as plain text."""
    notes: tuple[str, ...] = ()
    """Unrequested events, such as dialogs."""

    @property
    def fingerprint(self) -> int:
        """The same number within this process for pages that differ at most in their focus."""
        return hash((self.url, self.tree.replace(" [active]", "")))


def observe(session: BrowserSession) -> PageView:
    """Read the tab that is shown.

    Raises:
        AgentError: If the browser is gone.
        OutOfTimeError: If the time limit is reached.
        RunCancelledError: If the run was stopped.
    """
    clean = session.redactor.text
    notes = session.take_notes()
    try:
        with session.errors():
            page = session.page
            tree = write_compact_tree(page.aria_snapshot(mode="ai"))
            tree = clean(hide_passwords(tree, _find_passwords(page)))
            return PageView(
                url=clean(page.url[:_LONGEST_URL]),
                title=clean(page.title()[:_LONGEST_TITLE]),
                tree=tree,
                text=clean(str(page.evaluate(_VISIBLE_TEXT))),
                notes=notes,
            )
    except ActionError as error:
        unreadable = f"the page cannot be read: {error}"
        return PageView(url="", title="", tree="", text="", notes=(*notes, unreadable))


def _find_passwords(page: Page) -> list[str]:
    return [
        value
        for frame in page.frames
        for value in frame.eval_on_selector_all("input[type=password]", _PASSWORDS)
    ]


REF = re.compile(r"^(f[0-9]+)?e[0-9]+$")
"""Also stands in JSON Schemas, so in the few signs that all servers understand."""
_ELEMENT = re.compile(
    r"^(?P<indent> *)- (?P<what>.*?) \[ref=(?P<ref>(?:f[0-9]+)?e[0-9]+)\](?P<rest>.*)$"
)
_WRAPPER = re.compile(r"^ *- generic( \[active\])? \[ref=(f[0-9]+)?e[0-9]+\]:$")
_STATE = re.compile(r' \[(?!ref=)[a-z]+(=[^\[\]]*)?\]')  # fmt: skip
_HIDDEN = "[hidden]"


def write_compact_tree(tree: str) -> str:
    """Remove elements that only contain others; these move up."""
    lines: list[str] = []
    left_out: list[int] = []
    for line in tree.splitlines():
        indent = len(line) - len(line.lstrip(" "))
        while left_out and left_out[-1] >= indent:
            left_out.pop()
        if _WRAPPER.match(line):
            left_out.append(indent)
        else:
            lines.append(line[2 * len(left_out) :])
    return "\n".join(lines)


def hide_passwords(tree: str, passwords: Collection[str]) -> str:
    """Hide what was typed into password fields from the text fields of a tree."""
    hidden = {shown for value in passwords if value for shown in (value, json.dumps(value))}
    return "\n".join(_hide_password(line, hidden) for line in tree.splitlines())


def _hide_password(line: str, hidden: Collection[str]) -> str:
    before, separator, value = line.partition("]: ")
    is_field = before.lstrip(" -").startswith(("textbox", "searchbox"))
    return f"{before}{separator}{_HIDDEN}" if is_field and value in hidden else line


def shorten_tree(tree: str, most_characters: int) -> tuple[str, int]:
    """Cut a tree to its start; return it with the number of omitted lines."""
    if len(tree) <= most_characters:
        return tree, 0
    kept: list[str] = []
    lines, length = tree.splitlines(), 0
    for line in lines:
        length += len(line) + 1
        if length > most_characters:
            break
        kept.append(line)
    if not kept:
        return lines[0][:most_characters], len(lines) - 1
    return "\n".join(kept), len(lines) - len(kept)


def find_refs(tree: str) -> list[str]:
    """List the references of all elements, in the order of the page."""
    found = (_ELEMENT.match(line) for line in tree.splitlines())
    return [match["ref"] for match in found if match is not None]


def describe_element(tree: str, ref: str) -> str | None:
    """Describe an element in words, such as `button "Search"`; None for an unknown ref.

    Example:
        >>> describe_element('- button "Search" [ref=e12] [cursor=pointer]', "e12")
        'button "Search"'
    """
    for line in tree.splitlines():
        found = _ELEMENT.match(line)
        if found is not None and found["ref"] == ref:
            what = _STATE.sub("", found["what"])
            text = "" if '"' in what else found["rest"].partition(": ")[2]
            return f"{_unquote(what)} {text[:60]}".rstrip()
    return None


def _unquote(what: str) -> str:
    """Remove the quotes of YAML from an element; they begin before its role."""
    return what[1:].replace("''", "'") if what.startswith("'") else what


_NO_ACTIONS = frozenset({"done", "wait", "expect", "extract", "capture", "when", "for_each", ""})
"""Kinds of steps that do not act on the page."""


def acts(kind: str) -> bool:
    """True if a step of this kind acts on the page."""
    return kind not in _NO_ACTIONS


class StepLog:
    """Reports the steps of one part of a trial."""

    def __init__(self, session: BrowserSession, control: TrialControl, clock: Clock) -> None:
        self._session = session
        self._control = control
        self._clock = clock
        self._started_s = clock.monotonic()

    def begin(self) -> None:
        """Start the time of the next step."""
        self._started_s = self._clock.monotonic()

    def report(self, step: Step) -> str:
        """Fill in number, time and page of a step, and report it.

        Returns:
            The result of the step with the events beside it.
        """
        duration_ms = (self._clock.monotonic() - self._started_s) * 1000
        self._session.n_steps += 1
        number = self._session.n_steps
        url, title, screenshot = self._look(number)
        notes = self._session.take_notes()
        whole = replace(
            step,
            number=number,
            url=url,
            title=title,
            result="; ".join(part for part in (step.result, *notes) if part),
            screenshot=screenshot,
            duration_ms=duration_ms,
        )
        clean = self._session.redactor.step(whole)
        self._control.note_step(clean)
        return clean.result

    def _look(self, number: int) -> tuple[str, str, str]:
        try:
            self._session.save_downloads()
            with self._session.errors():
                page = self._session.page
                url, title = page.url, page.title()
            return url, title, self._session.screenshot(number)
        except ActionError:
            return "", "", ""
