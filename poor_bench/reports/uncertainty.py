"""Uncertainty budget: where confidence intervals come from, and what would narrow them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from poor_bench.messages import write_count, write_share
from poor_bench.metrics import cost_text, count_text, margin_text
from poor_bench.models.result import Result
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.purchase import (
    Purchase,
    PurchaseBudget,
    Purchases,
    Unit,
    measure_price,
    plan_purchase,
)
from poor_bench.statistics.variance_components import (
    Components,
    Observations,
    estimate_components,
    observe,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncertainty:
    """Where the interval of a score comes from, or that of the difference of two scores."""

    llm_ids: tuple[str, ...]
    """One, or two: the difference of the first and the second."""
    estimate: Estimate
    components: Components | None
    """None for fewer than two groups of tests."""
    purchases: Purchases | None = None
    """None without a budget, a price, or any variance."""

    @property
    def shares(self) -> dict[str, float | None]:
        """Shares of the variance by source, 0.0 to 1.0; None if not known.

        Empty where the scores do not vary.
        """
        found = self.components
        if found is None or not found.total_variance > 0:
            return {}
        parts = {"tests": found.tests_variance, "trials": found.trials_variance}
        if found.trials_variance is None:
            parts["tests"] = None
        if found.is_judged:
            parts["judge"] = found.judge_variance
            parts["trials"] = parts["trials"] if found.judge_variance is not None else None
        total = found.total_variance
        return {name: None if part is None else part / total for name, part in parts.items()}

    def as_dict(self) -> dict[str, Any]:
        """Describe it for machines."""
        found = self.components
        sides = found.sides if found else ()
        return {
            "llm_ids": self.llm_ids,
            "margin": self.estimate.margin,
            "n_tests": self.estimate.n_all,
            "shares": self.shares,
            "n_repeats": found.n_repeats if found else 0,
            "variances": {
                "group": found.group if found else None,
                "test": found.test if found else None,
                "trial": [side.trial for side in sides],
                "judge": [side.judge for side in sides],
            },
            "purchases": {
                name: asdict(each) | {"margin": self.estimate.margin * each.factor}
                for name, each in (self.purchases._asdict() if self.purchases else {}).items()
                if each is not None
            },
        }


def list_uncertainties(
    estimates: Mapping[tuple[str, ...], Estimate],
    results: Sequence[Result],
    groups: Mapping[str, str | None],
    budget: PurchaseBudget | None,
    judged: Iterable[Result] | None = None,
) -> list[Uncertainty]:
    """List the uncertainty of scores, and of differences of two scores.

    Args:
        estimates: LLM id to its score; two ids to the difference of the first and the second.
        results: Of all these LLMs.
        groups: Test id to the group of the test.
        budget: What may be spent; None to leave purchases out.
        judged: The results with scores and judgements only, where reading them takes less.
    """
    observed = observe(results if judged is None else judged)
    return [
        _build(llm_ids, estimate, observed, results, groups, budget)
        for llm_ids, estimate in estimates.items()
    ]


def _build(
    llm_ids: tuple[str, ...],
    estimate: Estimate,
    observed: Mapping[str, Observations],
    results: Sequence[Result],
    groups: Mapping[str, str | None],
    budget: PurchaseBudget | None,
) -> Uncertainty:
    against = observed[llm_ids[1]] if len(llm_ids) > 1 else None
    components = estimate_components(observed[llm_ids[0]], against, groups)
    purchases = None
    if components is not None and budget is not None:
        prices = [
            measure_price((r for r in results if r.llm_id == llm_id), budget.unit)
            for llm_id in llm_ids
        ]
        purchases = plan_purchase(components, prices, budget)
    return Uncertainty(
        llm_ids=llm_ids, estimate=estimate, components=components, purchases=purchases
    )


def describe_uncertainty(
    rows: Sequence[Uncertainty], budget: PurchaseBudget | None, name: Callable[[str], str]
) -> Iterator[str]:
    """Yield a sentence for each interval: its sources, and what to buy next.

    Args:
        rows: The intervals.
        budget: What may be spent; None to leave purchases out.
        name: From LLM id to what the screen calls it.
    """
    if budget is None and rows and not any(map(_has_second_trials, rows)):
        yield (
            "Where the intervals come from is not known, as no test has a second trial: "
            "run with --trials 2 or more."
        )
        return
    for row in rows:
        of = " against ".join(map(name, row.llm_ids))
        yield " ".join([f"{of}: {_describe_sources(row)}", *_describe_purchases(row, budget)])


def _has_second_trials(row: Uncertainty) -> bool:
    return row.components is None or row.components.trials_variance is not None


_WORDS = {"tests": "the tests", "trials": "trials", "judge": "the judge"}
_FEW_REPEATS = 20
"""With fewer repeats a variance is known to about a factor of two only."""


def _describe_sources(row: Uncertainty) -> str:
    margin, shares = margin_text(row.estimate.margin), row.shares
    if not shares or row.components is None:
        return f"{margin}. The scores do not vary: its sources are not known."
    told = [
        f"{write_share(share)} from {_WORDS[key]}"
        for key, share in shares.items()
        if share is not None
    ]
    text = f"{margin}{': ' if told else ''}{', '.join(told)}."
    if row.components.trials_variance is None:
        text += " Tests and trials cannot be told apart: no test has a second trial."
    elif row.components.n_repeats < _FEW_REPEATS:
        text += f" This is rough: it rests on {write_count(row.components.n_repeats, 'repeat')}."
    if row.components.judge_variance is None:
        text += " Trials and the judge cannot be told apart: no answer was judged twice."
    return text


def _describe_purchases(row: Uncertainty, budget: PurchaseBudget | None) -> Iterator[str]:
    if budget is None or not row.shares:
        return
    amount = write_amount(budget.amount, budget.unit)
    if row.purchases is None:
        what = "costs" if budget.unit is Unit.USD else "times"
        yield f"The stored results have no {what}: give --budget in calls, such as '200 calls'."
        return
    best = row.purchases.best
    if best is None:
        yield f"{amount} buys nothing that narrows it."
        return
    yield f"Best for {amount}: {_describe(best, row, budget)}."
    others = {
        "Without new tests": row.purchases.only_trials,
        "Judgements alone": row.purchases.only_judgements,
    }
    for title, other in others.items():
        if other is not None and other != best:
            yield f"{title}: {_describe(other, row, budget)}."


def _describe(bought: Purchase, row: Uncertainty, budget: PurchaseBudget) -> str:
    parts = []
    if bought.tests:
        trials = write_count(bought.trials_of_new, "trial")
        each = " each" if bought.tests > 1 else ""
        parts.append(f"{write_count(bought.tests, 'more test')} with {trials}{each}")
    if bought.trials:
        parts.append(f"{write_count(bought.trials, 'more trial')} of each stored test")
    if bought.judgements:
        parts.append(f"{write_count(bought.judgements, 'more judgement')} of each answer")
    margin = margin_text(row.estimate.margin * bought.factor)
    return f"{' and '.join(parts)} narrow it to {margin} ({write_amount(bought.cost, budget.unit)})"


def write_amount(amount: float, unit: Unit) -> str:
    """Write an amount of what is spent.

    Example:
        >>> write_amount(4.98, Unit.USD), write_amount(1, Unit.CALLS)
        ('$4.98', '1 call')
    """
    if unit is Unit.USD:
        return cost_text(amount)
    if unit is Unit.CALLS:
        return write_count(round(amount), "call")
    return "1 minute" if round(amount) == 1 else f"{count_text(amount)} minutes"
