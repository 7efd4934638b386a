"""Report of a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from poor_bench.statistics.intervals import Estimate
from poor_bench.tuning.kept_searches import KeptSearch
from poor_bench.tuning.params.standing import Standing, verdict_on
from poor_bench.tuning.stopping import StopReason


@dataclass(frozen=True, slots=True, kw_only=True)
class ParamsReport:
    """One sweep as a screen shows it."""

    run_id: str
    header: Mapping[str, Any]
    standings: tuple[Standing, ...]
    """Best first."""
    dropped: Mapping[str, str]
    """Variant that was dropped early to the one that beat it."""
    reason: StopReason
    message: str
    n_calls: int
    cost_usd: float
    accepted: str = ""
    """Id of the variant that was added to llms.json; empty where none was."""

    @property
    def base_id(self) -> str:
        """Id of the baseline model."""
        return str(self.header["llm"])

    @property
    def verdict(self) -> str:
        """Statement on the significance of the best variant."""
        return verdict_on(self.standings, self.base_id)

    @property
    def best(self) -> Standing | None:
        """The best complete variant, if it scores above the baseline."""
        first = next(iter(self.standings), None)
        is_above = first is not None and first.gain is not None and first.gain.value > 0
        return first if first is not None and first.is_complete and is_above else None

    def as_json(self) -> dict[str, Any]:
        """Convert the report to JSON values."""
        return {
            "run_id": self.run_id,
            "llm": self.base_id,
            "classes": self.header["name"],
            "n_tests": len(self.header["tests"]),
            "stopped": self.reason.value,
            "message": self.message,
            "n_calls": self.n_calls,
            "cost_usd": self.cost_usd,
            "verdict": self.verdict,
            "best": self.best.variant_id if self.best else None,
            "is_better": self.best is not None and self.best.is_better,
            "variants": [
                {
                    **asdict(row),
                    "is_better": row.is_better,
                    "dropped_for": self.dropped.get(row.variant_id),
                }
                for row in self.standings
            ],
            "accepted": self.accepted or None,
        }


def kept_report(search: KeptSearch) -> ParamsReport:
    """Read the report of a sweep from its file."""
    end = search.last("end") or {}
    accepted = search.last("accepted") or {}
    return ParamsReport(
        run_id=search.run_id,
        header=search.header,
        standings=tuple(_standing(row) for row in end.get("standings", ())),
        dropped={record["id"]: record["leader"] for record in search.of_kind("dropped")},
        reason=StopReason(end.get("reason", StopReason.CANCELLED)),
        message=str(end.get("message", "" if end else "the process ended")),
        n_calls=int(end.get("n_calls", 0)),
        cost_usd=float(end.get("cost_usd", 0.0)),
        accepted=str(accepted.get("key", "")),
    )


def _standing(row: Mapping[str, Any]) -> Standing:
    estimates = {name: row[name] and Estimate(**row[name]) for name in ("score", "gain")}
    return Standing(**{**row, **estimates})
