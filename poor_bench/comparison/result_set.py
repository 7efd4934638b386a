"""A set of results that is compared: a run, a file, the present results, or one LLM's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from poor_bench.models.result import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """Facts about a run as a whole; empty if unknown."""

    llm_fingerprints: Mapping[str, str] = field(default_factory=dict)
    """LLM id to a hash of model and parameters."""
    machine: Mapping[str, Any] = field(default_factory=dict)
    machines: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Name to facts of the machines of a cluster that asked; empty for other runs."""
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """LLM id to its parameters; older runs did not record them."""
    servers: Mapping[str, str] = field(default_factory=dict)
    """LLM id to name and version of what serves it, where that is known."""
    program: str = ""
    """Version of poor_bench."""

    def find_machine(self, result: Result) -> Mapping[str, Any]:
        """Find the facts of the machine that asked for a result; empty if unknown."""
        return self.machines.get(result.machine, {}) if result.machine else self.machine

    @property
    def measured_on(self) -> tuple[Mapping[str, Any], ...]:
        """Known facts of all machines that the run's times were measured on."""
        machines = self.machines.values() or (self.machine,)
        return tuple(machine for machine in machines if machine)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultSet:
    """One of the two sets of results that are compared: a run, a file, or what one LLM did."""

    name: str
    """Name on screens."""
    results: tuple[Result, ...]
    """The newest result of every trial, failures included."""
    is_llm: bool = False
    """True if it was chosen as an LLM, and may be compared with another one."""
    runs: Mapping[str, RunFacts] = field(default_factory=dict)
    """Run id to what is known of the run that a result comes from."""

    def by_llm(self) -> dict[str, list[Result]]:
        """Group the results by LLM, in the order in which the LLMs first appear."""
        grouped: dict[str, list[Result]] = {}
        for result in self.results:
            grouped.setdefault(result.llm_id, []).append(result)
        return grouped


LLMPair = tuple[str, str]
"""Id before and id after; the same for one LLM at two times."""


def llm_pairs(before: ResultSet, after: ResultSet) -> list[LLMPair]:
    """Pair each LLM of both result sets with itself, or two LLMs that were named.

    Returns:
        Pairs in the order of `after`. Different LLMs form a pair only where both sides were chosen
        as an LLM: an LLM that one side lacks is new or gone, not changed.
    """
    ids_before, ids_after = before.by_llm(), after.by_llm()
    if before.is_llm and after.is_llm:
        return list(zip(ids_before, ids_after, strict=False))
    return [(llm_id, llm_id) for llm_id in ids_after if llm_id in ids_before]


def llms_apart(before: ResultSet, after: ResultSet) -> tuple[list[str], list[str]]:
    """Find the LLMs of each result set that are compared with nothing."""
    pairs = llm_pairs(before, after)
    compared_before = {llm_id for llm_id, _ in pairs}
    compared_after = {llm_id for _, llm_id in pairs}
    return (
        [llm_id for llm_id in before.by_llm() if llm_id not in compared_before],
        [llm_id for llm_id in after.by_llm() if llm_id not in compared_after],
    )


def by_test(results: list[Result]) -> dict[str, list[Result]]:
    """Group results by test, in the order in which the tests first appear."""
    grouped: dict[str, list[Result]] = {}
    for result in results:
        grouped.setdefault(result.test_id, []).append(result)
    return grouped
