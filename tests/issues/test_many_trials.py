import pytest

from poor_bench.issues.detect import detect_issues
from poor_bench.issues.detector import IssueContext, PeopleScore
from poor_bench.models.failure import FailureKind
from tests.issues.builders import failed, ids, scored


def times(*values: float) -> list:
    return [scored(1.0, test_id=f"t{n}", execution_time_ms=ms) for n, ms in enumerate(values)]


def test_one_slow_trial_among_steady_ones_stands_out() -> None:
    [issue] = detect_issues(times(100, 110, 95, 105, 100, 98, 102, 900))
    assert (issue.detector_id, issue.test_id) == ("slow_outlier", "t7")
    assert issue.evidence == "0.9 s where 0.1 s is typical"


@pytest.mark.parametrize(
    "values",
    [
        pytest.param((100, 110, 95, 105, 100, 98, 102, 250), id="not-that-slow"),
        pytest.param((100, 900, 300, 2000, 150, 700, 4000, 9000), id="times-vary-anyway"),
        pytest.param((100, 100, 900), id="too-few"),
    ],
)
def test_usual_times_do_not_stand_out(values: tuple[float, ...]) -> None:
    assert ids(times(*values)) == []


def test_times_of_failures_are_not_judged() -> None:
    slow = failed(FailureKind.TIMEOUT, execution_time_ms=90_000)
    assert ids([*times(*[100] * 8), slow]) == ["failed_timeout"]


def test_a_test_that_passes_sometimes_is_unstable() -> None:
    trials = [scored(score, trial=n) for n, score in enumerate([1.0, 0.0, 1.0])]
    issues = [issue for issue in detect_issues(trials) if issue.detector_id == "unstable"]
    assert [(issue.trial, issue.evidence) for issue in issues] == [(1, "2 of 3 trials passed")]


def test_trials_that_agree_are_stable() -> None:
    assert ids([scored(0.0, trial=1), scored(0.0, trial=2)]) == []


@pytest.mark.parametrize(("temperature", "expected"), [(0.0, ["not_deterministic"]), (0.7, [])])
def test_different_answers_matter_at_temperature_zero(
    temperature: float, expected: list[str]
) -> None:
    trials = [scored(1.0, trial=n, response=f"{n}") for n in (1, 2)]
    assert ids(trials, IssueContext(temperatures={"a": temperature})) == expected


def test_one_answer_to_many_tests_is_suspicious() -> None:
    results = [scored(test_id=f"t{n}", response="[1]" if n < 5 else str(n)) for n in range(7)]
    assert ids(results) == ["one_answer_for_all"]


@pytest.mark.parametrize(
    "responses",
    [
        pytest.param(["A"] * 4, id="too-few"),
        pytest.param(["A"] * 5 + ["B", "C", "D", "E"], id="mixed"),
        pytest.param([""] * 9, id="no-answers-at-all"),
    ],
)
def test_answers_that_happen_to_agree_are_not_suspicious(responses: list[str]) -> None:
    results = [scored(test_id=f"t{n}", response=text) for n, text in enumerate(responses)]
    assert "one_answer_for_all" not in ids(results)


def test_what_passed_before_and_fails_now_is_a_regression() -> None:
    before = IssueContext(previous_scores={("a", "t"): 1.0, ("a", "u"): 0.0, ("a", "gone"): 1.0})
    [issue] = [
        issue
        for issue in detect_issues([scored(0.5), scored(0.0, test_id="u")], before)
        if issue.detector_id == "regression"
    ]
    assert (issue.test_id, issue.evidence) == ("t", "scored 1.00 before, 0.50 now")


def test_suspicious_tests_are_named_where_they_cost_score() -> None:
    context = IssueContext(suspicious_tests={"t": "nobody passes"})
    assert ids([scored(0.0)], context) == ["suspicious_test"]
    assert ids([scored(1.0)], context) == []


def test_people_who_disagree_with_the_evaluator_are_named_and_cost_no_score() -> None:
    right, wrong = scored(0.0, response="RED"), scored(0.0, response="blue", trial=2)
    context = IssueContext(
        people={
            right.answer_id: PeopleScore("t", 1.0, 2),
            wrong.answer_id: PeopleScore("t", 0.25, 1),
        }
    )
    [issue] = [
        each for each in detect_issues([right, wrong], context) if "people" in each.detector_id
    ]
    assert (issue.trial, issue.evidence) == (1, "2 people: 1.00, evaluator: 0.00")
    assert issue.lost_score == 0.0


def test_people_who_find_a_passed_answer_wrong_are_named_too() -> None:
    passed = scored(1.0)
    context = IssueContext(people={passed.answer_id: PeopleScore("t", 0.5, 1)})
    assert ids([passed], context) == ["people_disagree"]
    assert ids([scored(1.0, response="other")], context) == []
