"""Format tax: score that correct answers lose to strict format rules."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from poor_bench.extraction.found import Found
from poor_bench.issues.detector import TestFacts
from poor_bench.models.result import Result

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
    mend: str
    """The cheapest fix; empty if no rule was broken."""

    @property
    def tax(self) -> float:
        """Score lost to format alone, 0.0 to 1.0."""
        return self.score - self.strict_score


def format_tax(
    results: Iterable[Result], facts: Mapping[str, TestFacts] | None = None
) -> list[FormatTax]:
    """Compute the format tax of each model on each test class.

    Args:
        results: Scored and failed trials; failures are left out.
        facts: Test id to facts, for the class.

    Returns:
        One row per LLM and class, the highest tax first; none where no strict score is known.

    Example:
        >>> from dataclasses import replace
        >>> fenced = Result(llm_id="a", test_id="t", score=1.0, strict_score=0.0, found="fenced")
        >>> [row] = format_tax([fenced, replace(fenced, strict_score=None, found="bare")])
        >>> row.tax, dict(row.n_by_found)
        (0.5, {'fenced': 1})
    """
    known = facts or {}
    groups: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for result in results:
        if result.score is not None and result.tells_form:
            class_id = known[result.test_id].class_id if result.test_id in known else ""
            groups[result.llm_id, class_id].append(result)
    rows = [_compute_tax(*key, members) for key, members in groups.items()]
    return sorted(rows, key=lambda row: -row.tax)


def _compute_tax(llm_id: str, class_id: str, results: list[Result]) -> FormatTax:
    scores = [result.score or 0.0 for result in results]
    strict = [
        score if result.strict_score is None else result.strict_score
        for result, score in zip(results, scores, strict=True)
    ]
    broken = [
        result for result, score, kept in zip(results, scores, strict, strict=True) if kept < score
    ]
    ways = Counter(result.found for result in broken).most_common()
    first = [result for result in broken if result.found == ways[0][0]] if ways else []
    return FormatTax(
        llm_id=llm_id,
        class_id=class_id,
        n_scored=len(results),
        score=sum(scores) / len(scores),
        strict_score=sum(strict) / len(strict),
        n_by_found=dict(ways),
        mend=_choose_fix(first) if first else "",
    )


def _choose_fix(results: Sequence[Result]) -> str:
    """Choose the fix for answers that broke the rule in the same way."""
    found = results[0].found
    if found == Found.IN_PROSE and 2 * sum(map(_begins_with_value, results)) > len(results):
        return _STOP_FIX
    return next((fix for way, fix in _FIXES.items() if way == found), _OTHER_FIX)


def _begins_with_value(result: Result) -> bool:
    """True if the value comes first, followed by other text."""
    value, response = result.extracted.strip(), result.response.strip()
    return bool(value) and response.startswith(value) and len(response) > len(value)
