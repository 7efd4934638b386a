"""Report of prompt tuning: candidates, the difference between prompts, the final test."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any, NamedTuple

from poor_bench.messages import write_count
from poor_bench.statistics.differences import estimate_paired_difference
from poor_bench.statistics.intervals import Estimate
from poor_bench.tuning.prompt.search import Candidate, SearchEnd
from poor_bench.tuning.searches import KeptSearch, StopReason


def write_unified_diff(base: str, new: str) -> str:
    r"""Diff of `new` against `base`; empty if equal.

    Example:
        >>> print(write_unified_diff("Solve:\n{problem}", "Compute:\n{problem}"))
        --- current
        +++ proposed
        @@ -1,2 +1,2 @@
        -Solve:
        +Compute:
         {problem}
    """
    lines = difflib.unified_diff(
        base.splitlines(), new.splitlines(), "current", "proposed", lineterm=""
    )
    return "\n".join(lines)


LEAST_TO_PROVE = 5
"""With fewer held-out cases no interval of `estimate_paired_difference` lies above 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A prompt against the one it would replace, on the held-out cases."""

    mean_base: float
    mean_new: float
    gain: Estimate
    """Mean of the differences, new minus base, with its 95 % interval."""
    n_better: int
    n_worse: int

    @property
    def is_proven(self) -> bool:
        """True if the whole interval is above 0."""
        return self.gain.low > 0

    @property
    def sentence(self) -> str:
        """The finding in words."""
        span = f"{self.gain.low:+.3f} to {self.gain.high:+.3f}"
        basis = f"{self.gain.n_all} held-out tests"
        if self.gain.n_tests is not None:
            basis += f" in {write_count(self.gain.n, 'group')}"
        figures = f"{self.gain.value:+.3f} ({span}) on {basis}"
        if self.is_proven:
            return f"Significant gain: {figures}."
        if self.gain.high < 0:
            return f"The new prompt is significantly worse: {figures}."
        if self.gain.n < LEAST_TO_PROVE:
            return f"No significant difference: {figures}. The held-out tests are too few."
        return f"No significant difference: {figures}."


_NO_GROUPS: Mapping[str, str] = {}


def prove(
    base: Mapping[str, float], new: Mapping[str, float], groups: Mapping[str, str] = _NO_GROUPS
) -> Proof:
    """Compare two prompts on the cases that both were tried on.

    Args:
        base: Case id to score, 0.0 to 1.0, with the old prompt.
        new: The same with the new one.
        groups: Case id to its group, of cases that have one.

    Raises:
        ValueError: If they have no case in common.

    Source:
        `poor_bench.statistics.differences`.

    Example:
        >>> proof = prove({str(n): 0.0 for n in range(9)}, {str(n): 1.0 for n in range(9)})
        >>> proof.is_proven, proof.n_better, proof.n_worse
        (True, 9, 0)
    """
    common = [case_id for case_id in base if case_id in new]
    differences = [new[case_id] - base[case_id] for case_id in common]
    named = [groups.get(case_id) for case_id in common] if groups else None
    gain = estimate_paired_difference(differences, named)
    return Proof(
        mean_base=fmean(base[case_id] for case_id in common),
        mean_new=fmean(new[case_id] for case_id in common),
        gain=gain,
        n_better=sum(difference > 0 for difference in differences),
        n_worse=sum(difference < 0 for difference in differences),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptReport:
    """One search as a screen shows it."""

    run_id: str
    header: Mapping[str, Any]
    end: SearchEnd
    proof: Proof | None
    """None where nothing better was found, or the held-out cases could not be tried."""
    n_calls: int
    cost_usd: float | None
    """None if no cost is known."""
    n_failed: int = 0
    """Attempts that failed to run since the search was started or resumed."""
    accepted: str = ""
    """Key of the candidate that was written into the workspace; empty where none was."""

    @property
    def improved(self) -> Candidate | None:
        """The best candidate, if it is not the prompt in use."""
        best = self.end.best
        return None if best is None or best is self.end.base else best

    @property
    def diff(self) -> str:
        """Difference of the best candidate from the current prompt; empty without one."""
        return write_unified_diff(self.base_text, self.improved.text) if self.improved else ""

    @property
    def base_text(self) -> str:
        """The prompt that the search started from."""
        return str(self.header["base_text"])

    def as_json(self) -> dict[str, Any]:
        """Convert the report to JSON values."""
        return {
            "run_id": self.run_id,
            "subject": self.header["name"],
            "llm": self.header["llm"],
            "reflection_llm": self.header["reflection_llm"],
            "n_tests": {part: len(ids) for part, ids in self.header["split"].items()},
            "stopped": self.end.reason.value,
            "message": self.end.message,
            "n_calls": self.n_calls,
            "cost_usd": self.cost_usd,
            "n_failed": self.n_failed,
            "candidates": [asdict(candidate) for candidate in self.end.candidates],
            "best": self.improved.key if self.improved else None,
            "diff": self.diff,
            "proof": _build_proof_json(self.proof),
            "accepted": self.accepted or None,
        }


def read_report(search: KeptSearch) -> PromptReport:
    """Read the report of a search from its file.

    Raises:
        StoreError: If its header is not readable.
    """
    search.require("name", "llm", "reflection_llm", "base_text", "split")
    found = {
        record["key"]: Candidate(**record | {"parents": tuple(record["parents"])})
        for record in search.of_kind("candidate")
    }
    end = search.last("end") or {}
    accepted = search.last("accepted") or {}
    proof = search.last("proof")
    spent = count_spent(search)
    return PromptReport(
        run_id=search.run_id,
        header=search.header,
        end=SearchEnd(
            candidates=tuple(found.values()),
            reason=search.reason,
            message=_read_message(search),
        ),
        proof=prove(proof["base"], proof["new"], proof.get("groups", {})) if proof else None,
        accepted=str(accepted.get("key", "")),
        n_calls=spent.n_calls,
        cost_usd=spent.spent_usd if spent.is_priced else None,
        n_failed=int(end.get("n_failed", 0)),
    )


class Spent(NamedTuple):
    """Calls and cost of a search."""

    n_calls: int
    spent_usd: float
    is_priced: bool
    """True if the cost of a call is known."""


def count_spent(search: KeptSearch) -> Spent:
    """Count calls and cost of a search, from its file."""
    per_case = int(search.header.get("n_calls_per_case", 1))
    attempts, reflections = search.of_kind("attempt"), search.of_kind("reflection")
    costs = [record.get("cost_usd") for record in [*attempts, *reflections]]
    n_calls = sum(record.get("n_calls") or per_case for record in attempts)
    n_calls += len(reflections) + len(search.of_kind("failed"))
    ends = search.of_kind("end")
    n_calls += sum(end.get("n_lost_calls", 0) for end in ends)
    costs += [end["lost_usd"] for end in ends if end.get("lost_usd")]
    known = [cost for cost in costs if cost is not None]
    return Spent(n_calls, sum(known), is_priced=bool(known))


def _read_message(search: KeptSearch) -> str:
    end = search.last("end")
    if search.reason is StopReason.RUNNING:
        return ""
    return str(end.get("message", "")) if end else "The process did not finish."


def _build_proof_json(proof: Proof | None) -> dict[str, Any] | None:
    if proof is None:
        return None
    return {**asdict(proof), "is_proven": proof.is_proven, "sentence": proof.sentence}
