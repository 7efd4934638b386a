"""All tests of one pair of LLMs, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from poor_bench.comparison.changes import Changes, changes_between
from poor_bench.comparison.compared_test import ComparedTest, mean_score_of, outcome_of
from poor_bench.comparison.llm_pairs import LLMPair, by_test
from poor_bench.comparison.obstacle import Obstacle
from poor_bench.comparison.side import Side
from poor_bench.models.result import Result
from poor_bench.models.test import Test


class TestPairing:
    """Puts the tests of both sides beside each other.

    Args:
        before: What is compared with.
        after: What is compared.
        tests: Tests of the workspace by id; empty where they are not known.
        pass_score: From which mean score on a test passes.
    """

    def __init__(
        self, before: Side, after: Side, tests: Mapping[str, Test], pass_score: float
    ) -> None:
        self._runs = {**before.runs, **after.runs}
        self._results_before, self._results_after = before.by_llm(), after.by_llm()
        self._tests = tests
        self._places = {test_id: place for place, test_id in enumerate(tests)}
        self._pass_score = pass_score

    def compared(self, pair: LLMPair) -> list[ComparedTest]:
        """Return every test that the pair has a result of on either side, in order."""
        before = by_test(self._results_before[pair[0]])
        after = by_test(self._results_after[pair[1]])
        same_llm = pair[0] == pair[1]
        return [
            self._test(test_id, before.get(test_id, []), after.get(test_id, []), same_llm=same_llm)
            for test_id in sorted({*before, *after}, key=self._place)
        ]

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
        score_before, score_after = mean_score_of(before), mean_score_of(after)
        if self._is_gone(test_id):
            changes = Changes((Obstacle.TEST_GONE,), True)
        elif score_before is None or score_after is None:
            changes = Changes((_absence(before, after),), True)
        else:
            changes = changes_between(
                [result for result in before if result.score is not None],
                [result for result in after if result.score is not None],
                same_llm=same_llm,
                llm_fingerprint_of=self._llm_fingerprint_of,
            )
        test = self._tests.get(test_id)
        return ComparedTest(
            test_id=test_id,
            class_id=test.class_id if test else "",
            before=score_before,
            after=score_after,
            outcome=outcome_of(score_before, score_after, self._pass_score),
            obstacles=changes.obstacles,
            is_verified=changes.is_verified,
            same_answers=_answers(before) == _answers(after) != [],
        )

    def _is_gone(self, test_id: str) -> bool:
        return bool(self._tests) and test_id not in self._tests

    def _llm_fingerprint_of(self, result: Result) -> str:
        run = self._runs.get(result.run_id)
        return run.llm_fingerprints.get(result.llm_id, "") if run else ""


def _answers(results: Sequence[Result]) -> list[tuple[int, str]]:
    """Return the scored answers by trial; empty where one of them is not stored."""
    scored = [result for result in results if result.score is not None]
    if not all(result.response for result in scored):
        return []
    return sorted((result.trial, result.response) for result in scored)


def _absence(before: Sequence[Result], after: Sequence[Result]) -> Obstacle:
    """Return why one side has no score."""
    if mean_score_of(before) is None:
        return Obstacle.FAILED_BEFORE if before else Obstacle.ONLY_AFTER
    return Obstacle.FAILED_AFTER if after else Obstacle.ONLY_BEFORE
