"""Each test in both result sets: its scores, and mismatches that make them not comparable."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from poor_bench.comparison.result_set import LLMPair, ResultSet, group_by_test
from poor_bench.models.result import Result
from poor_bench.models.test import Test


class Mismatch(StrEnum):
    """Why the scores of a test on both sides do not compare like with like."""

    PROMPT_CHANGED = "prompt"
    """The LLM was asked something else."""
    PARAMETERS_CHANGED = "parameters"
    """The LLM was asked with other parameters, or another model stands under its id."""
    MODEL_MOVED = "model"
    """The server ran something else under the same name."""
    EVALUATOR_CHANGED = "evaluator"
    """The answer was scored in another way."""
    TEST_GONE = "test_gone"
    """The test is not in the workspace any more."""
    ONLY_BEFORE = "only_before"
    """No result exists after."""
    ONLY_AFTER = "only_after"
    """No result exists before."""
    FAILED_BEFORE = "failed_before"
    """It failed to run before."""
    FAILED_AFTER = "failed_after"
    """It failed to run after."""

    @property
    def text(self) -> str:
        """Text for screens."""
        return _TEXTS[self]


CHANGES = (
    Mismatch.PROMPT_CHANGED,
    Mismatch.PARAMETERS_CHANGED,
    Mismatch.MODEL_MOVED,
    Mismatch.EVALUATOR_CHANGED,
)
"""Changes that a comparison can allow."""

MEASURED_CHANGES = frozenset(CHANGES) - {Mismatch.EVALUATOR_CHANGED}
"""Changes whose effect a comparison shows; that of an evaluator only on the same answers."""

_TEXTS = {
    Mismatch.PROMPT_CHANGED: "prompt changed",
    Mismatch.PARAMETERS_CHANGED: "parameters changed",
    Mismatch.MODEL_MOVED: "model moved (another digest under the same name)",
    Mismatch.EVALUATOR_CHANGED: "evaluator changed",
    Mismatch.TEST_GONE: "test gone from the workspace",
    Mismatch.ONLY_BEFORE: "no result after",
    Mismatch.ONLY_AFTER: "no result before",
    Mismatch.FAILED_BEFORE: "failed to run before",
    Mismatch.FAILED_AFTER: "failed to run after",
}


class Changes(NamedTuple):
    """Differences between both result sets of a test that both have scored."""

    mismatches: tuple[Mismatch, ...]
    is_verified: bool
    """True if both result sets record all that is needed; older results do not."""


def find_mismatches(
    before: Sequence[Result],
    after: Sequence[Result],
    *,
    same_llm: bool,
    llm_fingerprint_of: Callable[[Result], str] = lambda _result: "",
) -> Changes:
    """Find what changed between the scored trials of one test.

    Between different LLMs, model and parameters are what is compared, so only prompt and
    evaluator count.

    Args:
        before: At least one scored trial.
        after: At least one scored trial.
        same_llm: Whether both sides are of one LLM.
        llm_fingerprint_of: Hash of the model and parameters that a result was made with; empty
            where it is not known.
    """
    mismatches = []
    if same_llm:
        mismatches += _request_changes(before, after, llm_fingerprint_of)
        if _differ(before, after, lambda result: result.model_digest or ""):
            mismatches.append(Mismatch.MODEL_MOVED)
    elif _differ(before, after, _read_prompt):
        mismatches.append(Mismatch.PROMPT_CHANGED)
    if _differ(before, after, lambda result: result.evaluator_fingerprint):
        mismatches.append(Mismatch.EVALUATOR_CHANGED)
    return Changes(tuple(mismatches), _is_verified(before, after, same_llm))


def _request_changes(
    before: Sequence[Result], after: Sequence[Result], llm_fingerprint_of: Callable[[Result], str]
) -> list[Mismatch]:
    if not _differ(before, after, lambda result: result.request_fingerprint):
        return []
    prompt_differs = _differ(before, after, _read_prompt)
    found = [Mismatch.PROMPT_CHANGED] if prompt_differs else []
    if not prompt_differs or _differ(before, after, llm_fingerprint_of):
        found.append(Mismatch.PARAMETERS_CHANGED)
    return found


def _differ(
    before: Sequence[Result], after: Sequence[Result], fact_of: Callable[[Result], str]
) -> bool:
    """True if both result sets record a fact, and the facts differ."""
    if len(before) == len(after) == 1:  # as a rule
        first, second = fact_of(before[0]), fact_of(after[0])
        return bool(first and second) and first != second
    facts_before = {fact for result in before if (fact := fact_of(result))}
    facts_after = {fact for result in after if (fact := fact_of(result))}
    return bool(facts_before and facts_after) and facts_before != facts_after


def _read_prompt(result: Result) -> str:
    return f"{result.system_prompt}\0{result.prompt}" if result.prompt else ""


def _is_verified(before: Sequence[Result], after: Sequence[Result], same_llm: bool) -> bool:
    return all(
        result.evaluator_fingerprint and (result.request_fingerprint if same_llm else result.prompt)
        for result in (*before, *after)
    )


class UnreadTests(NamedTuple):
    """Tests that only one side has, and whose results were not read."""

    reason: Mismatch
    test_ids: tuple[str, ...]
    tests: Mapping[str, Test]
    """Tests of the workspace by id."""

    def of_class(self, class_id: str | None) -> list[str]:
        """List the ids of the tests of a class; None for all, empty for tests that are gone."""
        if class_id is None:
            return [*self.test_ids]
        known = ((name, self.tests.get(name)) for name in self.test_ids)
        return [name for name, test in known if (test.class_id if test else "") == class_id]


class ScoreChange(StrEnum):
    """Change of the score of a test that both result sets have scored."""

    FIXED = "fixed"
    """It did not pass before, and does now."""
    BROKEN = "broken"
    """It passed before, and does not now."""
    BETTER = "better"
    """It scores more, and passes on both sides or on neither."""
    WORSE = "worse"
    """It scores less, and passes on both sides or on neither."""
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedTest:
    """One test of one LLM on both sides."""

    test_id: str
    class_id: str
    """Empty where the test is not known any more."""
    before: float | None
    """Mean score over trials, 0.0 to 1.0; None where nothing was scored."""
    after: float | None
    """As `before`."""
    outcome: ScoreChange | None
    """None where one side has no score."""
    mismatches: tuple[Mismatch, ...] = ()
    is_verified: bool = True
    """True if both result sets record prompt and evaluator."""
    same_answers: bool = False
    """True if both sides scored the very same answers."""
    scores_before: tuple[float, ...] = ()
    """Score of each trial before."""
    scores_after: tuple[float, ...] = ()
    """Score of each trial after that is not the very result that stands before; empty if none was
    made since."""
    repeats_alike: bool = False
    """True if a result set has several answers, and in each result set all of them are equal."""
    group: str | None = None
    """Of the test; None for one of its own."""
    n_trials: tuple[int, int] = (1, 1)
    """Scored trials before and after."""
    squares: tuple[float, float] = (0.0, 0.0)
    """Sums of the squared deviations of these trials from their mean."""

    def is_comparable(self, allowed: Collection[Mismatch] = ()) -> bool:
        """True if both result sets have a score, and nothing beyond `allowed` changed."""
        return self.outcome is not None and set(self.mismatches) <= set(allowed)

    @property
    def difference(self) -> float:
        """Score after minus score before, -1.0 to 1.0; 0.0 where one of them is missing."""
        if self.before is None or self.after is None:
            return 0.0
        return self.after - self.before


def average_score(results: Sequence[Result]) -> float | None:
    """Compute the mean score of one test; None without scored trials."""
    return _average(list_scores(results))


def _average(scores: Sequence[float]) -> float | None:
    return sum(scores) / len(scores) if scores else None


def _sum_squares(scores: Sequence[float]) -> float:
    if len(scores) < 2:
        return 0.0
    mean = sum(scores) / len(scores)
    return sum((score - mean) ** 2 for score in scores)


def classify_change(
    before: float | None, after: float | None, pass_score: float
) -> ScoreChange | None:
    """Classify how the score of a test changed.

    Args:
        before: Mean score, or None.
        after: Mean score, or None.
        pass_score: From which mean score on a test passes.

    Example:
        >>> classify_change(1.0, 0.5, pass_score=1.0).value
        'broken'
    """
    if before is None or after is None:
        return None
    if (before >= pass_score) != (after >= pass_score):
        return ScoreChange.FIXED if after >= pass_score else ScoreChange.BROKEN
    if before == after:
        return ScoreChange.UNCHANGED
    return ScoreChange.BETTER if after > before else ScoreChange.WORSE


class TestPairing:
    """Puts the tests of both sides beside each other.

    Args:
        before: What is compared with.
        after: What is compared.
        tests: Tests of the workspace by id; empty where they are not known.
        pass_score: From which mean score on a test passes.
    """

    def __init__(
        self, before: ResultSet, after: ResultSet, tests: Mapping[str, Test], pass_score: float
    ) -> None:
        self._runs = {**before.runs, **after.runs}
        self._results_before, self._results_after = before.by_llm(), after.by_llm()
        self._unread = before.unread_tests
        self._tests = tests
        self._places = {test_id: place for place, test_id in enumerate(tests)}
        self._pass_score = pass_score

    def compare(self, pair: LLMPair) -> list[ComparedTest]:
        """Compare every test that either result set has, in order."""
        unread = self._unread.get(pair[0], ())
        before = group_by_test(
            [each for each in self._results_before[pair[0]] if each.test_id not in unread]
        )
        after = group_by_test(self._results_after[pair[1]])
        same_llm = pair[0] == pair[1]
        return [
            self._test(test_id, before.get(test_id, []), after.get(test_id, []), same_llm=same_llm)
            for test_id in sorted({*before, *after}, key=self._place)
        ]

    def list_unread(self, pair: LLMPair) -> tuple[UnreadTests, ...]:
        """List the tests before whose results were not read, in order."""
        unread = self._unread.get(pair[0], ())
        here = tuple(filter(unread.__contains__, self._tests))
        are_all_here = len(here) == len(unread)
        gone = () if are_all_here else tuple(sorted(set(unread).difference(self._tests)))
        reason = Mismatch.TEST_GONE if self._tests else Mismatch.ONLY_BEFORE
        found = ((Mismatch.ONLY_BEFORE, here), (reason, gone))
        return tuple(UnreadTests(why, names, self._tests) for why, names in found if names)

    def _place(self, test_id: str) -> tuple[int, str]:
        return self._places.get(test_id, len(self._places)), test_id

    def _test(
        self,
        test_id: str,
        before: Sequence[Result],
        after: Sequence[Result],
        *,
        same_llm: bool,
    ) -> ComparedTest:
        scored = _select_scored(before), _select_scored(after)
        scores_before, scores_after = map(list_scores, scored)
        score_before, score_after = _average(scores_before), _average(scores_after)
        answers = _list_answers(scored[0]), _list_answers(scored[1])
        if self._is_gone(test_id):
            changes = Changes((Mismatch.TEST_GONE,), True)
        elif score_before is None or score_after is None:
            changes = Changes((_choose_absence(before, after),), True)
        else:
            changes = find_mismatches(
                *scored, same_llm=same_llm, llm_fingerprint_of=self._find_llm_fingerprint
            )
        test = self._tests.get(test_id)
        return ComparedTest(
            test_id=test_id,
            class_id=test.class_id if test else "",
            group=test.group if test else None,
            before=score_before,
            after=score_after,
            outcome=classify_change(score_before, score_after, self._pass_score),
            mismatches=changes.mismatches,
            is_verified=changes.is_verified,
            same_answers=answers[0] == answers[1] != [],
            scores_before=scores_before,
            scores_after=list_scores(_select_new(before, after)),
            repeats_alike=_repeat_alike(answers),
            n_trials=(len(scores_before), len(scores_after)),
            squares=(_sum_squares(scores_before), _sum_squares(scores_after)),
        )

    def _is_gone(self, test_id: str) -> bool:
        return bool(self._tests) and test_id not in self._tests

    def _find_llm_fingerprint(self, result: Result) -> str:
        run = self._runs.get(result.run_id)
        return run.llm_fingerprints.get(result.llm_id, "") if run else ""


def _select_scored(results: Sequence[Result]) -> list[Result]:
    return [result for result in results if result.score is not None]


def _list_answers(scored: Sequence[Result]) -> list[tuple[int, str]]:
    """Collect the answers of scored trials by trial; empty if one of them is not stored."""
    answers = [(result.trial, result.response) for result in scored]
    return sorted(answers) if all(response for _, response in answers) else []


def list_scores(results: Sequence[Result]) -> tuple[float, ...]:
    """List the scores of scored trials."""
    return tuple(result.score for result in results if result.score is not None)


def _select_new(before: Sequence[Result], after: Sequence[Result]) -> list[Result]:
    """Select the results that do not stand in both result sets; undated ones count as new."""
    known = {_identify(result) for result in before if result.timestamp}
    return [result for result in after if _identify(result) not in known]


def _identify(result: Result) -> tuple[int, str, str]:
    return result.trial, result.timestamp, result.response


def _repeat_alike(answers: Sequence[Sequence[tuple[int, str]]]) -> bool:
    if max(map(len, answers)) < 2:
        return False
    return all(len({answer for _, answer in of_side}) == 1 for of_side in answers)


def _choose_absence(before: Sequence[Result], after: Sequence[Result]) -> Mismatch:
    """Find why one result set has no score."""
    if average_score(before) is None:
        return Mismatch.FAILED_BEFORE if before else Mismatch.ONLY_AFTER
    return Mismatch.FAILED_AFTER if after else Mismatch.ONLY_BEFORE
