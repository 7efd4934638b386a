"""Suite files: find, read and check them, and select their cases.

All problems of a file are reported at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult

from pydantic import Field

from poor_bench.config.document import Document, Place, Report, open_document
from poor_bench.config.entry_validation import check_version, validate_entry
from poor_bench.config.file_models import LLMEntry
from poor_bench.config.load import decode_llms_file, raise_errors
from poor_bench.config.names import name_hint
from poor_bench.config.yaml_document import parse_yaml
from poor_bench.errors import ConfigError, PoorBenchError
from poor_bench.evaluation.browser.addresses import split_web_url
from poor_bench.evaluation.browser.playbook_file import (
    explain_missing_playbook,
    find_playbook,
    read_playbook,
)
from poor_bench.evaluation.factories import import_factory
from poor_bench.evaluation.models import SERVER, EvalCase, EvalSuite, SuiteHead
from poor_bench.models.llm import LLM
from poor_bench.models.problem import Problem, Severity

DEFAULT_PROFILE = "default"
UNKNOWN_PLAYBOOK = "unknown-playbook"
"""Code of the problem that a playbook does not exist."""
_ANY_SERVER = "http://127.0.0.1:80"
_FACTORY = re.compile(r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_ENVIRONMENT_NAME = re.compile(r"[A-Za-z_]\w*")
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
        checks = CaseChecks(
            has_server="server" in document.data,
            data_dir=data_dir,
            suite_folder=path.parent,
            imports=imports,
        )
        suite = _decode(document, checks, report)
    elif document is not None:
        report.error((), "must be a mapping with `name` and `cases`", code="bad-type")
    problems = sorted(map(_make_strict, report.problems), key=lambda problem: problem.line or 0)
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
        report.problems.extend(_name_case(problem, raw) for problem in about_case.problems)


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
    case_id = _find_id(raw)
    if case_id.lower() in seen:
        report.error((*place, "id"), "another case has this id", code="duplicate-id")
    elif case_id:
        seen.add(case_id.lower())


def _name_case(problem: Problem, raw: Any) -> Problem:
    case_id = _find_id(raw)
    return replace(problem, message=f"case `{case_id}`: {problem.message}") if case_id else problem


def _find_id(raw: Any) -> str:
    case_id = raw.get("id") if isinstance(raw, dict) else None
    return case_id if isinstance(case_id, str) else ""


def _make_strict(problem: Problem) -> Problem:
    """Make unknown keys errors: a misspelt expectation would never be checked."""
    if problem.code == "unknown-key":
        return replace(problem, severity=Severity.ERROR)
    return problem


SUFFIX = ".yaml"


def list_suites(data_dir: Path) -> list[Path]:
    """Suites that have a name: the workspace's, then the package's."""
    folders = (data_dir / "suites", Path(__file__).parent / "suites")
    return [path for folder in folders for path in sorted(folder.glob(f"*{SUFFIX}"))]


def find_suite(written: str, data_dir: Path) -> Path:
    """Find a suite by path or by name, such as `example`.

    Raises:
        ConfigError: If neither exists.
    """
    if Path(written).is_file():
        return Path(written)
    known = list_suites(data_dir)
    found = next((path for path in known if path.stem == written), None)
    if found is None:
        hint = name_hint(written, [path.stem for path in known])
        raise ConfigError(f"suite `{written}` does not exist", hint=hint)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChecks:
    """Checks the cases of one suite against its server, folder and workspace."""

    has_server: bool
    data_dir: Path
    suite_folder: Path
    imports: bool = False
    """Import what the suite names as `package.module:function`."""
    _imported: dict[str, PoorBenchError | None] = field(default_factory=dict)

    def check(self, case: EvalCase, place: Place, report: Report) -> None:
        """Report everything about a case that cannot work."""
        self._check_urls(case, place, report)
        self._check_playbook(case, place, report)
        self._check_profile(case.profile, (*place, "profile"), report)
        _check_schema(case, (*place, "output_schema"), report)
        _check_expectations(case, (*place, "expect"), report)

    def _check_urls(self, case: EvalCase, place: Place, report: Report) -> None:
        if case.start_url is not None:
            self._check_url(case.start_url, (*place, "start_url"), report)
        for name, origin in (case.credentials or {}).items():
            where = (*place, "credentials", name)
            if not _ENVIRONMENT_NAME.fullmatch(name):
                report.error(where, "must be the name of an environment variable", code="bad-name")
            url = self._check_url(origin, where, report)
            if url is not None and (url.path not in {"", "/"} or url.query or url.fragment):
                hint = "write scheme, host and port, such as https://shop.example"
                report.error(where, "must be an origin without a path", hint=hint, code="bad-url")

    def _check_url(self, written: str, place: Place, report: Report) -> SplitResult | None:
        if SERVER in written and not self.has_server:
            report.error(place, f"`{SERVER}` needs the key `server` of the suite", code="no-server")
            return None
        url = split_web_url(written.replace(SERVER, _ANY_SERVER, 1))
        if url is None:
            hint = "write it like https://shop.example/search"
            report.error(place, f"`{written}` is not an http(s) URL", hint=hint, code="bad-url")
        return url

    def _check_playbook(self, case: EvalCase, place: Place, report: Report) -> None:
        if case.playbook is None:
            if case.execution_mode == "playbook_only":
                message = "`playbook_only` needs the key `playbook`"
                report.error((*place, "execution_mode"), message, code="no-playbook")
        elif find_playbook(case.playbook, self.data_dir, self.suite_folder) is None:
            message = f"playbook `{case.playbook}` does not exist"
            hint = explain_missing_playbook(case.playbook, self.data_dir)
            report.error((*place, "playbook"), message, hint=hint, code=UNKNOWN_PLAYBOOK)

    def _check_profile(self, profile: str, place: Place, report: Report) -> None:
        if profile == DEFAULT_PROFILE or split_web_url(profile):
            return
        if _FACTORY.fullmatch(profile):
            self.check_import(profile, place, report)
            return
        hint = f"use `{DEFAULT_PROFILE}`, `package.module:factory`, or an http(s) URL"
        report.error(place, f"`{profile}` is not a profile", hint=hint, code="bad-profile")

    def check_import(self, factory: str, place: Place, report: Report) -> None:
        """Warn of a factory that cannot be imported, if imports are to be tried at all."""
        if self.imports and factory not in self._imported:
            self._imported[factory] = _import_error(factory)
        error = self._imported.get(factory)
        if error is not None:
            report.warning(place, str(error), hint=error.hint, code="not-importable")


def _import_error(factory: str) -> PoorBenchError | None:
    try:
        import_factory(factory)
    except PoorBenchError as error:
        return error
    return None


def _check_schema(case: EvalCase, place: Place, report: Report) -> None:
    if case.output_schema is None:
        return
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(case.output_schema)
    except SchemaError as error:
        inside = (*place, *error.path)
        report.error(inside, f"is not a JSON Schema: {error.message}", code="bad-schema")


def _check_expectations(case: EvalCase, place: Place, report: Report) -> None:
    expect = case.expect
    can_hand_off = case.execution_mode == "hybrid_auto" and case.playbook is not None
    if expect.handoff == "require" and not can_hand_off:
        message = "only a `hybrid_auto` case with a playbook can hand off"
        report.error((*place, "handoff"), message, code="impossible")
    least, most = expect.min_actions, expect.max_actions
    if least is not None and most is not None and least > most:
        report.error((*place, "min_actions"), "exceeds `max_actions`", code="impossible")
    has_price = case.input_token_cost_per_million_usd or case.output_token_cost_per_million_usd
    if expect.max_estimated_cost_usd is not None and not has_price:
        message = "needs a price: the case does not have one, nor may its LLM in llms.json"
        report.warning((*place, "max_estimated_cost_usd"), message, code="no-price")


def select_cases(
    suite: EvalSuite,
    *,
    case_patterns: Sequence[str] = (),
    tags: Sequence[str] = (),
    trials: int | None = None,
) -> EvalSuite:
    """Keep the selected cases of a suite, in its order.

    Args:
        suite: The whole suite.
        case_patterns: Ids or globs; a case must match one of them. Empty selects all.
        tags: A case must have one of them. Empty selects all.
        trials: Replaces each case's own number, at least 1.

    Raises:
        ConfigError: If a pattern or a tag matches no case, or no case matches all of them.
    """
    ids = [case.id for case in suite.cases]
    for pattern in case_patterns:
        _require(any(fnmatchcase(case_id, pattern) for case_id in ids), "case", pattern, ids)
    known_tags = sorted({tag for case in suite.cases for tag in case.benchmark_tags})
    for tag in tags:
        _require(tag in known_tags, "tag", tag, known_tags)
    chosen = [case for case in suite.cases if _is_chosen(case, case_patterns, tags)]
    if not chosen:
        raise ConfigError(f"no case of {suite.name} matches all filters")
    if trials is not None:
        chosen = [case.model_copy(update={"trials": trials}) for case in chosen]
    return suite.model_copy(update={"cases": tuple(chosen)})


def _is_chosen(case: EvalCase, patterns: Sequence[str], tags: Sequence[str]) -> bool:
    fits = not patterns or any(fnmatchcase(case.id, pattern) for pattern in patterns)
    return fits and (not tags or not set(tags).isdisjoint(case.benchmark_tags))


def _require(exists: bool, what: str, written: str, known: Sequence[str]) -> None:
    if not exists:
        raise ConfigError(f"{what} `{written}` does not exist", hint=name_hint(written, known))


def check_suite_and_playbooks(path: Path, data_dir: Path) -> list[Problem]:
    """List all problems of a suite, and of every playbook, profile and server it uses."""
    suite, problems = check_suite(path, data_dir, imports=True)
    if suite is None:
        return problems
    names = dict.fromkeys(case.playbook for case in suite.cases if case.playbook)
    for name in names:
        found = find_playbook(name, data_dir, path.parent)
        if found is not None:
            problems += read_playbook(found)[1]
    return problems
