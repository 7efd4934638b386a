"""Checks of the steps of a playbook beyond the form of each."""

from __future__ import annotations

import re

from poor_bench.config.nearest_name import name_hint
from poor_bench.config.report import Place, Report
from poor_bench.evaluation.browser.playbook.models import (
    CaptureStep,
    ExpectStep,
    ExtractStep,
    ForEachStep,
    PlaybookStep,
    Target,
    WaitStep,
    WhenStep,
)
from poor_bench.evaluation.browser.playbook.placeholders import names_in
from poor_bench.evaluation.browser.playbook.playbook import SERVER


class StepChecks:
    """Notes in a report what cannot work."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def check_steps(self, steps: list[PlaybookStep], place: Place, params: set[str]) -> None:
        """Check steps in their order.

        Args:
            steps: Of a playbook, or of a step that holds others.
            place: Where they stand.
            params: What placeholders may name; steps that fill parameters add theirs.
        """
        for at, step in enumerate(steps):
            self._check_step(step, (*place, at), params)

    def _check_step(self, step: PlaybookStep, place: Place, params: set[str]) -> None:
        kinds = sorted(step.model_fields_set)
        if len(kinds) != 1:
            written = " and ".join(f"`{kind}`" for kind in kinds) or "none"
            hint = f"use one of {', '.join(PlaybookStep.model_fields)}"
            message = f"a step must have exactly one key, not {written}"
            self._report.error(place, message, hint=hint, code="bad-step")
            return
        place = (*place, kinds[0])
        content = getattr(step, kinds[0])
        self._check_placeholders(content, place, params)
        if isinstance(content, Target):
            self._check_target(content, place)
            self._check_pattern(content, place, params)
        if isinstance(content, ForEachStep):
            self.check_steps(content.steps, (*place, "steps"), params | {content.param})
        elif isinstance(content, WhenStep):
            self.check_steps(content.steps, (*place, "steps"), params)

    def _check_placeholders(self, content: object, place: Place, params: set[str]) -> None:
        plain = content.model_dump(exclude={"steps"}) if hasattr(content, "model_dump") else content
        for name in names_in(plain):
            if name not in params | {SERVER}:
                hint = name_hint(name, sorted(params))
                message = f"parameter `{name}` does not exist"
                self._report.error(place, message, hint=hint, code="unknown-param")

    def _check_target(self, target: Target, place: Place) -> None:
        ways = [way for way in Target.ways if getattr(target, way) is not None]
        if len(ways) > 1:
            message = f"use one way to find the element, not {' and '.join(ways)}"
            self._report.error(place, message, code="bad-target")
        if target.name is not None and "role" not in ways:
            self._report.error(place, "`name` goes with `role`", code="bad-target")
        if not ways and not _may_go_without(target):
            hint = f"use one of {', '.join(Target.ways)}"
            self._report.error(place, "the element is missing", hint=hint, code="bad-target")

    def _check_pattern(self, step: Target, place: Place, params: set[str]) -> None:
        if not isinstance(step, ExtractStep | CaptureStep) or step.pattern is None:
            return
        try:
            pattern = re.compile(step.pattern)
        except re.error as error:
            message = f"is not a regular expression: {error}"
            self._report.error((*place, "pattern"), message, code="bad-pattern")
            return
        if isinstance(step, CaptureStep):
            params |= set(pattern.groupindex)
            if not pattern.groupindex:
                hint = "name a group, such as (?P<order>[0-9]+)"
                message = "captures nothing: it does not have a named group"
                self._report.error((*place, "pattern"), message, hint=hint, code="bad-pattern")


def _may_go_without(step: Target) -> bool:
    """True if a step makes sense without an element: about the page, or about time."""
    if isinstance(step, WaitStep):
        return step.seconds is not None
    if isinstance(step, ExpectStep):
        return step.url_contains is not None or step.title_contains is not None
    if isinstance(step, ExtractStep):
        return step.attribute is None and not step.all
    return isinstance(step, CaptureStep)
