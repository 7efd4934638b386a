"""JUnit XML, which continuous integration servers show as a list of tests.

```
<testsuites><testsuite name="LLM id" ...>
  <properties><property name="score" value="0.93"/>...</properties>
  <testcase classname="test class" name="test id" time="0.8"><failure .../></testcase>
</testsuite></testsuites>
```

Source:
    The schema that Jenkins and pytest share (`junit-10.xsd` of the xUnit plug-in).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, indent, tostring

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TEXT_LIMIT = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class JUnitProblem:
    """Why a case did not pass."""

    tag: str
    """`failure`, `error` (it could not be run) or `skipped`."""
    message: str
    kind: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JUnitCase:
    """One case of a suite."""

    class_name: str
    name: str
    time_ms: float | None = None
    problem: JUnitProblem | None = None
    output: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JUnitSuite:
    """A suite of cases."""

    name: str
    cases: Iterable[JUnitCase]
    properties: Mapping[str, str] = field(default_factory=dict)
    started: str = ""
    """ISO 8601; empty if not known."""


def write_junit(title: str, suites: Iterable[JUnitSuite]) -> str:
    """Write suites as JUnit XML; long texts are cut."""
    return "".join(write_junit_pieces(title, suites))


def write_junit_pieces(title: str, suites: Iterable[JUnitSuite]) -> Iterator[str]:
    """Write the same suite by suite, so that not all of it is in memory."""
    root = Element("testsuites", name=write_xml_text(title))
    begin = tostring(root, encoding="unicode").removesuffix(" />")
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n{begin}>\n'
    for suite in suites:
        element = _build_suite(suite)
        indent(element, level=1)
        yield f"  {tostring(element, encoding='unicode')}\n"
    yield "</testsuites>\n"


def write_xml_text(text: str) -> str:
    r"""Replace the characters that XML 1.0 cannot hold.

    Source:
        Extensible Markup Language (XML) 1.0, fifth edition, section 2.2.

    Example:
        >>> write_xml_text("a\x1b[2Jb") == "a\ufffd[2Jb"
        True
    """
    return _NOT_XML.sub("\ufffd", text)


def _build_suite(suite: JUnitSuite) -> Element:
    cases = list(suite.cases)
    counts = Counter(case.problem.tag for case in cases if case.problem)
    times = [case.time_ms for case in cases if case.time_ms is not None]
    attributes = {
        "tests": str(len(cases)),
        "failures": str(counts["failure"]),
        "errors": str(counts["error"]),
        "skipped": str(counts["skipped"]),
        "time": _write_seconds(sum(times)) if times else "",
        "timestamp": suite.started[:19],
    }
    element = _build("testsuite", name=suite.name, **attributes)
    if suite.properties:
        properties = _add(element, "properties")
        for name, value in suite.properties.items():
            _add(properties, "property", name=name).set("value", write_xml_text(value))
    for case in cases:
        _add_case(element, case)
    return element


def _add_case(suite: Element, case: JUnitCase) -> None:
    time = "" if case.time_ms is None else _write_seconds(case.time_ms)
    element = _add(suite, "testcase", classname=case.class_name, name=case.name, time=time)
    problem = case.problem
    if problem is not None:
        shown = _add(element, problem.tag, type=problem.kind, message=problem.message)
        shown.text = write_xml_text(problem.text[:_TEXT_LIMIT])
    if case.output:
        _add(element, "system-out").text = write_xml_text(case.output[:_TEXT_LIMIT])


def _add(parent: Element, tag: str, **attributes: str) -> Element:
    element = _build(tag, **attributes)
    parent.append(element)
    return element


def _build(tag: str, **attributes: str) -> Element:
    """Build an element with those attributes that are not empty."""
    return Element(
        tag, {name: write_xml_text(value) for name, value in attributes.items() if value}
    )


def _write_seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"
