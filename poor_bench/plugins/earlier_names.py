"""Earlier names of what evaluators and detectors of users may import.

A user may have copied one of our evaluators. Such a file keeps loading although modules that it
imports have been folded into others, and functions have other names. Add a line here when something
moves that evaluators import.
"""

from __future__ import annotations

import sys
from importlib import import_module

_NOW = {
    "poor_bench.extraction.boxed": "poor_bench.extraction.fences",
    "poor_bench.extraction.brackets": "poor_bench.extraction.json_value",
    "poor_bench.extraction.code_parts": "poor_bench.extraction.code",
    "poor_bench.extraction.denial": "poor_bench.extraction.label",
    "poor_bench.extraction.diff_application": "poor_bench.extraction.unified_diff",
    "poor_bench.extraction.diff_comparison": "poor_bench.extraction.unified_diff",
    "poor_bench.extraction.item_comparison": "poor_bench.extraction.field_comparison",
    "poor_bench.extraction.meant_number": "poor_bench.extraction.number",
    "poor_bench.scoring.answer_format": "poor_bench.scoring.verdict",
    "poor_bench.scoring.context": "poor_bench.scoring.judging",
    "poor_bench.scoring.format_rule": "poor_bench.scoring.verdict",
    "poor_bench.scoring.cost": "poor_bench.models.cost",
    "poor_bench.scoring.no_answer": "poor_bench.scoring.verdict",
    "poor_bench.scoring.parts": "poor_bench.scoring.judging",
    "poor_bench.wording": "poor_bench.messages",
}


_FUNCTIONS_NOW = {
    "poor_bench.extraction.fences": {"fenced_blocks": "find_fenced_blocks"},
    "poor_bench.extraction.unified_diff": {"changed_lines": "list_changed_lines"},
    "poor_bench.messages": {"counted": "write_count"},
    "poor_bench.sandbox.report": {
        "case_report": "report_case",
        "check_report": "report_check",
        "load_report": "report_load",
        "span": "quote_span",
        "with_output": "append_output",
    },
    "poor_bench.models.cost": {
        "estimated_cost_usd": "estimate_cost_usd",
        "estimated_tokens": "estimate_tokens",
    },
    "poor_bench.scoring.verdict": {
        "bounded_details": "cut_details",
        "marks_of": "list_flags",
        "verdict_of": "check_verdict",
    },
}


def provide_earlier_names() -> None:
    """Let `import` find each module and function under its earlier name, too."""
    for earlier, now in _NOW.items():
        if earlier not in sys.modules:
            sys.modules[earlier] = import_module(now)
    for name, functions in _FUNCTIONS_NOW.items():
        module = import_module(name)
        for earlier, now in functions.items():
            setattr(module, earlier, getattr(module, now))
