"""Find and read playbook files, and report all their problems with lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from poor_bench.config.document import Document, open_document
from poor_bench.config.entry_validation import check_version, validate_entry
from poor_bench.config.file_models import FileModel
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
    PlaybookStep,
    Target,
    WaitStep,
    WhenStep,
    find_placeholders,
)
from poor_bench.models.problem import Problem
from poor_bench.safe_files import path_within

SUFFIX = ".yaml"
_PACKAGE = Path(__file__).parents[3]
_SHIPPED = (_PACKAGE.parent / "data" / "playbooks", _PACKAGE / "built_in_playbooks")
"""In the project, and in the package that `setup.py` builds."""


def list_playbook_folders(data_dir: Path) -> tuple[Path, ...]:
    """List the folders of playbooks that have a name; the first match wins."""
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
        candidates = _resolve(written, data_dir, suite_folder)
    else:
        candidates = (folder / f"{written}{SUFFIX}" for folder in list_playbook_folders(data_dir))
    return next((path for path in candidates if path.is_file()), None)


def _resolve(written: str, data_dir: Path, suite_folder: Path) -> Iterator[Path]:
    is_in_workspace = suite_folder.name == "suites"
    for folder in (suite_folder.parent if is_in_workspace else suite_folder, data_dir):
        with suppress(PermissionError):
            yield path_within(folder, written, start=suite_folder)


def explain_missing_playbook(written: str, data_dir: Path) -> str:
    """Say how to name a playbook where `find_playbook` finds none."""
    if _is_path(written):
        return "A path starts at the folder of the suite and stays inside the workspace."
    return name_hint(written, list_playbooks(data_dir))


def _is_path(written: str) -> bool:
    return "/" in written or written.endswith(SUFFIX)


def list_playbooks(data_dir: Path) -> list[str]:
    """List the names of all playbooks."""
    folders = list_playbook_folders(data_dir)
    return sorted({path.stem for folder in folders for path in folder.glob(f"*{SUFFIX}")})


def load_playbook(path: Path) -> Playbook:
    """Read a playbook.

    Raises:
        ConfigError: With every problem of the file, if it has one.
    """
    playbook, problems = read_playbook(path)
    raise_errors(problems)
    assert playbook is not None
    return playbook


def read_playbook(path: Path) -> tuple[Playbook | None, list[Problem]]:
    """Read a playbook, None if it is broken, with its problems."""
    document, report = open_document(path, parse_yaml)
    playbook = None if document is None else _decode(document, report)
    return playbook, report.problems


def _decode(document: Document, report: Report) -> Playbook | None:
    raw = document.data
    if not isinstance(raw, dict):
        report.error((), "must be a mapping with `name` and `steps`", code="bad-type")
        return None
    check_version(raw, report)
    playbook = validate_entry(Playbook, raw, (), report)
    if playbook is not None:
        _check_steps(playbook.steps, ("steps",), set(playbook.params), report)
        for at, step in enumerate(playbook.steps):
            step.note_lines(("steps", at), document.line_of)
    return playbook


def _check_steps(steps: list[PlaybookStep], place: Place, params: set[str], report: Report) -> None:
    """Check steps in their order.

    Args:
        steps: Of a playbook, or of a step that holds others.
        place: Where they stand.
        params: What placeholders may name; steps that fill parameters add theirs.
        report: Where problems are noted.
    """
    for at, step in enumerate(steps):
        kinds = sorted(step.model_fields_set)
        if len(kinds) == 1:
            _check_content(step.content, (*place, at, step.kind), params, report)
            continue
        written = " and ".join(f"`{kind}`" for kind in kinds) or "none"
        hint = f"use one of {', '.join(PlaybookStep.model_fields)}"
        message = f"a step must have exactly one key, not {written}"
        report.error((*place, at), message, hint=hint, code="bad-step")


def _check_content(content: object, place: Place, params: set[str], report: Report) -> None:
    plain = content.model_dump(exclude={"steps"}) if isinstance(content, FileModel) else content
    for name in find_placeholders(plain):
        if name not in params | {SERVER}:
            hint = name_hint(name, sorted(params))
            message = f"parameter `{name}` does not exist"
            report.error(place, message, hint=hint, code="unknown-param")
    if isinstance(content, Target):
        _check_target(content, place, report)
    if isinstance(content, ExtractStep | CaptureStep):
        _check_pattern(content, (*place, "pattern"), params, report)
    if isinstance(content, ForEachStep):
        _check_steps(content.steps, (*place, "steps"), params | {content.param}, report)
    elif isinstance(content, WhenStep):
        _check_steps(content.steps, (*place, "steps"), params, report)


def _check_target(target: Target, place: Place, report: Report) -> None:
    if len(target.ways) > 1:
        message = f"use one way to find the element, not {' and '.join(target.ways)}"
        report.error(place, message, code="bad-target")
    if target.name is not None and "role" not in target.ways:
        report.error(place, "`name` goes with `role`", code="bad-target")
    if not target.ways and not _may_go_without(target):
        hint = f"use one of {', '.join(Target.all_ways)}"
        report.error(place, "the element is missing", hint=hint, code="bad-target")


def _check_pattern(
    step: ExtractStep | CaptureStep, place: Place, params: set[str], report: Report
) -> None:
    if step.pattern is None:
        return
    try:
        names = re.compile(step.pattern).groupindex
    except re.error as error:
        report.error(place, f"is not a regular expression: {error}", code="bad-pattern")
        return
    if isinstance(step, CaptureStep):
        params |= set(names)
        if not names:
            hint = "name a group, such as (?P<order>[0-9]+)"
            message = "captures nothing: it does not have a named group"
            report.error(place, message, hint=hint, code="bad-pattern")


def _may_go_without(step: Target) -> bool:
    """True if a step makes sense without an element: about the page, or about time."""
    if isinstance(step, WaitStep):
        return step.seconds is not None
    if isinstance(step, ExpectStep):
        return step.url_contains is not None or step.title_contains is not None
    if isinstance(step, ExtractStep):
        return step.attribute is None and not step.all
    return isinstance(step, CaptureStep)
