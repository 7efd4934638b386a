import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.issues.detect import DETECTORS, detect_issues
from poor_bench.issues.detector import Detector, IssueContext, IssueSeverity
from poor_bench.models.failure import FailureKind
from tests.issues.builders import CODE, LIST_OF_THREE, OBJECT, failed, ids, scored


def test_every_detector_has_a_name_of_its_own() -> None:
    names = [detector.id for detector in DETECTORS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.id)
def test_every_detector_says_what_it_means_and_what_to_try(detector: Detector) -> None:
    assert detector.title
    assert detector.meaning.endswith(".")
    assert detector.advice.endswith(".")


@pytest.mark.parametrize("kind", FailureKind)
def test_every_kind_of_failure_is_an_issue_that_costs_no_score(kind: FailureKind) -> None:
    [issue] = detect_issues([failed(kind, "no route to host")])
    assert issue.detector_id == f"failed_{kind}"
    assert (issue.evidence, issue.lost_score) == ("no route to host", 0.0)


def test_a_full_score_has_no_issue() -> None:
    assert not detect_issues([scored(1.0)])


def test_a_loss_is_charged_once_to_the_first_cause() -> None:
    issues = detect_issues([scored(response="", finish_reason="length", thinking="so")])
    assert {issue.detector_id: issue.lost_score for issue in issues} == {
        "thinking_ate_budget": 1.0,
        "truncated": 0.0,
        "no_answer": 0.0,
    }


def test_the_cause_is_unknown_only_where_nothing_else_explains_the_loss() -> None:
    results = [scored(test_id="empty", response=""), scored(test_id="odd")]
    found = [(each.detector_id, each.test_id) for each in detect_issues(results)]
    assert found == [("no_answer", "empty"), ("score_zero", "odd")]


def test_a_form_that_was_forgiven_is_not_charged() -> None:
    forgiven = scored(0.5, strict_score=0.0, found="fenced")
    lost = {issue.detector_id: issue.lost_score for issue in detect_issues([forgiven])}
    assert lost == {"wrapped_in_fence": 0.0, "partly_wrong": 0.5}


@pytest.mark.parametrize(
    ("got", "charged_to"),
    [("9", "wrapped_in_prose"), ("8", "wrong_answer")],
    ids=["right", "wrong"],
)
def test_prose_costs_score_only_where_what_it_says_is_right(got: str, charged_to: str) -> None:
    said = {"response": f"It is {got}.", "got": got, "expected": "9", "found": "in prose"}
    issues = detect_issues([scored(0.0, strict_score=0.0, **said)])
    assert [issue.detector_id for issue in issues if issue.lost_score] == [charged_to]


def test_all_lost_score_is_charged() -> None:
    results = [scored(score / 10, test_id=str(score)) for score in range(11)]
    charged = sum(issue.lost_score for issue in detect_issues(results))
    assert charged == pytest.approx(sum(1 - result.score for result in results))


def test_a_detector_of_ones_own_can_be_added() -> None:
    shouting = Detector(
        id="shouting",
        title="Shouting",
        severity=IssueSeverity.LOW,
        meaning="The answer is in capitals.",
        advice="Ask for calm.",
        check=lambda trial: "capitals" if trial.answer.isupper() else None,
    )
    [issue] = detect_issues([scored(response="BLUE")], detectors=[shouting])
    assert (issue.detector_id, issue.lost_score) == ("shouting", 1.0)


def test_issues_name_their_trial() -> None:
    [issue] = detect_issues([scored(llm_id="b", test_id="u", trial=3)])
    assert (issue.llm_id, issue.test_id, issue.trial) == ("b", "u", 3)


def test_evidence_is_short_however_long_the_response() -> None:
    issues = detect_issues([scored(response="<think>" + "x y " * 100_000, details="d " * 10_000)])
    assert max(len(issue.evidence) for issue in issues) <= 220


@pytest.mark.slow(reason="a long search")
@given(
    response=st.text(max_size=300),
    thinking=st.text(max_size=50),
    details=st.text(max_size=100),
    prompt=st.text(max_size=50),
    found=st.sampled_from(["", "fenced", "in prose", "repaired", "elsewhere"]),
    score=st.sampled_from([0.0, 0.5, 1.0]),
    facts=st.sampled_from([LIST_OF_THREE, OBJECT, CODE]),
)
def test_no_text_breaks_a_detector(facts, **fields) -> None:
    issues = detect_issues([scored(**fields)], IssueContext(facts={"t": facts}))
    assert all(0 <= issue.lost_score <= 1 for issue in issues)


@given(st.lists(st.sampled_from(["[", "]", "{", "}", '"', "```", "\n", "<think>", "a", ","])))
def test_no_broken_markup_breaks_a_detector(pieces: list[str]) -> None:
    for facts in (LIST_OF_THREE, OBJECT):
        detect_issues([scored(response="".join(pieces))], IssueContext(facts={"t": facts}))


def test_without_facts_no_form_is_demanded() -> None:
    assert ids([scored(response='["one"]')]) == []
