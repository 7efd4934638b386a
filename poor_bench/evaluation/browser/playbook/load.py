"""Find and read playbook files, and report all their problems with lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from poor_bench.config.document import Document, open_document
from poor_bench.config.entry_validation import check_version, validate_entry
from poor_bench.config.load import raise_errors
from poor_bench.config.nearest_name import name_hint
from poor_bench.config.report import Place, Report
from poor_bench.config.yaml_document import parse_yaml
from poor_bench.evaluation.browser.playbook.models import (
    SERVER,
    CaptureStep,
    ExpectStep,
    ExtractStep,
    ForEachStep,
    Playbook,
    PlaybookAction,
    PlaybookFile,
    PlaybookStep,
    Target,
    WaitStep,
    WhenStep,
    names_in,
)
from poor_bench.models.problem import Problem
from poor_bench.safe_files import path_within

SUFFIX = ".yaml"
_PACKAGE = Path(__file__).parents[3]
_SHIPPED = (_PACKAGE.parent / "data" / "playbooks", _PACKAGE / "built_in_playbooks")
"""In the project, and in the package that `setup.py` builds."""


def playbook_folders(data_dir: Path) -> tuple[Path, ...]:
    """Folders of playbooks that have a name; the first match wins."""
    return data_dir / "playbooks", *_SHIPPED


def find_playbook(written: str, data_dir: Path, suite_folder: Path) -> Path | None:
    """Find the playbook of a case; None if it does not exist.

    Args:
        written: A name such as `shop_search`; with a slash or an ending, a path that starts at
            the folder of the suite. It may lead to that folder, a folder `suites` around it, or
            the workspace, and nowhere else.
        data_dir: Folder of the workspace.
        suite_folder: Folder of the suite file.
    """
    if _is_path(written):
        candidates = list(_inside(written, data_dir, suite_folder))
    else:
        candidates = [folder / f"{written}{SUFFIX}" for folder in playbook_folders(data_dir)]
    return next((path for path in candidates if path.is_file()), None)


def _inside(written: str, data_dir: Path, suite_folder: Path) -> Iterator[Path]:
    is_in_workspace = suite_folder.name == "suites"
    for folder in (suite_folder.parent if is_in_workspace else suite_folder, data_dir):
        with suppress(PermissionError):
            yield path_within(folder, written, start=suite_folder)


def missing_playbook_hint(written: str, data_dir: Path) -> str:
    """Say how to name a playbook where `find_playbook` finds none."""
    if _is_path(written):
        return "A path starts at the folder of the suite and stays inside the workspace."
    return name_hint(written, playbook_names(data_dir))


def _is_path(written: str) -> bool:
    return "/" in written or written.endswith(SUFFIX)


def playbook_names(data_dir: Path) -> list[str]:
    """Names of all playbooks."""
    folders = playbook_folders(data_dir)
    return sorted({path.stem for folder in folders for path in folder.glob(f"*{SUFFIX}")})


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


def load_playbook(path: Path) -> Playbook:
    """The playbook of a file.

    Raises:
        ConfigError: With every problem of the file, if there is one.
    """
    playbook, problems = read_playbook(path)
    raise_errors(problems)
    assert playbook is not None
    return playbook


def read_playbook(path: Path) -> tuple[Playbook | None, list[Problem]]:
    """The playbook of a file, None if it is broken, and its problems."""
    document, report = open_document(path, parse_yaml)
    playbook = None if document is None else _decode(document, report)
    return playbook, report.problems


def _decode(document: Document, report: Report) -> Playbook | None:
    raw = document.data
    if not isinstance(raw, dict):
        report.error((), "must be a mapping with `name` and `steps`", code="bad-type")
        return None
    check_version(raw, report)
    entry = validate_entry(PlaybookFile, raw, (), report)
    if entry is None:
        return None
    checks = StepChecks(report)
    checks.check_steps(entry.steps, ("steps",), set(entry.params))
    params = {name: None if value is None else str(value) for name, value in entry.params.items()}
    return Playbook(entry.name, params, _actions(entry.steps, ("steps",), document))


def _actions(
    steps: list[PlaybookStep], place: Place, document: Document
) -> tuple[PlaybookAction, ...]:
    return tuple(_action(step, (*place, at), document) for at, step in enumerate(steps))


def _action(step: PlaybookStep, place: Place, document: Document) -> PlaybookAction:
    kind = next(iter(step.model_fields_set), "")
    content = getattr(step, kind, None)
    inner: tuple[PlaybookAction, ...] = ()
    if isinstance(content, ForEachStep | WhenStep):
        inner = _actions(content.steps, (*place, kind, "steps"), document)
    return PlaybookAction(kind, content or "", document.line_of(place), inner)
