"""One self-contained HTML page: works offline, prints, loads nothing.

The template engine escapes all text, and a missing value is an error. The content security policy
allows the page's one stylesheet and its one script by their hashes and nothing else. So a text that
got through could neither run nor load anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from poor_bench import __version__, metrics
from poor_bench.comparison.times import machine_problem, machine_text
from poor_bench.messages import write_count
from poor_bench.reports.findings import findings
from poor_bench.reports.html.answers import answers
from poor_bench.reports.html.charts import HEAT_STEPS, heat_map, scatter, time_bars
from poor_bench.reports.html.tables import changes, leaderboard
from poor_bench.reports.report_data import ReportData

if TYPE_CHECKING:
    from jinja2 import Environment


def report_environment(package: str = __package__, **filters: Callable[..., str]) -> Environment:
    """Load the templates of a package, and those of this one that all reports share.

    Args:
        package: The package with a folder `templates`.
        filters: What its templates call by name.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loaders = [PackageLoader(name) for name in dict.fromkeys((package, __package__))]
    environment = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"counted": write_count, **filters}
    return environment


def report_to_html(data: ReportData, _by: object = None) -> str:
    """Write the report as one HTML page."""
    environment = report_environment()
    style = environment.get_template("report.css").render(heat_steps=HEAT_STEPS).strip()
    script = environment.get_template("report.js").render().strip()
    return environment.get_template("report.html").render(
        style=style,
        script=script,
        policy=content_security_policy(style, script),
        **_content(data),
    )


def content_security_policy(style: str, script: str) -> str:
    """Write the policy that allows one stylesheet and one script, and nothing else.

    Args:
        style: Exactly what stands between the style tags.
        script: Exactly what stands between the script tags.

    Source:
        W3C, Content Security Policy Level 3, section 2.3.1 (hash sources).
    """
    return (
        f"default-src 'none'; style-src {_hash_source(style)}; script-src {_hash_source(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash_source(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


_USAGE = tuple(metric for metric in metrics.USAGE if metric not in metrics.PHASES)
"""Columns beside the bar of phases."""


def _content(data: ReportData) -> dict[str, Any]:
    summaries = data.summaries()
    return {
        "data": data,
        "version": __version__,
        "n_llms": len({result.llm_id for result in data.results}),
        "n_tests": len({result.test_id for result in data.results}),
        "findings": list(findings(data, str)),
        "metrics": metrics,
        "figures": [item for item in metrics.LEADERBOARD[1:] if item.is_shown(summaries)],
        "usage": [item for item in _USAGE if item.is_shown(summaries)],
        "leaders": leaderboard(data),
        "heat_rows": heat_map(data),
        "scatter": scatter(data),
        "time_bars": time_bars(data),
        "changes": changes(data),
        "answers": answers(data),
        "failures": _failure_counts(data),
        "machines": sorted({machine_text(machine) for machine in data.machines}),
        "time_note": machine_problem(data.machines) if len(data.machines) > 1 else "",
    }


def _failure_counts(data: ReportData) -> list[tuple[str, str, str, int]]:
    """Count the trials that failed to run by LLM, kind and message."""
    counts: dict[tuple[str, str, str], int] = {}
    for result in data.failures:
        assert result.failure is not None
        kind = result.failure.kind.value.replace("_", " ")
        key = (data.name(result.llm_id), kind, result.failure.message[:500])
        counts[key] = counts.get(key, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return [(*key, count) for key, count in ordered]
