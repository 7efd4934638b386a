"""One self-contained HTML page: works offline, prints, loads nothing.

The template engine escapes all text, and a missing value is an error. The content security policy
allows the page's one stylesheet and its one script by their hashes and nothing else. So a text that
got through could neither run nor load anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from poor_bench import __version__, metrics
from poor_bench.comparison.side_rows import describe_machine, find_machine_problem
from poor_bench.messages import harmless, write_count
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.reports.findings import list_findings
from poor_bench.reports.html.charts import (
    HEAT_STEPS,
    build_heat_map,
    build_scatter,
    choose_heat_step,
    time_bars,
)
from poor_bench.reports.html.tables import build_leaderboard, list_changes
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
    policy = "; ".join(filter(None, (write_content_security_policy(css, code), sources)))
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
    return render_page("report.html", _build_content(data), script="report.js")


def write_content_security_policy(style: str, script: str) -> str:
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


def _build_content(data: ReportData) -> dict[str, Any]:
    summaries = data.summaries()
    return {
        "data": data,
        "n_llms": len({result.llm_id for result in data.results}),
        "n_tests": len({result.test_id for result in data.results}),
        "findings": list(list_findings(data, str)),
        "metrics": metrics,
        "figures": [item for item in metrics.LEADERBOARD[1:] if item.is_shown(summaries)],
        "usage": [item for item in _USAGE if item.is_shown(summaries)],
        "leaders": build_leaderboard(data),
        "heat_rows": build_heat_map(data),
        "heat_steps": HEAT_STEPS,
        "scatter": build_scatter(data),
        "time_bars": time_bars(data),
        "changes": list_changes(data),
        "answers": answers(data),
        "failures": _count_failures(data),
        "machines": sorted({describe_machine(machine) for machine in data.machines}),
        "time_note": find_machine_problem(data.machines) if len(data.machines) > 1 else "",
    }


def _count_failures(data: ReportData) -> list[tuple[str, str, str, int]]:
    """Count the trials that failed to run by LLM, kind and message."""
    counts: dict[tuple[str, str, str], int] = {}
    for result in data.failures:
        assert result.failure is not None
        kind = result.failure.kind.value.replace("_", " ")
        key = (data.name(result.llm_id), kind, result.failure.message[:500])
        counts[key] = counts.get(key, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return [(*key, count) for key, count in ordered]


MAX_TESTS = 1000
MAX_CHARACTERS = 6_000_000
_PROMPT, _RESPONSE, _THINKING, _DETAILS = 4000, 4000, 1500, 2000
_FACTS = (metrics.MEAN_TIME, metrics.FIRST_TOKEN, metrics.COMPLETION_TOKENS)
CUT = "\n[... shortened]"
LEFT_OUT = "[left out of this page: see the CSV or JSON report]"


class Answer(NamedTuple):
    """One trial."""

    llm_id: str
    name: str
    trial: int
    step: int | None
    """Step of the palette; None for a trial that failed to run."""
    score_text: str
    failure: str
    response: str
    thinking: str
    details: str
    facts: list[tuple[str, str]]


class Cell(NamedTuple):
    """One LLM on one test, as a coloured dot."""

    step: int | None
    title: str


class AnsweredTest(NamedTuple):
    """One test with all that was answered."""

    test_id: str
    class_id: str
    level: int
    mean: float
    """Mean score of the scored trials; -1 where there is none."""
    mean_text: str
    n_scored: int
    """Trials that the mean is over."""
    spread: float
    """Highest minus lowest score, 0.0 to 1.0."""
    has_failure: bool
    prompt: str
    system_prompt: str
    cells: list[Cell]
    answers: list[Answer]


class Answers(NamedTuple):
    """Tests on the page."""

    tests: list[AnsweredTest]
    n_left_out: int
    """Tests that are not shown; those that lost most score are."""


def answers(data: ReportData, *, max_characters: int = MAX_CHARACTERS) -> Answers:
    """Collect the tests that have results.

    Args:
        data: The report.
        max_characters: How much text of prompts, responses and details is shown in all.
    """
    by_test: dict[str, list[Result]] = {}
    for result in data.results:
        by_test.setdefault(result.test_id, []).append(result)
    costly = sorted(by_test, key=lambda test_id: _mean(by_test[test_id]))[:MAX_TESTS]
    budget = _Budget(max_characters)
    shown = {
        test_id: _test(data.tests[test_id], by_test[test_id], data, budget) for test_id in costly
    }
    ordered = [shown[test_id] for test_id in data.tests if test_id in shown]
    return Answers(ordered, len(by_test) - len(ordered))


class _Budget:
    """Cuts texts, and leaves them out altogether once enough was shown."""

    def __init__(self, n_characters: int) -> None:
        self._left = n_characters

    def take(self, text: str, limit: int) -> str:
        if not text:
            return ""
        if self._left <= 0:
            return LEFT_OUT
        shown = text if len(text) <= limit else text[:limit] + CUT
        self._left -= len(shown)
        return shown


def _mean(results: Sequence[Result]) -> float:
    scores = [result.score for result in results if result.score is not None]
    return sum(scores) / len(scores) if scores else -1.0


def _test(test: Test, results: Sequence[Result], data: ReportData, budget: _Budget) -> AnsweredTest:
    ordered = sorted(results, key=lambda result: (data.places[result.llm_id], result.trial))
    scores = [result.score for result in results if result.score is not None]
    mean = _mean(results)
    asked = next((result for result in ordered if result.prompt), None)
    return AnsweredTest(
        test_id=test.test_id,
        class_id=test.class_id,
        level=test.level,
        mean=mean,
        mean_text=f"{mean:.2f}" if scores else "-",
        n_scored=len(scores),
        spread=max(scores) - min(scores) if scores else 0.0,
        has_failure=len(scores) < len(results),
        prompt=budget.take(asked.prompt if asked else test.text or "", _PROMPT),
        system_prompt=budget.take(asked.system_prompt if asked else "", _PROMPT),
        cells=[_build_cell(result, data) for result in ordered],
        answers=[_answer(result, data, budget) for result in ordered],
    )


def _build_cell(result: Result, data: ReportData) -> Cell:
    told = "failed to run" if result.score is None else f"{result.score:.2f}"
    step = None if result.score is None else choose_heat_step(result.score)
    return Cell(step, f"{data.name(result.llm_id)}: {told}")


def _answer(result: Result, data: ReportData, budget: _Budget) -> Answer:
    failure = result.failure
    return Answer(
        llm_id=result.llm_id,
        name=data.name(result.llm_id),
        trial=result.trial,
        step=None if result.score is None else choose_heat_step(result.score),
        score_text="-" if result.score is None else f"{result.score:.2f}",
        failure=f"{failure.kind.value}: {failure.message}"[:_DETAILS] if failure else "",
        response=budget.take(result.response, _RESPONSE),
        thinking=budget.take(result.thinking, _THINKING),
        details=budget.take(result.details, _DETAILS),
        facts=_list_facts(result),
    )


def _list_facts(result: Result) -> list[tuple[str, str]]:
    """List what else is known, names first."""
    found = [
        ("expected", result.expected[:200]),
        ("got", result.got[:200]),
        ("found", result.found),
        (metrics.STRICT_SCORE.label, metrics.STRICT_SCORE.show_trial(result)),
        ("finished", result.finish_reason),
        ("flags", ", ".join(result.marks)),
        *((metric.label, metric.show_trial(result)) for metric in _FACTS),
    ]
    return [(name, value) for name, value in found if value]
