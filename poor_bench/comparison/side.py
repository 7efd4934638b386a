"""One of the two sets of results that are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from poor_bench.models.result import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What is known of a run as a whole; empty where it is not known."""

    llm_fingerprints: Mapping[str, str] = field(default_factory=dict)
    """LLM id to a hash of model and parameters."""
    machine: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two sets of results that are compared: a run, a file, or what one LLM did."""

    name: str
    """What screens call it."""
    results: tuple[Result, ...]
    """The newest result of every trial, failures included."""
    is_llm: bool = False
    """Whether it was chosen as an LLM, so that it may be compared with another one."""
    runs: Mapping[str, RunFacts] = field(default_factory=dict)
    """Run id to what is known of the run that a result comes from."""

    def by_llm(self) -> dict[str, list[Result]]:
        """Return the results of each LLM, in the order in which the LLMs first appear."""
        grouped: dict[str, list[Result]] = {}
        for result in self.results:
            grouped.setdefault(result.llm_id, []).append(result)
        return grouped
