"""Follow a playbook from its first step to its last, or to the one that fails."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from poor_bench.config.file_models import FileModel
from poor_bench.evaluation.agent import AgentOutcome, Step, TrialControl
from poor_bench.evaluation.browser.actions import (
    click,
    go_back,
    press,
    read_text,
    scroll,
    select,
    type_into,
)
from poor_bench.evaluation.browser.observation import StepLog, acts
from poor_bench.evaluation.browser.opening import visit
from poor_bench.evaluation.browser.playbook_file import (
    CaptureStep,
    DoneStep,
    ExpectStep,
    ExtractStep,
    ForEachStep,
    Playbook,
    PlaybookStep,
    SelectStep,
    Target,
    TypeStep,
    WaitStep,
    WhenStep,
    fill_placeholders,
)
from poor_bench.evaluation.browser.playbook_targets import (
    describe_target,
    find_element,
    is_visible,
    locate_all,
    wait_until_absent,
)
from poor_bench.evaluation.browser.session import ActionError, BrowserSession, OutOfTimeError
from poor_bench.evaluation.checks import set_path
from poor_bench.messages import write_count
from poor_bench.ports import Clock

_MOST_STEPS = 1000
"""Of any kind: a page that a loop goes over may be as long as it likes."""


def follow(
    playbook: Playbook,
    given: Mapping[str, Any],
    session: BrowserSession,
    control: TrialControl,
    clock: Clock,
    max_actions: int,
) -> AgentOutcome:
    """Do what a playbook says.

    Args:
        playbook: The steps.
        given: Parameters of the case.
        session: A live browser; left as the last step left it.
        control: Watches.
        clock: Source of time.
        max_actions: Most steps that do something to the page.

    Returns:
        Success if every step could be done; else the error says which could not, and why.

    Raises:
        ConfigError: If parameters are missing.
        AgentError: If the browser is gone.
        RunCancelledError: If the run was stopped.
    """
    run = PlaybookRun(session, playbook.params_with(given))
    follower = _Follower(run, StepLog(session, control, clock), max_actions)
    error = ""
    try:
        follower.do_all(playbook.steps)
    except ActionError as failed:
        error = session.redactor.text(str(failed))
    except OutOfTimeError:
        error = "the time limit is reached"
    return AgentOutcome(
        success=not error,
        summary="" if error else run.summary or f"The playbook {playbook.name!r} was followed.",
        error=error,
        data=run.data,
        extracted_text="\n".join(run.texts),
        actions=follower.n_actions,
        mode="playbook",
    )


class _Follower:
    """Goes through steps and tells each."""

    def __init__(self, run: PlaybookRun, log: StepLog, max_actions: int) -> None:
        self.n_actions = 0
        self._run = run
        self._log = log
        self._max_actions = max_actions
        self._n_steps = 0

    def do_all(self, steps: Sequence[PlaybookStep]) -> None:
        for step in steps:
            if self._run.is_done:
                return
            if isinstance(step.content, ForEachStep):
                self._repeat_for_each(step.content)
            else:
                self._do(step)

    def _repeat_for_each(self, loop: ForEachStep) -> None:
        whole = str(fill_placeholders(loop.of, self._run.params))
        for part in whole.split(loop.separator):
            if part.strip():
                self._run.params[loop.param] = part.strip()
                self.do_all(loop.steps)

    def _do(self, step: PlaybookStep) -> None:
        content = fill_placeholders(step.content, self._run.params)
        text = _describe(step.kind, content)
        where = f"line {step.line}: {text}"
        self._check_budget(where, step.kind)
        self._log.begin()
        result = error = ""
        try:
            result = self._run.do(step.kind, content)
        except ActionError as failed:
            error = str(failed)
        self.n_actions += acts(step.kind)
        action = _write_plain(step.kind, content)
        self._log.report(
            Step(number=0, part="playbook", action=action, text=text, result=result, error=error)
        )
        if error:
            raise ActionError(f"{where}: {error}")
        if isinstance(step.content, WhenStep) and result == "yes":
            self.do_all(step.content.steps)

    def _check_budget(self, where: str, kind: str) -> None:
        self._n_steps += 1
        if self.n_actions >= self._max_actions and acts(kind):
            n_actions = write_count(self.n_actions, "action")
            raise ActionError(f"{where}: stopped after {n_actions}; raise `max_steps`")
        if self._n_steps > _MOST_STEPS:
            raise ActionError(f"{where}: stopped after {_MOST_STEPS} steps")


def _write_plain(kind: str, content: FileModel | str | bool) -> dict[str, Any]:
    if isinstance(content, FileModel):
        return {"action": kind, **content.model_dump(exclude_unset=True, exclude={"steps"})}
    return {"action": kind, "value": content}


def _describe(kind: str, content: FileModel | str | bool) -> str:
    if isinstance(content, Target):
        return f"{kind} {describe_target(content)}"
    return kind if isinstance(content, FileModel | bool) else f"{kind} {content}"


@dataclass
class PlaybookRun:
    """Session that steps act on, and their results."""

    session: BrowserSession
    params: dict[str, str]
    data: dict[str, Any] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    """Extracted data."""
    summary: str = ""
    is_done: bool = False

    def do(self, kind: str, content: FileModel | str | bool) -> str:
        """Carry out one step, whose placeholders are filled; return its result, in words.

        Raises:
            ActionError: If the page does not allow it, or is not as it should be.
        """
        if isinstance(content, DoneStep):
            return self._finish(content)
        if isinstance(content, Target):
            return self._do_to_element(content)
        if kind == "open":
            visit(self.session, str(content))
        elif kind == "press":
            press(self.session, str(content))
        elif kind == "scroll":
            scroll(self.session, str(content))
        else:
            go_back(self.session)
        return "done"

    def _do_to_element(self, step: Target) -> str:
        session = self.session
        match step:
            case TypeStep():
                element, submit = find_element(session, step), step.submit
                result = type_into(session, element, step.value, step.credential, submit=submit)
            case SelectStep():
                select(session, find_element(session, step), step.option)
                result = "selected"
            case WaitStep():
                result = self._wait(step)
            case ExpectStep():
                result = self._expect(step)
            case ExtractStep():
                result = self._extract(step)
            case CaptureStep():
                result = self._capture(step)
            case WhenStep():
                result = "yes" if is_visible(session, step) else "no"
            case _:  # a click is the only step that is a bare target
                click(session, find_element(session, step))
                result = "clicked"
        return result

    def _wait(self, step: WaitStep) -> str:
        if step.seconds is not None:
            self.session.wait(step.seconds)
        elif step.absent:
            wait_until_absent(self.session, step)
        else:
            find_element(self.session, step)
        return "waited"

    def _expect(self, step: ExpectStep) -> str:
        with self.session.errors():
            url, title = self.session.page.url, self.session.page.title()
        if step.url_contains is not None and step.url_contains not in url:
            raise ActionError(f"the URL {url} does not contain {step.url_contains!r}")
        if step.title_contains is not None and step.title_contains not in title:
            raise ActionError(f"the title {title!r} does not contain {step.title_contains!r}")
        if step.ways:
            wait_until_absent(self.session, step) if step.absent else find_element(
                self.session, step
            )
        return "as expected"

    def _extract(self, step: ExtractStep) -> str:
        texts = self._read_texts(step)
        if step.pattern is not None:
            matches_found = [_search(step.pattern, text) for text in texts]
            texts = [(each[1] or "") if each.re.groups else each[0] for each in matches_found]
        else:
            texts = [text.strip() for text in texts]
        set_path(self.data, step.key, texts if step.all else texts[0])
        self.texts += texts
        return f"kept as {step.key}"

    def _capture(self, step: CaptureStep) -> str:
        groups = _search(step.pattern, self._read_target_text(step)).groupdict()
        captured = {name: value or "" for name, value in groups.items()}
        self.params.update(captured)
        return f"captured {', '.join(captured)}"

    def _finish(self, step: DoneStep) -> str:
        self.summary = step.summary
        for path, value in step.data.items():
            set_path(self.data, path, value)
        self.is_done = True
        return "done"

    def _read_texts(self, step: ExtractStep) -> list[str]:
        if step.all:
            with self.session.errors():
                elements = locate_all(self.session.page, step).all()
            return [read_text(self.session, element) for element in elements]
        if step.attribute is None:
            return [self._read_target_text(step)]
        element = find_element(self.session, step)
        with self.session.errors():
            value = element.get_attribute(step.attribute)
        return [self.session.redactor.text(value or "")]

    def _read_target_text(self, step: Target) -> str:
        target = step if step.ways else Target(css="body")
        return read_text(self.session, find_element(self.session, target))


def _search(pattern: str, text: str) -> re.Match[str]:
    found = re.search(pattern, text)
    if found is None:
        raise ActionError(f"the pattern {pattern!r} does not match {text[:200]!r}")
    return found
