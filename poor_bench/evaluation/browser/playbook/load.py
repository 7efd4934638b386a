"""Read playbook files, and report all their problems with lines."""

from __future__ import annotations

from pathlib import Path

from poor_bench.config.document import Document, open_document
from poor_bench.config.entry_validation import check_version, validate_entry
from poor_bench.config.load import raise_errors
from poor_bench.config.report import Place, Report
from poor_bench.config.yaml_document import parse_yaml
from poor_bench.evaluation.browser.playbook.checks import StepChecks
from poor_bench.evaluation.browser.playbook.models import (
    ForEachStep,
    PlaybookFile,
    PlaybookStep,
    WhenStep,
)
from poor_bench.evaluation.browser.playbook.playbook import Playbook, PlaybookAction
from poor_bench.models.problem import Problem


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
