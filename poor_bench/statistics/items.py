"""Item analysis: bad tests, and whether declared levels follow the measured difficulty."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.scoring.verdict import MAX_DETAILS
from poor_bench.statistics.correlations import rank_correlation, row_correlations
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.scores import ScoreTable, score_table


class ItemFinding(StrEnum):
    """Finding about a test, over all LLMs."""

    NOBODY_PASSES = "nobody_passes"
    """No LLM passed in any trial: too hard, or nothing can satisfy its evaluator."""
    EVERYBODY_PASSES = "everybody_passes"
    """Every LLM passed every trial: it tells nobody apart."""
    ALL_FAIL_ALIKE = "all_fail_alike"
    """Those who fail do so with one answer (wrong key?) or one message (unfair prompt?)."""
    FAVOURS_THE_WEAK = "favours_the_weak"
    """LLMs that are good elsewhere do worse here, beyond chance."""


_SUSPICIOUS = frozenset(
    {ItemFinding.NOBODY_PASSES, ItemFinding.ALL_FAIL_ALIKE, ItemFinding.FAVOURS_THE_WEAK}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """One way of failing that several LLMs share."""

    text: str
    """The common answer or message."""
    is_answer: bool
    """True if `text` is an answer; else the evaluator said it."""
    llm_ids: tuple[str, ...]
    n_failing: int
    """LLMs that did not pass in some trial, in this way or another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A test as the results show it."""

    test_id: str
    class_id: str
    """Empty where the test is not known any more."""
    level: int
    """Declared difficulty; 0 where the test is not known any more."""
    n_llms: int
    """LLMs with a scored trial."""
    n_models: int
    """Different models among them, see `identify_model`."""
    mean_score: float
    """Mean over LLMs, 0.0 to 1.0; one minus this is the measured difficulty."""
    pass_rate: float
    """Mean over LLMs of the share of passed trials, 0.0 to 1.0."""
    discrimination: Estimate | None
    """Correlation over LLMs of the score here with the mean score on all other tests, `n` LLMs;
    None for fewer than 4 LLMs, or where all score alike."""
    alike: Alike | None
    """The way of failing that stands out, if one does."""
    findings: tuple[ItemFinding, ...]

    @property
    def suspicion(self) -> str:
        """Reasons against the test in one line; empty if there are none."""
        if not self.is_suspicious:
            return ""
        reasons = [finding.value.replace("_", " ") for finding in self.findings]
        if self.alike is not None:
            share = f"{len(self.alike.llm_ids)} of {self.alike.n_failing}"
            kind = "answer" if self.alike.is_answer else "message"
            reasons.append(f"{share} that fail share the {kind} {self.alike.text[:120]!r}")
        return "; ".join(reasons)

    @property
    def is_suspicious(self) -> bool:
        """True if the test, rather than the LLMs, may be at fault."""
        return not _SUSPICIOUS.isdisjoint(self.findings)


def identify_model(result: Result) -> str:
    """Identify a model: the digest if the server reports it, else the LLM's id.

    LLMs that are one model with other parameters or prompts fail alike, and are no independent
    witnesses against a test.

    Example:
        >>> identify_model(Result(llm_id="a:json", test_id="t", score=1.0, model_digest="sha256:1"))
        'sha256:1'
    """
    return result.model_digest or result.llm_id


_LEAST_MODELS = 3
_TRACEBACK = re.compile(r"Traceback \(most recent call last\).*", re.DOTALL)


def failing_alike(failing: Iterable[Result]) -> Alike | None:
    """Find the answer or message that most failing LLMs share.

    Independent LLMs seldom agree on one wrong answer. Where they do, the key may be wrong; where
    they share a message (such as a function that is missing under the demanded name), the prompt
    probably does not say what the evaluator wants. A message counts only where it cost the whole
    score: that several LLMs miss the same edge case is no fault of the test.

    Args:
        failing: Scored results of one test that did not pass, of any LLMs.

    Returns:
        The most common way of failing if at least 3 different models and two thirds of the LLMs
        that fail share it; else None.
    """
    llms_by_way: dict[tuple[str, bool], set[str]] = defaultdict(set)
    models_by_way: dict[tuple[str, bool], set[str]] = defaultdict(set)
    all_llms: set[str] = set()
    for result in failing:
        all_llms.add(result.llm_id)
        way = _find_answer(result)
        if way[0]:
            llms_by_way[way].add(result.llm_id)
            models_by_way[way].add(identify_model(result))
    if not llms_by_way:
        return None
    way, llm_ids = max(llms_by_way.items(), key=lambda item: len(item[1]))
    if len(models_by_way[way]) < _LEAST_MODELS or 3 * len(llm_ids) < 2 * len(all_llms):
        return None
    text, is_answer = way
    return Alike(
        text=text, is_answer=is_answer, llm_ids=tuple(sorted(llm_ids)), n_failing=len(all_llms)
    )


def _find_answer(result: Result) -> tuple[str, bool]:
    """Find the answer, or else the message, and which of both it is; "" if there is neither."""
    if result.got:
        return " ".join(result.got.casefold().split()), True
    if result.score:
        return "", False
    return " ".join(_TRACEBACK.sub("", result.details[:MAX_DETAILS]).split()), False


LEAST_MODELS = 3
"""Different models that a verdict on a test needs."""


def analyse_items(
    results: Iterable[Result], tests: Mapping[str, Test] | None = None, *, pass_score: float = 1.0
) -> list[Item]:
    """Analyse what the results of all LLMs say about each test.

    Args:
        results: Scored and failed trials in any order; failures are left out.
        tests: Test id to test, for class and declared level.
        pass_score: From which score on a trial is passed.

    Returns:
        One item per test with a scored trial, in order of first appearance. Verdicts on a test
        need 3 different models.

    Source:
        Difficulty and corrected item-total correlation: Crocker and Algina 1986, "Introduction to
        Classical and Modern Test Theory", chapter 14.

    Example:
        >>> trials = [Result(llm_id=llm, test_id="t", score=0.0, got="7") for llm in "abc"]
        >>> [item] = analyse_items(trials)
        >>> [finding.value for finding in item.findings], item.alike.text
        (['nobody_passes', 'all_fail_alike'], '7')
    """
    kept = [result for result in results if result.score is not None]
    by_test: dict[str, list[Result]] = {}
    for result in kept:
        by_test.setdefault(result.test_id, []).append(result)
    discriminations = _discriminations(score_table(kept))
    known = tests or {}
    return [
        _build_item(trials, known.get(test_id), discriminations[test_id], pass_score)
        for test_id, trials in by_test.items()
    ]


def _discriminations(table: ScoreTable) -> dict[str, Estimate | None]:
    import numpy as np

    counts = (~np.isnan(table.scores)).sum(axis=0)
    others = np.where(counts > 1, counts - 1, np.nan)
    elsewhere = (np.nansum(table.scores, axis=0) - table.scores) / others
    correlations = row_correlations(table.scores, elsewhere)
    return dict(zip(table.test_ids, correlations, strict=True))


def _build_item(
    trials: list[Result], test: Test | None, discrimination: Estimate | None, pass_score: float
) -> Item:
    scores: dict[str, list[float]] = {}
    for result in trials:
        scores.setdefault(result.llm_id, []).append(result.score or 0.0)
    means = [sum(values) / len(values) for values in scores.values()]
    passed = [
        sum(value >= pass_score for value in values) / len(values) for values in scores.values()
    ]
    alike = failing_alike(result for result in trials if (result.score or 0.0) < pass_score)
    pass_rate = sum(passed) / len(passed)
    n_models = len({identify_model(result) for result in trials})
    return Item(
        test_id=trials[0].test_id,
        class_id=test.class_id if test else "",
        level=test.level if test else 0,
        n_llms=len(scores),
        n_models=n_models,
        mean_score=sum(means) / len(means),
        pass_rate=pass_rate,
        discrimination=discrimination,
        alike=alike,
        findings=_findings(n_models, pass_rate, discrimination, alike),
    )


def _findings(
    n_models: int, pass_rate: float, discrimination: Estimate | None, alike: Alike | None
) -> tuple[ItemFinding, ...]:
    if n_models < LEAST_MODELS:
        return ()
    verdicts = {
        ItemFinding.NOBODY_PASSES: pass_rate == 0.0,
        ItemFinding.EVERYBODY_PASSES: pass_rate == 1.0,
        ItemFinding.ALL_FAIL_ALIKE: alike is not None,
        ItemFinding.FAVOURS_THE_WEAK: discrimination is not None and discrimination.high < 0,
    }
    return tuple(finding for finding, holds in verdicts.items() if holds)


_N_ORDERS = 1999


class LevelVerdict(StrEnum):
    """Relation of declared levels and measured difficulty."""

    FOLLOWS = "follows"
    REVERSED = "reversed"
    UNCLEAR = "unclear"
    """Too few tests, or no order beyond chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelOrder:
    """Declared against measured difficulty of the tests of one class."""

    class_id: str
    difficulty: Mapping[int, float]
    """Level to the mean measured difficulty of its tests, 0.0 (all solve it) to 1.0."""
    correlation: Estimate | None
    """Rank correlation of level and measured difficulty, `n` tests; None where it is undefined:
    one level, fewer than 4 tests, or no difference in difficulty."""
    p_value: float
    """How often chance alone orders the tests at least as well, in either direction."""

    @property
    def verdict(self) -> LevelVerdict:
        """Conclusion at the 5 % level."""
        if self.correlation is None or self.p_value >= 0.05:
            return LevelVerdict.UNCLEAR
        return LevelVerdict.FOLLOWS if self.correlation.value > 0 else LevelVerdict.REVERSED


def level_orders(items: Iterable[Item], *, seed: int = 0) -> list[LevelOrder]:
    """Return, per class, whether measured difficulty follows the declared levels.

    Args:
        items: Analysed tests; those of unknown level are left out.
        seed: Of the random orders behind the p-values.

    Returns:
        One entry per class in order of first appearance.

    Source:
        `rank_correlation`; p-values by permutation, since levels are few and full of ties: Pitman
        1937, "Significance tests which may be applied to samples from any populations, II",
        Supplement to the Journal of the Royal Statistical Society 4.
    """
    by_class: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        if item.level > 0:
            by_class[item.class_id].append(item)
    return [_build_level_order(class_id, members, seed) for class_id, members in by_class.items()]


def _build_level_order(class_id: str, items: list[Item], seed: int) -> LevelOrder:
    by_level: dict[int, list[float]] = defaultdict(list)
    for item in items:
        by_level[item.level].append(1 - item.mean_score)
    levels = [item.level for item in items]
    difficulty = [1 - item.mean_score for item in items]
    correlation = rank_correlation(levels, difficulty)
    return LevelOrder(
        class_id=class_id,
        difficulty={level: sum(hard) / len(hard) for level, hard in sorted(by_level.items())},
        correlation=correlation,
        p_value=1.0 if correlation is None else _compute_chance(levels, difficulty, seed),
    )


def _compute_chance(levels: list[int], difficulty: list[float], seed: int) -> float:
    import numpy as np
    from scipy import stats

    rng = np.random.default_rng(seed)
    x, y = (stats.rankdata(values) - (len(levels) + 1) / 2 for values in (levels, difficulty))
    observed = abs(x @ y) - 1e-9 * len(levels) ** 3
    as_extreme = sum(bool(abs(rng.permutation(x) @ y) >= observed) for _ in range(_N_ORDERS))
    return (as_extreme + 1) / (_N_ORDERS + 1)
