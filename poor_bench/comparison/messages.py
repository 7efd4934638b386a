"""Sentences about a comparison, the same on every screen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from poor_bench.comparison.compare import ComparedGroup, LLMComparison
from poor_bench.comparison.compared_tests import CHANGES, Mismatch
from poor_bench.comparison.result_set import ResultSet, find_unpaired_llms
from poor_bench.messages import join_names, write_count


def verdict(group: ComparedGroup) -> str:
    """Say `better`, `worse` or `no significant difference`."""
    if not group.is_real():
        return "no significant difference"
    return "better" if group.difference.value > 0 else "worse"


def write_difference(group: ComparedGroup) -> str:
    """Write a difference with its interval, such as `+0.040 (-0.010 to +0.090)`."""
    estimate = group.difference
    return f"{estimate.value:+.3f} ({estimate.low:+.3f} to {estimate.high:+.3f})"


def write_change(group: ComparedGroup) -> str:
    """Write the result of a comparison, such as `worse, -0.400 (...), p 0.008`."""
    return f"{verdict(group)}, {write_difference(group)}, p {write_p_value(group.p_adjusted)}"


def write_p_value(p_value: float) -> str:
    """Write a p-value.

    Example:
        >>> write_p_value(0.0312), write_p_value(0.00002)
        ('0.031', '<0.001')
    """
    return "<0.001" if p_value < 0.001 else f"{p_value:.3f}"


def describe_power(group: ComparedGroup) -> str:
    """Say what a difference needs to show; empty if it is significant."""
    needed = group.needed.text
    if group.is_real() or not needed:
        return ""
    return (
        f"A difference of {abs(group.difference.value):.3f} would probably show on {needed}; "
        f"{write_count(len(group.tests), 'test')} probably show one from "
        f"{group.smallest_difference:.3f} on."
    )


def describe_mismatches(mismatches: Iterable[Mismatch]) -> str:
    """List the mismatches of a comparison, such as `prompt changed, model moved`."""
    return ", ".join(mismatch.text for mismatch in mismatches)


def explain_mismatches(comparison: LLMComparison) -> str:
    """Explain in one paragraph why changed tests are not compared; empty if none changed.

    It says what is comparable, what the lines of changes show and what `--allow` would do.
    """
    changed = {
        mismatches: test_ids
        for mismatches, test_ids in comparison.not_comparable().items()
        if set(mismatches) <= set(CHANGES)
    }
    if not changed:
        return ""
    n_same = len(comparison.overall.tests) if comparison.overall else 0
    n_changed = sum(map(len, changed.values()))
    causes = _join(_NAMES[change] for change in CHANGES if any(change in it for it in changed))
    shown = {group.changes for group in comparison.by_change}
    same = f"{write_count(n_same, 'test')} can" if n_same else "No test can"
    parts = [
        f"{same} be compared directly,",
        "with the same prompt, parameters, model and evaluator on both sides.",
        f"On {write_count(n_changed, 'test')} the {causes} changed,",
        "so a difference may come from that alone.",
    ]
    if any(changes in shown for changes in changed):
        parts.append("Lines in brackets show these differences apart.")
    if any(changes not in shown for changes in changed):
        parts.append(
            "Scores of different evaluators for different answers are not subtracted; "
            "`--rescore` scores both sides with today's evaluator first."
        )
    allow = " ".join(
        f"--allow {change.value}" for change in CHANGES if any(change in it for it in changed)
    )
    parts.append(f"`{allow}` counts them under `all` as if nothing had changed.")
    return " ".join(parts)


_NAMES = {
    Mismatch.PROMPT_CHANGED: "prompt",
    Mismatch.PARAMETERS_CHANGED: "parameters",
    Mismatch.MODEL_MOVED: "model behind the name",
    Mismatch.EVALUATOR_CHANGED: "evaluator",
}


def _join(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def suggest_options(mismatches: Collection[Mismatch]) -> str:
    """Name the options that make tests comparable; empty if none does."""
    if not mismatches or not all(mismatch in CHANGES for mismatch in mismatches):
        return ""
    allow = " ".join(f"--allow {mismatch.value}" for mismatch in mismatches)
    if Mismatch.EVALUATOR_CHANGED in mismatches:
        return f"--rescore, or {allow}"
    return allow


def list_unpaired_lines(
    before: ResultSet, after: ResultSet, name_of: Callable[[str], str]
) -> Iterator[str]:
    """Yield one line about the new LLMs and one about those that only the earlier side has."""
    only_before, only_after = find_unpaired_llms(before, after)
    if only_after:
        names = join_names([name_of(llm_id) for llm_id in only_after])
        yield f"New, with no earlier results to compare: {names}"
    if only_before:
        names = join_names([name_of(llm_id) for llm_id in only_before])
        yield f"No results after, so not compared: {names}"
