"""Trials that failed to run, by LLM and reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from poor_bench.runner.plan import TrialName

if TYPE_CHECKING:
    from poor_bench.dashboard.services.result_table import ResultTable
    from poor_bench.models.failure import FailureKind


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureGroup:
    """Failures of one LLM for one reason."""

    llm_id: str
    kind: FailureKind
    message: str
    """Of the first of them."""
    trials: tuple[TrialName, ...]


def failure_groups(table: ResultTable) -> list[FailureGroup]:
    """Return what failed to run, most trials first."""
    kinds = table.values["failure_kind"]
    groups: dict[tuple[str, FailureKind], list[int]] = {}
    for code, kind in enumerate(kinds):
        if kind is not None:
            for row in (table.codes["failure_kind"] == code).nonzero()[0]:
                groups.setdefault((table.value("llm_id", row), kind), []).append(int(row))
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    return [_group(table, llm_id, kind, rows) for (llm_id, kind), rows in ordered]


def _group(table: ResultTable, llm_id: str, kind: FailureKind, rows: list[int]) -> FailureGroup:
    failure = table.whole(rows[0]).failure
    keys = (table.key(row) for row in rows)
    return FailureGroup(
        llm_id=llm_id,
        kind=kind,
        message=failure.message if failure is not None else "",
        trials=tuple(TrialName(llm_id, key.test_id, key.trial) for key in keys),
    )
