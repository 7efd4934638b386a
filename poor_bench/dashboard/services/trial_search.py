"""Trials that filters find, and everything about one of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from poor_bench.config.load import Workspace
from poor_bench.dashboard.services.computations import Kept
from poor_bench.dashboard.services.issue_reports import IssueReports
from poor_bench.dashboard.services.rated_answers import RatedAnswers
from poor_bench.dashboard.services.stored_results import StoredResults
from poor_bench.dashboard.services.workspace_watch import WorkspaceWatch
from poor_bench.extraction.fences import find_fenced_blocks
from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.thinking import split_thinking
from poor_bench.issues.detector import Issue
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.prompts import build_messages
from poor_bench.results.figures import summarise_found
from poor_bench.results.query import FoundTrials, ResultQuery, find_rows
from poor_bench.results.table import TrialKey
from poor_bench.runner.scorer import resolve_spec
from poor_bench.statistics.summary import GroupBy, Summary

_SEARCHED_CHARACTERS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultDetails:
    """One trial with what belongs to it."""

    result: Result
    class_id: str
    """Empty where the test is not known any more."""
    level: int | None
    system_prompt: str
    prompt: str
    is_prompt_stored: bool
    """False where the prompt is rendered from today's files, since the result does not hold it."""
    thinking: str
    answer: str
    """The response without its thinking."""
    answer_span: tuple[int, int] | None
    """Where in `answer` that stands which was scored, as far as it is known."""
    expected: str
    """Empty where it is not known, or not one text."""
    got: str
    issues: tuple[tuple[str, str], ...]
    """Title and evidence of each."""


def build_details(
    result: Result,
    workspace: Workspace,
    issues: Sequence[Issue] = (),
    titles: Mapping[str, str] = MappingProxyType({}),
) -> ResultDetails:
    """Describe a trial with what belongs to it.

    Args:
        result: The whole result.
        workspace: Where its test and LLM are looked up.
        issues: Issues of the model; those of other trials are left out.
        titles: Titles of issues by detector id.
    """
    test = workspace.tests_by_id.get(result.test_id)
    split = split_thinking(result.response)
    system_prompt, prompt = _prompts(result, workspace, test)
    answer_text = result.extracted or _likely_answer(split.answer)
    return ResultDetails(
        result=result,
        class_id=test.class_id if test else "",
        level=test.level if test else None,
        system_prompt=system_prompt,
        prompt=prompt,
        is_prompt_stored=bool(result.prompt),
        thinking="\n\n".join(part for part in (result.thinking, split.thinking) if part),
        answer=split.answer,
        answer_span=_last_span(split.answer, answer_text),
        expected=result.expected or _find_expected(workspace, test),
        got=result.got or answer_text,
        issues=tuple(
            (titles.get(issue.detector_id, issue.detector_id), issue.evidence)
            for issue in issues
            if (issue.test_id, issue.trial) == (result.test_id, result.trial)
        ),
    )


def _prompts(result: Result, workspace: Workspace, test: Test | None) -> tuple[str, str]:
    llm = workspace.llms_by_id.get(result.llm_id)
    if result.prompt or test is None or llm is None:
        return result.system_prompt, result.prompt
    messages = build_messages(llm, workspace.test_classes[test.class_id], test)
    return (messages[0].content if len(messages) > 1 else ""), messages[-1].content


def _likely_answer(answer: str) -> str:
    """Find the last fenced block, else the JSON, in the last 100,000 characters of an answer."""
    answer = answer[-_SEARCHED_CHARACTERS:]
    blocks = find_fenced_blocks(answer)
    if blocks:
        return blocks[-1].body.strip()
    found = extract_json(answer, lenient=False)
    return found.text if found is not None else ""


def _last_span(text: str, part: str) -> tuple[int, int] | None:
    start = text.rfind(part) if part.strip() else -1
    return None if start < 0 else (start, start + len(part))


def _find_expected(workspace: Workspace, test: Test | None) -> str:
    if test is None:
        return ""
    for name, value in resolve_spec(workspace, test).parameters.items():
        if name.startswith("expected") and name != "expected_format":
            return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return ""


_KEPT = 32


class TrialSearch:
    """Finds trials among all stored results, also those of removed tests.

    Its methods raise ConfigError or StoreError where workspace or results cannot be read.
    """

    def __init__(
        self,
        files: WorkspaceWatch,
        results: StoredResults,
        issues: IssueReports,
        ratings: RatedAnswers,
    ) -> None:
        self._files = files
        self._ratings = ratings
        self._results = results
        self._issues = issues
        self._found: Kept[FoundTrials] = Kept(_KEPT)

    def find(self, query: ResultQuery) -> FoundTrials:
        """Find the results that match a query; kept, as a table asks for them page by page."""
        table, workspace = self._results.read_stored(), self._files.workspace()
        rated = self._ratings.version() if query.rating or query.issue else None
        key = (table.version, workspace.version, query, rated)

        def find() -> FoundTrials:
            llm_id, tests = query.llm_id, workspace.tests_by_id
            with_issue = self._issues.trials(llm_id, query.issue) if query.issue else None
            stale = self._results.stale_places(llm_id) if query.is_stale else None
            rows = find_rows(table, tests, query, with_issue, stale)
            if query.rating is not None:
                rows = self._ratings.select(table, llm_id, rows, query.rating)
            return FoundTrials(table, rows)

        return self._found.get(key, find)

    def summaries(self, query: ResultQuery, by: GroupBy) -> list[Summary]:
        """Summarise the results that a query finds; those of removed tests do not count."""
        if not query.is_filtered:
            return self._results.summaries(by, [query.llm_id])
        tests = self._files.workspace().tests_by_id
        is_known = by is GroupBy.LLM and self._results.stale().is_current
        stale = self._results.stale_places(query.llm_id) if is_known else None
        return summarise_found(self.find(query), tests, by=by, stale_places=stale)

    def causes(self, llm_id: str) -> list[str]:
        """List why results of an LLM lost score, as their evaluators state it."""
        table = self._results.read_stored()
        return sorted(table.places_by_text("cause", table.find_rows(llm_id)))

    def details(self, llm_id: str, trial: TrialKey) -> ResultDetails | None:
        """Read everything about one trial; None if no such result is stored."""
        table = self._results.read_stored()
        row = table.find(llm_id, trial)
        if row is None:
            return None
        titles = {detector.id: detector.title for detector in self._files.config().detectors}
        test_id = table.value("test_id", row)
        issues = self._issues.of_llm(llm_id).where(test_ids={test_id})
        return build_details(next(table.whole([row])), self._files.workspace(), issues, titles)

    def pending(self, llm_id: str, trial: TrialKey) -> ResultDetails | None:
        """Describe a trial without a result; None where the model or the test does not exist."""
        workspace = self._files.workspace()
        if llm_id not in workspace.llms_by_id or trial.test_id not in workspace.tests_by_id:
            return None
        result = Result(llm_id=llm_id, test_id=trial.test_id, trial=trial.trial)
        return build_details(result, workspace)
