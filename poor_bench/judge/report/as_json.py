"""A judged run as JSON; pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from poor_bench.judge.history.judge_run import header_to_record
from poor_bench.judge.history.summary import RunSummary
from poor_bench.judge.report.wording import notes_on


def run_to_json(summary: RunSummary, *, with_parts: bool = False) -> dict[str, Any]:
    """Convert a run with its figures.

    Args:
        summary: The run.
        with_parts: Whether its conversations and judgements come with it.
    """
    run, panel = summary.run, summary.panel
    record: dict[str, Any] = {
        **header_to_record(run.header),
        "ended": run.ended,
        "is_complete": run.is_complete,
        "approved": summary.is_approved,
        "n_cases_with_broken_rules": summary.n_broken,
        "overall_score": panel.overall_score,
        "scores": dict(panel.scores),
        "case_scores": dict(panel.case_scores),
        "n_judgements": len(run.usable_judgements),
        "n_fallbacks": panel.n_fallbacks,
        "is_self_judged": panel.is_self_judged,
        "noise": summary.noise,
        "disagreement": panel.disagreement,
        "dimension_disagreement": dict(panel.dimension_disagreement),
        "alpha": panel.alpha,
        "judges_apart": [asdict(member) for member in panel.members],
        "cost_usd": run.cost_usd,
        "is_cost_whole": run.is_cost_whole,
        "notes": list(notes_on(summary)),
    }
    if with_parts:
        record["conversations"] = [talk.as_dict() for talk in run.conversations]
        record["judgements"] = [judgement.as_dict() for judgement in run.judgements]
    return record
