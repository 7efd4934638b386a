"""JUnit XML, which continuous integration servers show as a list of tests.

```
<testsuites><testsuite name="LLM id" ...>
  <properties><property name="score" value="0.93"/>...</properties>
  <testcase classname="test class" name="test id" time="0.8"><failure .../></testcase>
</testsuite></testsuites>
```

A test below the pass mark is a failure; a test that failed to run is an error.

Source:
    The schema that Jenkins and pytest share (`junit-10.xsd` of the xUnit plug-in).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from poor_bench import metrics
from poor_bench.models.result import Result
from poor_bench.reports.report_data import ReportData
from poor_bench.statistics.summary import Summary

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TEXT_LIMIT = 4000
_PROPERTIES = (
    (metrics.SCORED_SHARE, 4), (metrics.SCORE, 4), (metrics.MEDIAN_TIME, 1), (metrics.P95_TIME, 1),
    (metrics.COST, 6), (metrics.JUDGE_COST, 6), (metrics.N_STALE, 0),
)  # fmt: skip
"""Figures of a suite, and their decimals."""


def report_to_junit(data: ReportData, _by: object = None) -> str:
    """Write the results as JUnit XML: a suite for every LLM, a case for every trial."""
    root = Element("testsuites", name=xml_text(data.title))
    for summary in data.summaries():
        llm_id = summary.group.llm_id
        results = [result for result in data.trials if result.llm_id == llm_id]
        _add_suite(root, summary, results, data)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def xml_text(text: str) -> str:
    r"""Replace the characters that XML 1.0 cannot hold.

    Source:
        Extensible Markup Language (XML) 1.0, fifth edition, section 2.2.

    Example:
        >>> xml_text("a\x1b[2Jb") == "a\ufffd[2Jb"
        True
    """
    return _NOT_XML.sub("\ufffd", text)


def _add_suite(
    root: Element, summary: Summary, results: Sequence[Result], data: ReportData
) -> None:
    below = [result for result in results if _is_below(result, data.pass_score)]
    suite = SubElement(
        root,
        "testsuite",
        name=xml_text(data.name(summary.group.llm_id)),
        tests=str(len(results)),
        failures=str(len(below)),
        errors=str(summary.n_failed),
        skipped="0",
        time=_seconds(sum(result.execution_time_ms or 0.0 for result in results)),
        timestamp=data.created[:19],
    )
    properties = SubElement(suite, "properties")
    for name, value in _properties(summary, data):
        SubElement(properties, "property", name=name, value=xml_text(value))
    for result in results:
        _add_case(suite, result, data)


def _properties(summary: Summary, data: ReportData) -> list[tuple[str, str]]:
    found = [
        ("llm_id", summary.group.llm_id),
        ("pass_mark", f"{data.pass_score:g}"),
    ]
    if summary.score is not None:
        estimate = summary.score
        found.append(("score_interval", f"{estimate.low:.4f} to {estimate.high:.4f}"))
    for metric, digits in _PROPERTIES:
        value = metric.value(summary)
        if value is not None:
            found.append((metric.name, f"{value:.{digits}f}"))
    return found


def _add_case(suite: Element, result: Result, data: ReportData) -> None:
    test = data.tests[result.test_id]
    trial = f" (trial {result.trial})" if result.trial > 1 else ""
    case = SubElement(
        suite,
        "testcase",
        classname=xml_text(test.class_id),
        name=xml_text(f"{result.test_id}{trial}"),
        time=_seconds(result.execution_time_ms or 0.0),
    )
    if result.failure is not None:
        _add_problem(case, "error", result.failure.kind.value, result.failure.message, "")
    elif _is_below(result, data.pass_score):
        message = f"score {result.score:.3f} is below {data.pass_score:g}"
        _add_problem(case, "failure", "score", message, result.details)
    if result.response:
        SubElement(case, "system-out").text = xml_text(result.response[:_TEXT_LIMIT])


def _add_problem(case: Element, tag: str, kind: str, message: str, text: str) -> None:
    problem = SubElement(case, tag, type=kind, message=xml_text(message))
    problem.text = xml_text(text[:_TEXT_LIMIT])


def _is_below(result: Result, pass_score: float) -> bool:
    return result.score is not None and result.score < pass_score


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"
