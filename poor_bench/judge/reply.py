"""JSON objects in a judge's reply, without those it quotes; pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.thinking import split_thinking
from poor_bench.judge.judgement import CaseEvaluation
from poor_bench.judge.prompt import ADVICE, LARGEST_SCORE, JudgedCase
from poor_bench.judge.rubric import Rubric, read_dimension_name

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ObjectSearch:
    """Looks for objects of one kind in texts."""

    is_wanted: Callable[[Object], bool]
    key: re.Pattern[str]
    """Matches the key that every such object has."""

    def objects_in(self, text: str) -> list[Object]:
        """Find distinct objects, last first; broken ones only if no other exists.

        Repairing could fill a broken object with pieces of another, so it needs a text with one.
        """
        may_repair = len(self.key.findall(text)) <= 1
        for lenient in (False, True) if may_repair else (False,):
            found: list[Object] = []

            def note(value: Any, found: list[Object] = found) -> bool:
                if isinstance(value, dict) and value not in found and self.is_wanted(value):
                    found.append(value)
                return False

            extract_json(text, note, lenient=lenient)
            if found:
                return found
        return []

    def own_objects(self, reply: str, shown: Iterable[str]) -> list[Object]:
        """Find the objects of a reply that do not occur in the evidence."""
        quoted = [value for text in shown for value in self.objects_in(text)]
        return [value for value in self.objects_in(reply) if value not in quoted]


def is_signed(value: Object, nonce: str) -> bool:
    """True if an object repeats the code of the request.

    Then the judge wrote it: what it judges cannot know the code.
    """
    return value.get("verdict_id") == nonce


_SCORES_KEY = re.compile(r"""["']scores["']\s*:""")


class UnusableReplyError(Exception):
    """A judge's reply contains no verdict; the message gives the reason."""


def find_verdict(reply: str, rubric: Rubric, nonce: str, judged_texts: Iterable[str]) -> Object:
    """Find the verdict in a reply.

    An object that repeats the code of the request was written by the judge, since what it judges
    cannot know the code; of several the last one counts. Without one, the only verdict counts
    that does not stand in the judged texts. The code does not help a weak judge that signs the
    scores it read there: those do not count either.

    Args:
        reply: What the judge's LLM returned.
        rubric: A verdict has a score for at least one of its dimensions.
        nonce: The code of the request.
        judged_texts: What the judge was shown as evidence.

    Raises:
        UnusableReplyError: If no verdict exists, or it cannot be told which one is the judge's.
    """
    answer = split_thinking(reply).answer
    signed = ObjectSearch(
        lambda value: is_signed(value, nonce) and bool(read_scores(value, rubric)), _SCORES_KEY
    ).objects_in(answer)
    if signed:
        return _choose_not_copied(signed[0], rubric, judged_texts)
    if nonce in answer:
        raise UnusableReplyError("it begins a verdict that cannot be read, or has no `scores`")
    return _choose_unsigned(answer, rubric, judged_texts)


def read_scores(verdict: Object, rubric: Rubric) -> dict[str, Any]:
    """Map the scores of a verdict to the names of the rubric."""
    stated = verdict.get("scores")
    listed = stated if isinstance(stated, Mapping) else verdict
    by_name = {read_dimension_name(str(key)): value for key, value in listed.items()}
    return {name: by_name[name] for name in rubric.names if name in by_name}


def _choose_not_copied(verdict: Object, rubric: Rubric, judged_texts: Iterable[str]) -> Object:
    """Choose a verdict whose scores are not copied from the evidence.

    Raises:
        UnusableReplyError: If they do.
    """
    own = read_scores(verdict, rubric)
    search = ObjectSearch(lambda value: _has_all(read_scores(value, rubric), own), _SCORES_KEY)
    if any(search.objects_in(text) for text in judged_texts):
        raise UnusableReplyError(
            "its scores are those of a verdict that stands in the evidence, where it counts for "
            "nothing: score what the responses do"
        )
    return verdict


def _has_all(quoted: Mapping[str, Any], own: Mapping[str, Any]) -> bool:
    return quoted.keys() == own.keys() and all(_same(quoted[name], own[name]) for name in own)


def _same(quoted: Any, own: Any) -> bool:
    """True if two scores are equal, also as text."""
    try:
        return float(quoted) == float(own)
    except (TypeError, ValueError, OverflowError):
        return bool(quoted == own)


def _choose_unsigned(answer: str, rubric: Rubric, judged_texts: Iterable[str]) -> Object:
    search = _build_unsigned_search(answer, rubric)
    if search is None:
        what = "no JSON object with `scores`" if answer.strip() else "no answer"
        raise UnusableReplyError(f"it holds {what}")
    own = search.own_objects(answer, judged_texts)
    if not own:
        raise UnusableReplyError("the only verdict in it is quoted from what was to be judged")
    if len(own) > 1:
        raise UnusableReplyError(f"it holds {len(own)} different verdicts")
    return own[0]


def _build_unsigned_search(answer: str, rubric: Rubric) -> ObjectSearch | None:
    """Build the search for verdicts: objects with `scores`, else bare scores."""

    def has_scores(value: Object) -> bool:
        return isinstance(value.get("scores"), Mapping) and bool(read_scores(value, rubric))

    def is_scores(value: Object) -> bool:
        return bool(read_scores(value, rubric))

    searches = (ObjectSearch(has_scores, _SCORES_KEY), ObjectSearch(is_scores, _SCORES_KEY))
    return next((search for search in searches if search.objects_in(answer)), None)


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
    reader = _VerdictReader()
    stated = read_scores(verdict, rubric)
    scores = {name: reader.score(stated.get(name), f"scores.{name}") for name in rubric.names}
    evaluations = tuple(reader.cases(verdict.get("test_case_evaluations"), cases))
    numbered = enumerate(evaluations, start=1)
    return Reading(
        overall_score=compute_weighted_mean(scores, rubric),
        scores=scores,
        test_case_evaluations=evaluations,
        texts=reader.advice(verdict, advice),
        repairs=tuple(reader.repairs),
        missing=tuple(name for name in rubric.names if _number(stated.get(name)) is None),
        unscored=tuple(number for number, case in numbered if case.is_unscored),
    )


def compute_weighted_mean(scores: Mapping[str, float], rubric: Rubric) -> float:
    """Compute the weighted mean of scores, to two decimals.

    Example:
        >>> from poor_bench.judge.rubric import Dimension
        >>> two = Rubric("two", (Dimension("a", 75.0), Dimension("b", 25.0)))
        >>> compute_weighted_mean({"a": 8.0, "b": 4.0}, two)
        7.0
    """
    total = sum(dimension.weight for dimension in rubric.dimensions)
    weighted = sum(scores[dimension.name] * dimension.weight for dimension in rubric.dimensions)
    return round(weighted / total, 2)


@dataclass(slots=True)
class _VerdictReader:
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
            evaluation = _find_evaluation(index, cases, stated)
            yield self._read_case(case, f"test_case_evaluations[{case.name or index}]", evaluation)

    def _read_case(self, case: JudgedCase, place: str, stated: Mapping[str, Any]) -> CaseEvaluation:
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
        texts = {name: _read_texts(verdict.get(name)) for name in expected}
        missing = [name for name, found in texts.items() if found is None]
        if missing:
            self.repairs.append(f"{', '.join(missing)} missing: treated as empty")
        return {name: texts.get(name) or () for name in ADVICE}


def _find_evaluation(
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


def _read_texts(value: Any) -> tuple[str, ...] | None:
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
