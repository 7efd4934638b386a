"""Format tax: score that correct answers lose to strict format rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from poor_bench.extraction.found import Found
from poor_bench.issues.detector import TrialTable
from poor_bench.statistics.trials import number_codes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FIXES = {
    Found.FENCED: "Ask for the bare value without Markdown, or let the evaluator unwrap fences.",
    Found.IN_PROSE: "Use structured output, or end the prompt with: reply with the value only.",
    Found.ANNOUNCED: "Use structured output, or end the prompt with: reply with the value only.",
    Found.STATED: "Use structured output, or end the prompt with: reply with the value only.",
    Found.BOXED: "Ask for a plain value instead of LaTeX.",
    Found.ENVELOPED: "Show the requested JSON in the prompt, or use structured output.",
    Found.REPAIRED: "Use structured output (a JSON schema).",
}
_STOP_FIX = "Set a stop sequence such as two newlines: the value comes first."
_OTHER_FIX = "Show an example of the format in the prompt."


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatTax:
    """Format tax of one LLM on one test class; means over trials whose strict score is known."""

    llm_id: str
    class_id: str
    """Empty where the tests are not known."""
    n_scored: int
    """Scored trials whose strict score is known."""
    score: float
    """Mean score with the answer found anywhere, 0.0 to 1.0."""
    strict_score: float
    """Mean score under the format rules, 0.0 to `score`."""
    n_by_found: Mapping[str, int]
    """How the answers that broke a rule were found, the most frequent way first."""
    fix: str
    """The cheapest fix; empty if no rule was broken."""

    @property
    def tax(self) -> float:
        """Score lost to format alone, 0.0 to 1.0."""
        return self.score - self.strict_score


def format_tax(table: TrialTable) -> list[FormatTax]:
    """Compute the format tax of each model on each test class.

    Args:
        table: Scored and failed trials; failures are left out.

    Returns:
        One row per LLM and class, the highest tax first; none where no strict score is known.

    Example:
        >>> from dataclasses import replace
        >>> from poor_bench.models.result import Result
        >>> from poor_bench.issues.single_trials import collect_trials
        >>> fenced = Result(llm_id="a", test_id="t", score=1.0, strict_score=0.0, found="fenced")
        >>> kept = replace(fenced, test_id="u", strict_score=None, found="bare")
        >>> [row] = format_tax(collect_trials([fenced, kept], {}))
        >>> row.tax, dict(row.n_by_found)
        (0.5, {'fenced': 1})
    """
    import numpy as np

    trials = table.trials
    told = np.flatnonzero(trials.is_scored & trials.tells_form)
    _, numbers = number_codes(table.number_classes()[told])
    ends = np.bincount(numbers).cumsum()
    groups = np.split(told[np.argsort(numbers, kind="stable")], ends[:-1]) if len(told) else ()
    return sorted((_compute_tax(table, entries) for entries in groups), key=lambda row: -row.tax)


def _compute_tax(table: TrialTable, entries: NDArray[np.int64]) -> FormatTax:
    import numpy as np

    trials = table.trials.pick(entries)
    scores, strict = trials.columns["score"], trials.columns["strict_score"]
    strict = np.where(np.isnan(strict), scores, strict)
    broken = np.flatnonzero(strict < scores)
    ways = Counter(trials.pick(broken).count_values("found")).most_common()
    way = ways[0][0] if ways else None
    first = broken[trials.find_entries("found", lambda found: found == way)[broken]]
    begins = table.texts.columns["begins"][entries[first]]
    test_id = trials.values["test_id"][trials.columns["test_id"][0]]
    return FormatTax(
        llm_id=trials.values["llm_id"][trials.columns["llm_id"][0]],
        class_id=table.facts[test_id].class_id if test_id in table.facts else "",
        n_scored=len(entries),
        score=sum(scores.tolist()) / len(entries),
        strict_score=sum(strict.tolist()) / len(entries),
        n_by_found=dict(ways),
        fix=_choose_fix(way, is_first=2 * begins.sum() > len(begins)) if way is not None else "",
    )


def _choose_fix(found: str, *, is_first: bool) -> str:
    """Choose the fix for answers that broke the rule in the same way.

    Args:
        found: How they were found.
        is_first: True if most of them begin with the value.
    """
    if found == Found.IN_PROSE and is_first:
        return _STOP_FIX
    return next((fix for way, fix in _FIXES.items() if way == found), _OTHER_FIX)
