"""Which agent, run and case the page shows, as its address tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from poor_bench.dashboard.addresses import first, search_of
from poor_bench.dashboard.links import Search, read_search
from poor_bench.judge.history.summary import CaseSummary, RunSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSelection:
    """The state of the page; what is empty is chosen by the page."""

    agent: str = ""
    run: str = ""
    case: str = ""
    base: str = ""
    """The run that is compared with; none where empty."""

    @property
    def search(self) -> str:
        """The query part of the address of this state."""
        return search_of(agent=[self.agent], run=[self.run], case=[self.case], base=[self.base])

    def changed(self, **changes: Any) -> JudgeSelection:
        """Copy the state with other values."""
        return replace(self, **changes)


def selection_of(search: str | None) -> JudgeSelection:
    """Parse the query part of an address.

    Example:
        >>> selection_of("?agent=sales&case=hello").case
        'hello'
    """
    return selection_in(read_search(search))


def selection_in(query: Search) -> JudgeSelection:
    """Read the state from a parsed query."""
    names = ("agent", "run", "case", "base")
    return JudgeSelection(**{name: first(query, name) for name in names})


def chosen_run(summaries: Sequence[RunSummary], selection: JudgeSelection) -> RunSummary | None:
    """Select the chosen run, else the newest of the agent, else the newest."""
    named = run_with_id(summaries, selection.run)
    if named is not None:
        return named
    of_agent = [item for item in summaries if item.run.header.agent_id == selection.agent]
    candidates = of_agent or summaries
    return candidates[-1] if candidates else None


def run_with_id(summaries: Sequence[RunSummary], run_id: str) -> RunSummary | None:
    """Find a run by id, or None."""
    return next((item for item in summaries if item.run.run_id == run_id), None)


def chosen_case(summary: RunSummary, selection: JudgeSelection) -> CaseSummary | None:
    """Select the chosen case, else the one with the lowest score."""
    named = [case for case in summary.cases if case.conversation.case_id == selection.case]
    worst = sorted(summary.cases, key=lambda case: 11.0 if case.score is None else case.score)
    return next(iter((*named, *worst)), None)
