"""Carry out the steps of a playbook, one at a time."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import singledispatchmethod
from typing import Any

from poor_bench.config.file_models import FileModel
from poor_bench.evaluation.browser.actions import elements, pages
from poor_bench.evaluation.browser.data_paths import put
from poor_bench.evaluation.browser.playbook.locate import (
    find,
    is_there,
    matches,
    wait_until_absent,
)
from poor_bench.evaluation.browser.playbook.models import (
    CaptureStep,
    DoneStep,
    ExpectStep,
    ExtractStep,
    SelectStep,
    Target,
    TypeStep,
    WaitStep,
    WhenStep,
)
from poor_bench.evaluation.browser.session.errors import ActionError
from poor_bench.evaluation.browser.session.opening import open_url
from poor_bench.evaluation.browser.session.session import BrowserSession


@dataclass
class Stage:
    """Session that steps act on, and their results."""

    session: BrowserSession
    params: dict[str, str]
    data: dict[str, Any] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    """Extracted data."""
    summary: str = ""
    is_done: bool = False

    def do(self, kind: str, content: FileModel | str | bool) -> str:
        """Carry out one step, whose placeholders are filled; return what came of it, in words.

        Raises:
            ActionError: If the page does not allow it, or is not as it should be.
        """
        if isinstance(content, FileModel):
            return self._do(content)
        return self._do_to_page(kind, str(content))

    def _do_to_page(self, kind: str, content: str) -> str:
        if kind == "open":
            open_url(self.session, content)
            with self.session.errors():
                self.session.settle()
        elif kind == "press":
            pages.press(self.session, content)
        elif kind == "scroll":
            pages.scroll(self.session, content)
        else:
            pages.go_back(self.session)
        return "done"

    @singledispatchmethod
    def _do(self, content: FileModel) -> str:
        """A click: the only step that is a bare target."""
        assert isinstance(content, Target)
        elements.click(self.session, find(self.session, content))
        return "clicked"

    @_do.register
    def _(self, step: TypeStep) -> str:
        element = find(self.session, step)
        if step.credential:
            elements.fill_credential(self.session, element, step.credential, submit=step.submit)
            return f"typed the credential {step.credential}"
        elements.fill(self.session, element, step.value, submit=step.submit)
        return "typed"

    @_do.register
    def _(self, step: SelectStep) -> str:
        elements.select(self.session, find(self.session, step), step.option)
        return "selected"

    @_do.register
    def _(self, step: WaitStep) -> str:
        if step.seconds is not None:
            self.session.wait(step.seconds)
        elif step.absent:
            wait_until_absent(self.session, step)
        else:
            find(self.session, step)
        return "waited"

    @_do.register
    def _(self, step: ExpectStep) -> str:
        with self.session.errors():
            url, title = self.session.page.url, self.session.page.title()
        if step.url_contains is not None and step.url_contains not in url:
            raise ActionError(f"the URL {url} does not contain {step.url_contains!r}")
        if step.title_contains is not None and step.title_contains not in title:
            raise ActionError(f"the title {title!r} does not contain {step.title_contains!r}")
        if _names_element(step):
            wait_until_absent(self.session, step) if step.absent else find(self.session, step)
        return "as expected"

    @_do.register
    def _(self, step: ExtractStep) -> str:
        found = [_first_group(step.pattern, text) for text in self._texts_of(step)]
        put(self.data, step.key, found if step.all else found[0])
        self.texts += found
        return f"kept as {step.key}"

    @_do.register
    def _(self, step: CaptureStep) -> str:
        text = self._text_of(step)
        match = re.search(step.pattern, text)
        if match is None:
            raise ActionError(f"the pattern {step.pattern!r} does not match {text[:200]!r}")
        captured = {name: value or "" for name, value in match.groupdict().items()}
        self.params.update(captured)
        return f"captured {', '.join(captured)}"

    @_do.register
    def _(self, step: WhenStep) -> str:
        return "yes" if is_there(self.session, step) else "no"

    @_do.register
    def _(self, step: DoneStep) -> str:
        self.summary = step.summary
        for path, value in step.data.items():
            put(self.data, path, value)
        self.is_done = True
        return "done"

    def _texts_of(self, step: ExtractStep) -> list[str]:
        if step.all:
            with self.session.errors():
                elements_found = matches(self.session.page, step).all()
            return [elements.text_of(self.session, element) for element in elements_found]
        if step.attribute is None:
            return [self._text_of(step)]
        element = find(self.session, step)
        with self.session.errors():
            value = element.get_attribute(step.attribute)
        return [self.session.redactor.text(value or "")]

    def _text_of(self, step: Target) -> str:
        target = step if _names_element(step) else Target(css="body")
        return elements.text_of(self.session, find(self.session, target))


def _names_element(step: Target) -> bool:
    return any(getattr(step, way) is not None for way in Target.ways)


def _first_group(pattern: str | None, text: str) -> str:
    if pattern is None:
        return text.strip()
    found = re.search(pattern, text)
    if found is None:
        raise ActionError(f"the pattern {pattern!r} does not match {text[:200]!r}")
    return found[1] or "" if found.re.groups else found[0]
