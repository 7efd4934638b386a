"""One self-contained HTML page: works offline, prints, loads nothing.

The template engine escapes all text, and a missing value is an error. The content security policy
allows the page's one stylesheet and its one script by their hashes and nothing else. So a text that
got through could neither run nor load anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from poor_bench import __version__, metrics
from poor_bench.comparison.times import machine_problem, machine_text
from poor_bench.messages import harmless, write_count
from poor_bench.reports.findings import findings
from poor_bench.reports.html.answers import answers
from poor_bench.reports.html.charts import HEAT_STEPS, heat_map, scatter, time_bars
from poor_bench.reports.html.tables import changes, leaderboard
from poor_bench.reports.report_data import ReportData

if TYPE_CHECKING:
    from jinja2 import Environment


def render_page(
    template: str,
    content: Mapping[str, Any],
    *,
    package: str = __package__,
    style: str = "",
    script: str = "",
    sources: str = "",
    filters: Mapping[str, Callable[..., str]] | None = None,
) -> str:
    """Render one page, which `page.html` frames, with the stylesheet that all reports share.

    Args:
        template: Name of a template that extends `page.html`.
        content: What it shows.
        package: The package with its folder `templates`.
        style: Name of a stylesheet of its own.
        script: Name of its script.
        sources: Further directives of the security policy, such as `img-src data:`.
        filters: What its templates call by name.
    """
    environment = _load_templates(package, filters or {})

    def read(*names: str) -> str:
        texts = (environment.get_template(name).render(heat_steps=HEAT_STEPS) for name in names)
        return "".join(texts).strip()

    css, code = read(*filter(None, ("report.css", style))), read(*filter(None, (script,)))
    policy = "; ".join(filter(None, (content_security_policy(css, code), sources)))
    return environment.get_template(template).render(
        **content, style=css, script=code, policy=policy, version=__version__
    )


def _load_templates(package: str, filters: Mapping[str, Callable[..., str]]) -> Environment:
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loaders = [PackageLoader(name) for name in dict.fromkeys((package, __package__))]
    environment = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        finalize=_make_visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"counted": write_count, **filters}
    return environment


def _make_visible(value: Any) -> Any:
    """Name the characters of a foreign text that cannot be seen; markup of ours stays."""
    is_foreign = isinstance(value, str) and not hasattr(value, "__html__")
    return harmless(value) if is_foreign else value


def report_to_html(data: ReportData, _by: object = None) -> str:
    """Write the report as one HTML page."""
    return render_page("report.html", _content(data), script="report.js")


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
        "n_llms": len({result.llm_id for result in data.results}),
        "n_tests": len({result.test_id for result in data.results}),
        "findings": list(findings(data, str)),
        "metrics": metrics,
        "figures": [item for item in metrics.LEADERBOARD[1:] if item.is_shown(summaries)],
        "usage": [item for item in _USAGE if item.is_shown(summaries)],
        "leaders": leaderboard(data),
        "heat_rows": heat_map(data),
        "heat_steps": HEAT_STEPS,
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
