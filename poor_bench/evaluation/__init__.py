"""Suites of cases for computer-using agents.

```python
from poor_bench.evaluation import load_suite, run_suite, write_suite_report

suite = await load_suite("poor_bench/evaluation/suites/example.yaml")
report = await run_suite(suite)
await write_suite_report(report, "output/evals/report.json")
```
"""

from __future__ import annotations

from poor_bench.evaluation.asynchronous import load_suite, run_suite, write_suite_report
from poor_bench.evaluation.models import (
    EvalCase,
    EvalCaseResult,
    EvalSuite,
    EvalSuiteResult,
    EvalTrialResult,
    Expectations,
)
from poor_bench.evaluation.runner import SuiteOptions

__all__ = [
    "EvalCase",
    "EvalCaseResult",
    "EvalSuite",
    "EvalSuiteResult",
    "EvalTrialResult",
    "Expectations",
    "SuiteOptions",
    "load_suite",
    "run_suite",
    "write_suite_report",
]
