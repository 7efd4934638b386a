"""Read a suite file, and report all its problems at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import Field

from poor_bench.config.document import Document, open_document
from poor_bench.config.entry_validation import check_version, validate_entry
from poor_bench.config.file_models import LLMEntry
from poor_bench.config.load import decode_llms_file, raise_errors
from poor_bench.config.report import Place, Report
from poor_bench.config.yaml_document import parse_yaml
from poor_bench.evaluation.case_checks import UNKNOWN_PLAYBOOK, CaseChecks
from poor_bench.evaluation.models import EvalCase, EvalSuite, SuiteHead
from poor_bench.models.llm import LLM
from poor_bench.models.problem import Problem, Severity

LOADS_ANYWAY = frozenset({UNKNOWN_PLAYBOOK})
"""Codes of errors that concern the run of one case only: the suite loads, the case is not run."""


class SuiteFile(SuiteHead):
    """A suite: cases for agents that are run and reported together."""

    llms: list[LLMEntry] = Field(
        default_factory=list, description="LLMs of this suite, in the form of llms.json."
    )
    cases: list[EvalCase] = Field(json_schema_extra={"minItems": 1})


def read_suite(path: Path | str, data_dir: Path = Path("data")) -> EvalSuite:
    """Read and check a suite.

    Args:
        path: A YAML file; JSON is YAML too.
        data_dir: Folder of the workspace, which holds playbooks.

    Raises:
        ConfigError: With every problem of the file, if one of them prevents loading. A playbook
            that does not exist does not: its case could not be run.
    """
    suite, problems = check_suite(Path(path), data_dir)
    raise_errors([problem for problem in problems if problem.code not in LOADS_ANYWAY])
    assert suite is not None
    return suite


def check_suite(
    path: Path, data_dir: Path, *, imports: bool = False
) -> tuple[EvalSuite | None, list[Problem]]:
    """Read a suite with all its problems.

    Args:
        path: A YAML file.
        data_dir: Folder of the workspace.
        imports: Import the profiles and the server, too, and warn where that fails.

    Returns:
        The suite, None if a problem prevents loading; and the problems.
    """
    document, report = open_document(path, parse_yaml)
    suite = None
    if document is not None and isinstance(document.data, dict):
        surroundings = CaseChecks(
            has_server="server" in document.data,
            data_dir=data_dir,
            suite_folder=path.parent,
            imports=imports,
        )
        suite = _decode(document, surroundings, report)
    elif document is not None:
        report.error((), "must be a mapping with `name` and `cases`", code="bad-type")
    problems = sorted(map(_strict, report.problems), key=lambda problem: problem.line or 0)
    is_broken = any(
        problem.severity is Severity.ERROR and problem.code not in LOADS_ANYWAY
        for problem in problems
    )
    return (None if is_broken else suite), problems


def _decode(document: Document, checks: CaseChecks, report: Report) -> EvalSuite | None:
    raw = document.data
    check_version(raw, report)
    llms = _decode_llms(document, report)
    cases = tuple(_decode_cases(document, checks, report))
    head = validate_entry(
        SuiteFile, {**raw, **({"cases": []} if "cases" in raw else {})}, (), report
    )
    if head is None:
        return None
    if head.server is not None:
        checks.check_import(head.server, ("server",), report)
    values = head.model_dump(exclude={"llms", "cases"})
    return EvalSuite(**values, llms=llms, cases=cases, folder=str(checks.suite_folder))


def _decode_llms(document: Document, report: Report) -> tuple[LLM, ...]:
    written = document.data.get("llms")
    if not isinstance(written, list):
        return ()
    inner = Report(report.file, document.line_of)
    llms = decode_llms_file(Document({"llms": written}, document.line_of), inner)
    report.problems.extend(inner.problems)
    return llms.items


def _decode_cases(document: Document, checks: CaseChecks, report: Report) -> Iterator[EvalCase]:
    written = document.data.get("cases")
    if written is not None and (not isinstance(written, list) or not written):
        report.error(("cases",), "must be a list of at least one case", code="bad-type")
        return
    seen: set[str] = set()
    for index, raw in enumerate(written or ()):
        place: Place = ("cases", index)
        about_case = Report(report.file, document.line_of)
        case = _decode_case(raw, place, checks, about_case)
        _note_doubled_id(raw, place, seen, about_case)
        if case is not None:
            yield case
        report.problems.extend(_named(problem, raw) for problem in about_case.problems)


def _decode_case(raw: Any, place: Place, checks: CaseChecks, report: Report) -> EvalCase | None:
    if not isinstance(raw, dict):
        message = f"must be a mapping of keys to values, not {type(raw).__name__}"
        report.error(place, message, code="bad-type")
        return None
    case = validate_entry(EvalCase, raw, place, report)
    if case is not None:
        checks.check(case, place, report)
    return case


def _note_doubled_id(raw: Any, place: Place, seen: set[str], report: Report) -> None:
    """Report a repeated id, ignoring case, since ids name folders."""
    case_id = _id_of(raw)
    if case_id.lower() in seen:
        report.error((*place, "id"), "another case has this id", code="duplicate-id")
    elif case_id:
        seen.add(case_id.lower())


def _named(problem: Problem, raw: Any) -> Problem:
    case_id = _id_of(raw)
    return replace(problem, message=f"case `{case_id}`: {problem.message}") if case_id else problem


def _id_of(raw: Any) -> str:
    case_id = raw.get("id") if isinstance(raw, dict) else None
    return case_id if isinstance(case_id, str) else ""


def _strict(problem: Problem) -> Problem:
    """Make unknown keys errors: a misspelt expectation would never be checked."""
    if problem.code == "unknown-key":
        return replace(problem, severity=Severity.ERROR)
    return problem
