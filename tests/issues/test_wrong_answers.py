import pytest

from poor_bench.issues.detect import detect_issues, group_issues
from poor_bench.issues.detector import IssueContext, sort_by_severity
from poor_bench.issues.wrong_answers import PLAIN
from tests.issues.builders import CODE, scored


@pytest.mark.parametrize(
    ("expected", "got", "response", "cause"),
    [
        ("42", "41.9", "I get 41.9", "number_off"),
        ("-42", "42", "42", "number_off"),
        ("0.42", "42", "42 %", "number_off"),
        ("42", "7", "It is 7", "wrong_answer"),
        ("Paris", "London", "Not Paris. The answer is London", "expected_in_response"),
        ("Paris", "", "I say: **paris**!", "expected_in_response"),
        ("Paris", "London", "Parisian cafes are in London", "wrong_answer"),
        ("B", "A", "A or B", "wrong_answer"),
        ("", "", "blue", "score_zero"),
    ],
)
def test_a_score_of_zero_has_one_plain_cause(
    expected: str, got: str, response: str, cause: str
) -> None:
    issues = detect_issues([scored(expected=expected, got=got, response=response)])
    plain = [issue for issue in issues if issue.detector_id in PLAIN]
    assert [(issue.detector_id, issue.lost_score) for issue in plain] == [(cause, 1.0)]


def test_what_makes_figures_unreliable_comes_before_lost_score() -> None:
    results = [scored(test_id=str(number)) for number in range(3)]
    context = IssueContext(suspicious_tests={"0": "all fail alike"})
    groups = sort_by_severity(group_issues(detect_issues(results, context)))
    assert [group.title for group in groups] == [
        "The test may be at fault",
        "Score 0, cause unknown",
    ]


@pytest.mark.parametrize(("score", "cause"), [(0.0, "code_wrong_results"), (0.5, "partly_wrong")])
def test_code_that_runs_and_is_wrong_in_every_case_has_a_cause(score: float, cause: str) -> None:
    result = scored(score, response="def double(x):\n    return x", cause="wrong_answer")
    issues = detect_issues([result], IssueContext(facts={"t": CODE}))
    assert [issue.detector_id for issue in issues if issue.lost_score] == [cause]
