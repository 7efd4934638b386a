"""Modules that evaluators and detectors of users may import under their earlier names.

A user may have copied one of our evaluators. Such a file keeps loading although the modules that
it imports have been folded into others. Add a line here when a module that evaluators import moves.
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
    "poor_bench.scoring.no_answer": "poor_bench.scoring.verdict",
    "poor_bench.scoring.parts": "poor_bench.scoring.judging",
    "poor_bench.wording": "poor_bench.messages",
}


def provide_earlier_names() -> None:
    """Let `import` find each module under its earlier name, too."""
    for earlier, now in _NOW.items():
        if earlier not in sys.modules:
            sys.modules[earlier] = import_module(now)
