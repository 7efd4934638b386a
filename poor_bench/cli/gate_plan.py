"""`gate --plan`: how many trials a check for regressions needs, before they are run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poor_bench.cli.context import AppContext
from poor_bench.cli.output import print_json, print_table, say

if TYPE_CHECKING:
    from poor_bench.gates.gate import Gate
    from poor_bench.runner.selection import Selection


def print_plans(
    app: AppContext,
    selection: Selection,
    gates: list[Gate],
    *,
    drop: float,
    power: float,
    tolerance: float,
    as_json: bool,
) -> int:
    """Print the planned chances of each LLM; 0 is the exit code."""
    from poor_bench.cli.evidence import gather_evidence
    from poor_bench.gates.plan import plan_gates
    from poor_bench.reports.gate_text import plan_lines, plan_rows, plans_to_json

    evidence = gather_evidence(app.config, selection, gates, pass_score=1.0)
    plans = plan_gates(gates, evidence, drop, power, tolerance)
    if as_json:
        print_json(plans_to_json(plans))
        return 0
    for plan in plans:
        name = app.llm_names.get(plan.llm_id, plan.llm_id)
        for line in plan_lines(plan, name):
            say(line)
        print_table(plan_rows(plan))
    return 0
