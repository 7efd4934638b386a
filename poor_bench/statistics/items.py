"""Item analysis: bad tests, and whether declared levels follow the measured difficulty."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.statistics.correlations import correlate_ranks, correlate_rows, rank_values
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.item_faults import Fault, Share, Suspicion, find_faults
from poor_bench.statistics.item_response import ItemResponse, arrange_passes, fit_item_response
from poor_bench.statistics.outcomes import PASSED, Outcomes, collect_outcomes

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ItemFinding(StrEnum):
    """Finding about a test, over all LLMs."""

    NOBODY_PASSES = "nobody_passes"
    """No LLM passed in any trial: too hard, or nothing can satisfy its evaluator."""
    EVERYBODY_PASSES = "everybody_passes"
    """Every LLM passed every trial: it tells nobody apart."""
    ALL_FAIL_ALIKE = "all_fail_alike"
    """Models share a wrong answer (wrong key?) or a cause (unfair prompt?) beyond chance."""
    TWO_ANSWERS = "two_answers"
    """Able models divide between the key and one other answer, beyond chance: ambiguous?"""
    FAVOURS_THE_WEAK = "favours_the_weak"
    """LLMs that are good elsewhere do worse here, beyond chance."""


_FINDING_OF = {
    Fault.WRONG_KEY: ItemFinding.ALL_FAIL_ALIKE,
    Fault.ONE_CAUSE: ItemFinding.ALL_FAIL_ALIKE,
    Fault.AMBIGUOUS: ItemFinding.TWO_ANSWERS,
    Fault.REVERSED: ItemFinding.FAVOURS_THE_WEAK,
    Fault.BROKEN: ItemFinding.NOBODY_PASSES,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """One way of failing that several models share."""

    text: str
    """The common answer, cause or message."""
    is_answer: bool
    """True if `text` is an answer; else the evaluator said it."""
    llm_ids: tuple[str, ...]
    """LLMs of the models that share it."""
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
    is_suspicious: bool = False
    """True if the test, rather than the LLMs, may be at fault; see `find_faults`."""
    p_value: float | None = None
    """Chance that a sound test looks at least as bad; None for fewer than 3 models."""
    flip_rate: float | None = None
    """Mean over LLMs with several trials of the chance that two trials end differently, see
    `poor_bench.statistics.repeats.flip_rate`; None without such LLMs."""
    n_repeated: int = 0
    """LLMs with several scored trials."""

    @property
    def suspicion(self) -> str:
        """Reasons against the test in one line; empty if there are none."""
        if not self.is_suspicious:
            return ""
        reasons = [finding.value.replace("_", " ") for finding in self.findings]
        if self.alike is not None:
            share = f"{len(self.alike.llm_ids)} of {self.alike.n_failing}"
            kind = "answer" if self.alike.is_answer else "cause"
            reasons.append(f"{share} that fail share the {kind} {self.alike.text[:120]!r}")
        return "; ".join(reasons)


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
        Classical and Modern Test Theory", chapter 14. Suspicion: `find_faults`.

    Example:
        >>> [item] = analyse_items([Result(llm_id=llm, test_id="t", score=0.5) for llm in "abc"])
        >>> [finding.value for finding in item.findings], item.is_suspicious
        (['nobody_passes'], False)
    """
    return analyse_outcomes(collect_outcomes(results, pass_score=pass_score), tests or {})


def analyse_outcomes(
    outcomes: Outcomes, tests: Mapping[str, Test], share: Share = map
) -> list[Item]:
    """Analyse scored trials that are in columns already; see `analyse_items`."""
    if not outcomes.test_ids:
        return []
    discriminations = _compute_discriminations(outcomes)
    faults = find_faults(outcomes, tests, share)
    find_trials = _index_by_test(outcomes)
    n_tests = len(outcomes.test_ids)
    figures_of_tests = chain.from_iterable(
        _compute_figures(find_trials(start, min(start + _TESTS_AT_ONCE, n_tests)))
        for start in range(0, n_tests, _TESTS_AT_ONCE)
    )
    items = []
    for number, figures in enumerate(figures_of_tests):
        test_id = outcomes.test_ids[number]
        test, suspicion = tests.get(test_id), faults.get(test_id)
        is_flagged = suspicion is not None and suspicion.is_flagged
        items.append(
            Item(
                test_id=test_id,
                class_id=test.class_id if test else "",
                level=test.level if test else 0,
                n_llms=figures.n_llms,
                n_models=figures.n_models,
                mean_score=figures.mean_score,
                pass_rate=figures.pass_rate,
                discrimination=discriminations[test_id],
                alike=_describe_way(suspicion, find_trials(number, number + 1))
                if suspicion and is_flagged
                else None,
                findings=_list_findings(figures.pass_rate, suspicion),
                is_suspicious=is_flagged,
                p_value=suspicion.p_value if suspicion else None,
                flip_rate=figures.flips / figures.n_repeated if figures.n_repeated else None,
                n_repeated=figures.n_repeated,
            )
        )
    return items


def _compute_discriminations(outcomes: Outcomes) -> dict[str, Estimate | None]:
    import numpy as np

    every = outcomes.average_scores()
    counts = (~np.isnan(every)).sum(axis=0)
    others = np.where(counts > 1, counts - 1, np.nan)
    total = np.nansum(every, axis=0)
    found: dict[str, Estimate | None] = {}
    for start in range(0, len(every), _TESTS_AT_ONCE):
        some = slice(start, start + _TESTS_AT_ONCE)
        scores = every[some]
        correlations = correlate_rows(scores, (total - scores) / others)
        found |= zip(outcomes.test_ids[some], correlations, strict=True)
    return found


_TESTS_AT_ONCE = 1_000


class _Figures(NamedTuple):
    """Figures of one test over LLMs."""

    n_llms: int
    n_models: int
    mean_score: float
    pass_rate: float
    n_repeated: int
    """LLMs with several trials."""
    flips: float
    """Sum of their flip rates."""


def _compute_figures(outcomes: Outcomes) -> Iterator[_Figures]:
    """Compute the figures of each test that occurs, in the order of their numbers.

    They are means over LLMs of means over trials.
    """
    import numpy as np

    n_llms, n_models = len(outcomes.llm_ids), len(outcomes.models)
    of_trials = outcomes.tests.astype(np.int64) - outcomes.tests.min()
    cells, firsts, cell_of = np.unique(
        of_trials * n_llms + outcomes.llms, return_index=True, return_inverse=True
    )
    shown = np.argsort(firsts)
    tests, n_trials = (cells // n_llms)[shown], np.bincount(cell_of)[shown]
    n_cells = np.bincount(tests)
    models = np.unique(of_trials * n_models + outcomes.of_models) // n_models

    def total(of_cells: NDArray[Any]) -> NDArray[Any]:
        return np.bincount(tests, weights=of_cells)

    scores = np.bincount(cell_of, weights=outcomes.scores)[shown]
    n_passed = np.bincount(cell_of, weights=outcomes.endings == PASSED)[shown]
    n_pairs = n_trials * (n_trials - 1) / 2
    flips = n_passed * (n_trials - n_passed) / np.maximum(n_pairs, 1)
    columns = (
        n_cells,
        np.bincount(models),
        total(scores / n_trials) / n_cells,
        total(n_passed / n_trials) / n_cells,
        total(n_trials > 1).astype(int),
        total(flips),
    )
    return map(_Figures._make, zip(*(column.tolist() for column in columns), strict=True))


def _index_by_test(outcomes: Outcomes) -> Callable[[int, int], Outcomes]:
    """Prepare to select the trials of tests by their numbers, from one up to another."""
    import numpy as np

    order = np.argsort(outcomes.tests, kind="stable")
    ends = [0, *np.bincount(outcomes.tests).cumsum().tolist()]
    return lambda first, last: outcomes.pick(order[ends[first] : ends[last]])


def _describe_way(suspicion: Suspicion, trials: Outcomes) -> Alike | None:
    if suspicion.way is None:
        return None
    voting = [number for number, name in enumerate(trials.models) if name in suspicion.models]
    alike = {
        llm
        for llm, model in zip(trials.llms.tolist(), trials.of_models.tolist(), strict=True)
        if model in voting
    }
    return Alike(
        text=suspicion.way.text,
        is_answer=suspicion.way.kind == "answer",
        llm_ids=tuple(sorted(trials.llm_ids[number] for number in alike)),
        n_failing=len(set(trials.llms[trials.endings != PASSED].tolist())),
    )


def _list_findings(pass_rate: float, suspicion: Suspicion | None) -> tuple[ItemFinding, ...]:
    if suspicion is None:
        return ()
    found = []
    if pass_rate in {0.0, 1.0}:
        found.append(ItemFinding.EVERYBODY_PASSES if pass_rate else ItemFinding.NOBODY_PASSES)
    if suspicion.is_flagged and _FINDING_OF[suspicion.fault] not in found:
        found.append(_FINDING_OF[suspicion.fault])
    return tuple(found)


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
    n_tests: Mapping[int, int]
    """Level to the number of its tests with a score."""
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


def compare_levels(items: Iterable[Item]) -> list[LevelOrder]:
    """Compare, class by class, measured difficulty with the declared levels.

    Args:
        items: Analysed tests; those of unknown level are left out.

    Returns:
        One entry per class in order of first appearance.

    Source:
        `correlate_ranks`; p-values by permutation, since levels are few and full of ties: Pitman
        1937, "Significance tests which may be applied to samples from any populations, II",
        Supplement to the Journal of the Royal Statistical Society 4.
    """
    by_class: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        if item.level > 0:
            by_class[item.class_id].append(item)
    return [_build_level_order(class_id, members) for class_id, members in by_class.items()]


def _build_level_order(class_id: str, items: list[Item]) -> LevelOrder:
    by_level: dict[int, list[float]] = defaultdict(list)
    for item in items:
        by_level[item.level].append(1 - item.mean_score)
    levels = [item.level for item in items]
    difficulty = [1 - item.mean_score for item in items]
    correlation = correlate_ranks(levels, difficulty)
    return LevelOrder(
        class_id=class_id,
        difficulty={level: sum(hard) / len(hard) for level, hard in sorted(by_level.items())},
        n_tests={level: len(hard) for level, hard in by_level.items()},
        correlation=correlation,
        p_value=1.0 if correlation is None else _compute_chance(levels, difficulty),
    )


def _compute_chance(levels: list[int], difficulty: list[float]) -> float:
    import numpy as np

    rng = np.random.default_rng(0)
    x, y = (rank_values(values) - (len(levels) + 1) / 2 for values in (levels, difficulty))
    observed = abs(x @ y) - 1e-9 * len(levels) ** 3
    as_extreme = sum(bool(abs(rng.permutation(x) @ y) >= observed) for _ in range(_N_ORDERS))
    return (as_extreme + 1) / (_N_ORDERS + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemAnalysis:
    """Figures of and findings about tests."""

    items: tuple[Item, ...]
    """Tests with a scored trial, in order of first appearance."""
    orders: tuple[LevelOrder, ...]
    """Classes in order of first appearance."""
    response: ItemResponse | None
    """None while there are too few models, see `fit_item_response`."""
    n_models: int
    """Different models with results."""

    @property
    def suspicions(self) -> dict[str, str]:
        """Test id to the reasons against the test, where there are any."""
        return {item.test_id: told for item in self.items if (told := item.suspicion)}


def analyse_tests(
    outcomes: Outcomes, tests: Mapping[str, Test], share: Share = map
) -> ItemAnalysis:
    """Analyse the tests of some outcomes.

    Args:
        outcomes: Scored trials of all models; freed on the way where nothing else holds them.
        tests: Test id to test.
        share: As of `find_faults`.
    """
    items = analyse_outcomes(outcomes, tests, share)
    passes = arrange_passes(outcomes)
    del outcomes  # of ten million trials 320 MB, which the fit does without
    return ItemAnalysis(
        items=tuple(items),
        orders=tuple(compare_levels(items)),
        response=fit_item_response(passes),
        n_models=len(passes.models),
    )
