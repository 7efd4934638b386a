"""Read a judge's verdict into checked scores; pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from poor_bench.judge.judgement import CaseEvaluation
from poor_bench.judge.reply_search import scores_of
from poor_bench.judge.rubric import Rubric
from poor_bench.judge.subject import JudgedCase
from poor_bench.judge.verdict_schema import ADVICE, LARGEST_SCORE

DEFAULT_SCORE = 5.0
"""Default for a score that the judge did not give."""
PASSING_SCORE = 5.0
"""Lowest score that passes a case without `passed`."""
_MOST_TEXTS = 50
_NUMBER_IN_TEXT = re.compile(r"^\s*([+-]?\d{1,6}(?:[.,]\d{1,6})?)\s*(?:/\s*10|out of 10)?\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Content of a verdict, with gaps filled."""

    overall_score: float
    scores: Mapping[str, float]
    test_case_evaluations: tuple[CaseEvaluation, ...]
    texts: Mapping[str, tuple[str, ...]]
    """Strengths, weaknesses and the other lists, by name."""
    repairs: tuple[str, ...]
    """One sentence for each value filled in or clamped."""
    missing: tuple[str, ...]
    """Dimensions that the judge did not score."""
    unscored: tuple[int, ...] = ()
    """Numbers of the cases that the judge did not score, from 1 on."""

    @property
    def n_gaps(self) -> int:
        """Number of missing scores of dimensions and cases."""
        return len(self.missing) + len(self.unscored)


def read_verdict(
    verdict: Mapping[str, Any],
    rubric: Rubric,
    cases: Sequence[JudgedCase],
    advice: Sequence[str] = ADVICE,
) -> Reading:
    """Read the scores of dimensions and cases from a verdict.

    The lists of `advice` are expected in it; others are left empty. The overall score is the mean
    of the dimensions by weight; the judge's own is not looked at.
    """
    reader = _Reader()
    stated = scores_of(verdict, rubric)
    scores = {name: reader.score(stated.get(name), f"scores.{name}") for name in rubric.names}
    evaluations = tuple(reader.cases(verdict.get("test_case_evaluations"), cases))
    numbered = enumerate(evaluations, start=1)
    return Reading(
        overall_score=weighted_mean(scores, rubric),
        scores=scores,
        test_case_evaluations=evaluations,
        texts=reader.advice(verdict, advice),
        repairs=tuple(reader.repairs),
        missing=tuple(name for name in rubric.names if _number(stated.get(name)) is None),
        unscored=tuple(number for number, case in numbered if case.is_unscored),
    )


def weighted_mean(scores: Mapping[str, float], rubric: Rubric) -> float:
    """Compute the weighted mean of scores, to two decimals.

    Example:
        >>> from poor_bench.judge.rubric import Dimension
        >>> two = Rubric("two", (Dimension("a", 75.0), Dimension("b", 25.0)))
        >>> weighted_mean({"a": 8.0, "b": 4.0}, two)
        7.0
    """
    total = sum(dimension.weight for dimension in rubric.dimensions)
    weighted = sum(scores[dimension.name] * dimension.weight for dimension in rubric.dimensions)
    return round(weighted / total, 2)


@dataclass(slots=True)
class _Reader:
    """Reads values and records repairs."""

    repairs: list[str] = field(default_factory=list)

    def score(self, value: Any, place: str) -> float:
        number = _number(value)
        if number is None:
            self.repairs.append(f"{place} is missing: {DEFAULT_SCORE:g} used instead")
            return DEFAULT_SCORE
        clamped = min(max(number, 0.0), float(LARGEST_SCORE))
        if clamped != number:
            self.repairs.append(f"{place} was {number:g}: clamped to {clamped:g}")
        return clamped

    def cases(self, value: Any, cases: Sequence[JudgedCase]) -> Iterator[CaseEvaluation]:
        stated = [item for item in value if isinstance(item, dict)] if _is_list(value) else []
        for index, case in enumerate(cases):
            evaluation = _evaluation_of(index, cases, stated)
            yield self._case(case, f"test_case_evaluations[{case.name or index}]", evaluation)

    def _case(self, case: JudgedCase, place: str, stated: Mapping[str, Any]) -> CaseEvaluation:
        score = self.score(stated.get("score"), f"{place}.score")
        is_unscored = _number(stated.get("score")) is None
        passed = stated.get("passed")
        if not isinstance(passed, bool):
            passed = bool(case.passed) if is_unscored else score >= PASSING_SCORE
            self.repairs.append(f"{place}.passed is missing: treated as {str(passed).lower()}")
        feedback = stated.get("feedback")
        return CaseEvaluation(
            test_name=case.name,
            score=score,
            passed=passed,
            feedback=feedback if isinstance(feedback, str) else "",
            is_unscored=is_unscored,
        )

    def advice(
        self, verdict: Mapping[str, Any], expected: Sequence[str]
    ) -> dict[str, tuple[str, ...]]:
        texts = {name: _texts(verdict.get(name)) for name in expected}
        missing = [name for name, found in texts.items() if found is None]
        if missing:
            self.repairs.append(f"{', '.join(missing)} missing: treated as empty")
        return {name: texts.get(name) or () for name in ADVICE}


def _evaluation_of(
    index: int, cases: Sequence[JudgedCase], stated: Sequence[Mapping[str, Any]]
) -> Mapping[str, Any]:
    """Find the entry of a case by number, name or position."""
    for item in stated:
        if item.get("case") == index + 1 and not isinstance(item.get("case"), bool):
            return item
    name = cases[index].name.strip().casefold()
    n_before = sum(case.name.strip().casefold() == name for case in cases[:index])
    unnumbered = [item for item in stated if "case" not in item]
    named = [
        item for item in unnumbered if str(item.get("test_name", "")).strip().casefold() == name
    ]
    if len(named) > n_before:
        return named[n_before]
    in_place = len(unnumbered) == len(cases) and "test_name" not in unnumbered[index]
    return unnumbered[index] if in_place else {}


def _texts(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, str):
        value = [value]
    return tuple(str(item) for item in value if item)[:_MOST_TEXTS] if _is_list(value) else None


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _number(value: Any) -> float | None:
    """Parse a score, also from `{"score": 8}` and `"8/10"`."""
    if isinstance(value, Mapping):
        value = value.get("score")
    if isinstance(value, str):
        match = _NUMBER_IN_TEXT.fullmatch(value)
        value = float(match[1].replace(",", ".")) if match else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        number = math.copysign(math.inf, value)
    return None if math.isnan(number) else number
