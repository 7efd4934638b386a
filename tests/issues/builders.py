from collections.abc import Mapping
from typing import Any

from poor_bench.issues.detect import collect_trials, detect_issues
from poor_bench.issues.detector import IssueContext, TestFacts
from poor_bench.issues.form import FormatTax, compute_format_taxes
from poor_bench.issues.wrong_answers import PLAIN
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.scoring.verdict import AnswerFormat

LIST_OF_THREE = TestFacts(class_id="mood", wanted=AnswerFormat.JSON_LIST, n_items=3)
OBJECT = TestFacts(class_id="maths", wanted=AnswerFormat.JSON_OBJECT)
CODE = TestFacts(class_id="code", wanted=AnswerFormat.CODE, function_name="double")


def scored(score: float = 0.0, **fields: Any) -> Result:
    """Return a scored result that no detector minds, apart from its score."""
    given = {"llm_id": "a", "test_id": "t", "response": "blue", "details": "Expected red."}
    return Result(**{**given, "score": score, **fields})


def failed(kind: FailureKind, message: str = "gone", **fields: Any) -> Result:
    failure = Failure(kind=kind, message=message)
    return Result(**{"llm_id": "a", "test_id": "t", "failure": failure, **fields})


def ids(results: list[Result], context: IssueContext | None = None) -> list[str]:
    """Return the detectors that find something, without the plain wrong answers."""
    issues = detect_issues(results, context or IssueContext())
    found = dict.fromkeys(issue.detector_id for issue in issues)
    return [name for name in found if name not in PLAIN]


def ids_of(result: Result, facts: TestFacts | None = None) -> list[str]:
    return ids([result], IssueContext(facts={result.test_id: facts} if facts else {}))


def tax_of(results: list[Result], facts: Mapping[str, TestFacts] | None = None) -> list[FormatTax]:
    return compute_format_taxes(collect_trials(results, facts or {}))
