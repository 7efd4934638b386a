"""What the results say about a test itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from poor_bench.statistics.estimate import Estimate


class ItemFinding(StrEnum):
    """What is remarkable about a test, seen over all LLMs."""

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
    """Whether `text` is an answer; else it is what the evaluator said."""
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
    """Different models among them, see `model_of`."""
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
        """What speaks against the test, in one line; empty where nothing does."""
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
        """Whether the test, rather than the LLMs, may be at fault."""
        return not _SUSPICIOUS.isdisjoint(self.findings)
