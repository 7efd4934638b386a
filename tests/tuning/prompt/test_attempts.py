from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from poor_bench.calls.budget import SpendingLimits
from poor_bench.errors import CallLimitError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.pool.control import RunControl
from poor_bench.tuning.prompt.cases import MOST_FAILED_IN_A_ROW, Attempt, Attempts, CaseFailedError
from poor_bench.tuning.searches import (
    SearchStoppedError,
    SearchTools,
    StopReason,
    TuningFile,
    open_budget,
    read_search,
)


class FakeSubject:
    """Fails on cases that are named after a kind of failure."""

    n_calls_per_case = 1

    def __init__(self) -> None:
        self.asked: Counter[tuple[str, str]] = Counter()

    def attempt(self, text: str, case_id: str, cancelled: Callable[[], bool]) -> Attempt:
        self.asked[text, case_id] += 1
        if case_id in set(FailureKind):
            kind = FailureKind(case_id)
            raise CaseFailedError(case_id, Failure(kind=kind, message=f"{case_id}!"))
        return Attempt(case_id=case_id, score=0.5, given="", answer="", feedback="")


@pytest.fixture
def file(tmp_path: Path) -> Iterator[TuningFile]:
    opened = TuningFile(tmp_path / "run.jsonl", {"kind": "prompt"})
    yield opened
    opened.close()


def attempts_of(subject: FakeSubject, file: TuningFile, **limits: int) -> Attempts:
    manager = LLMManager()
    budget = open_budget(SpendingLimits(**limits), manager, [])
    tools = SearchTools(manager=manager, budget=budget, file=file, control=RunControl())
    return Attempts(subject, tools, concurrency=2)


def test_a_pair_is_tried_once_and_known_ever_after(file: TuningFile) -> None:
    subject = FakeSubject()
    attempts = attempts_of(subject, file)
    assert [made.case_id for made in attempts.run("x", ["a", "b", "a"])] == ["a", "b", "a"]
    attempts.run("x", ["b"])
    attempts.run("y", ["b"])
    assert set(subject.asked.values()) == {1}
    again = attempts_of(subject, file)
    again.recall(read_search(file.path).lines)
    again.run("x", ["a", "b"])
    assert set(subject.asked.values()) == {1}


def test_what_could_be_tried_beside_a_failure_is_kept(file: TuningFile) -> None:
    attempts = attempts_of(FakeSubject(), file)
    with pytest.raises(CaseFailedError):
        attempts.run("x", ["a", "context_overflow", "b"])
    assert attempts.scores("x", ["a", "context_overflow", "b"]) == {"a": 0.5, "b": 0.5}


def test_an_llm_that_is_gone_is_not_asked_again(file: TuningFile) -> None:
    subject = FakeSubject()
    attempts = attempts_of(subject, file)
    for case_ids in (["auth", "a", "b", "c", "d"], ["e"]):
        with pytest.raises(SearchStoppedError, match="auth!") as stopped:
            attempts.run("x", case_ids)
        assert stopped.value.reason is StopReason.LLM_FAILED
    assert ("x", "e") not in subject.asked


def test_many_failures_in_a_row_end_the_search(file: TuningFile) -> None:
    attempts = attempts_of(FakeSubject(), file)
    for _ in range(MOST_FAILED_IN_A_ROW - 1):
        with pytest.raises(CaseFailedError):
            attempts.run("x", ["timeout"])
    attempts.run("x", ["a"])
    for _ in range(MOST_FAILED_IN_A_ROW - 1):
        with pytest.raises(CaseFailedError):
            attempts.run("x", ["timeout"])
    with pytest.raises(SearchStoppedError):
        attempts.run("x", ["timeout"])


def test_nothing_is_tried_that_the_budget_does_not_cover(file: TuningFile) -> None:
    subject = FakeSubject()
    attempts = attempts_of(subject, file, n_calls=3)
    attempts.run("x", ["a", "b"])
    with pytest.raises(CallLimitError):
        attempts.run("y", ["a", "b"])
    assert subject.asked.total() == 2
