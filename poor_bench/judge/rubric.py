"""Rubrics: weighted dimensions, written as Markdown; pure.

A rubric is Markdown in which every heading of the third level is a dimension:

    ### 1. TONE (20%)
    Friendly and professional; no pressure.

What stands before the first dimension, or below another heading, holds for all dimensions.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from textwrap import dedent

from poor_bench.errors import ConfigError
from poor_bench.models.problem import Problem

_HEADING = re.compile(r"\s{0,3}(?P<level>#{1,6})\s+(?P<title>.*?)\s*#*\s*")
_DIMENSION = re.compile(
    r"^(?:\d+\s*[.):]\s*)?(?P<title>.*?\S)\s*\(\s*(?P<weight>[+-]?\d+(?:[.,]\d+)?)\s*%\s*\)"
)
_FENCE = re.compile(r"\s{0,3}(```|~~~)")
_DIMENSION_LEVEL = 3
_WHOLE = 100.0
_ROUNDING = 0.05
"""Tolerance for weights such as three times 33.33."""
_FORM = "write it as `### 1. NAME (30%)`"


@dataclass(frozen=True, slots=True)
class Dimension:
    """A criterion that a judge scores from 0 to 10."""

    name: str
    """Key in `scores`: lower case, words joined by underscores."""
    weight: float
    """Percent of the overall score, above 0; the weights of a rubric sum to 100."""
    description: str = ""


@dataclass(frozen=True)
class Rubric:
    """Criteria of a judge."""

    name: str
    dimensions: tuple[Dimension, ...]
    text: str = ""
    """Text for all dimensions."""

    @cached_property
    def hash(self) -> str:
        """16 hexadecimal digits that change with the content, not the name."""
        parts = [[item.name, item.weight, item.description] for item in self.dimensions]
        told = json.dumps([self.text, parts])
        return hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the dimensions, in order."""
        return tuple(dimension.name for dimension in self.dimensions)


DEFAULT_RUBRIC = Rubric(
    name="default",
    dimensions=(
        Dimension(
            "completeness",
            25.0,
            "The agent learns what a lead has to be qualified by: budget, authority (who decides),"
            " need and timeline.",
        ),
        Dimension("tone", 20.0, "Polite, professional and natural; fits the person it talks to."),
        Dimension(
            "engagement",
            20.0,
            "Listens, refers to what was said, asks good questions and keeps the conversation"
            " going.",
        ),
        Dimension(
            "compliance",
            20.0,
            "Keeps to its instructions; promises and claims nothing that they do not cover; treats"
            " personal data with care.",
        ),
        Dimension("conversion", 15.0, "Leads to a clear next step, without pressing for it."),
    ),
)


def parse_rubric(
    markdown: str, strict: bool = False, *, name: str = "custom"
) -> tuple[Rubric, tuple[str, ...]]:
    """Parse a Markdown rubric.

    Args:
        markdown: Dimensions as `### 1. NAME (30%)`, each with its description below.
        strict: True if weights that do not sum to 100 are an error instead of normalised.
        name: What messages call it, such as the path of its file.

    Returns:
        The rubric; one sentence for each correction.

    Raises:
        ConfigError: With every problem of the text and its line.
    """
    sections = _split_sections(markdown)
    wanted = [section for section in sections if section.level == _DIMENSION_LEVEL]
    problems = list(_find_problems(wanted, name))
    total = sum(section.weight or 0.0 for section in wanted)
    warnings: tuple[str, ...] = ()
    if not problems and abs(total - _WHOLE) > _ROUNDING:
        message = f"the weights sum to {total:g} %, not 100 %"
        if strict:
            problems.append(Problem(file=name, place="", message=message, line=wanted[0].line))
        warnings = (f"{name}: {message}; normalised",)
    if problems:
        raise ConfigError(f"the rubric {name} is not valid: {problems[0]}", problems=problems)
    general = [section.body for section in sections if section.level != _DIMENSION_LEVEL]
    dimensions = tuple(
        Dimension(section.name, (section.weight or 0.0) * _WHOLE / total, section.body)
        if warnings
        else Dimension(section.name, section.weight or 0.0, section.body)
        for section in wanted
    )
    return Rubric(name, dimensions, "\n\n".join(filter(None, general))), warnings


def read_dimension_name(title: str) -> str:
    """Convert a title to the name of a dimension.

    Example:
        >>> read_dimension_name("Need & Timeline")
        'need_timeline'
    """
    return "_".join(re.findall(r"\w+", title.lower()))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    """A heading with its text."""

    level: int = 0
    """0 for text before the first heading."""
    title: str = ""
    line: int = 1
    body: str = ""

    @property
    def weight(self) -> float | None:
        match = _DIMENSION.fullmatch(self.title)
        return float(match["weight"].replace(",", ".")) if match else None

    @property
    def name(self) -> str:
        match = _DIMENSION.fullmatch(self.title)
        return read_dimension_name(match["title"] if match else self.title)


def _split_sections(markdown: str) -> list[_Section]:
    sections = [_Section()]
    body: list[str] = []
    is_fenced = False
    for number, line in enumerate(_drop_margin(markdown), start=1):
        is_fenced ^= _FENCE.match(line) is not None
        heading = None if is_fenced else _HEADING.fullmatch(line)
        if heading is None or len(heading["level"]) > _DIMENSION_LEVEL:
            body.append(line)
            continue
        sections[-1] = replace(sections[-1], body="\n".join(body).strip())
        body = []
        sections.append(_Section(level=len(heading["level"]), title=heading["title"], line=number))
    sections[-1] = replace(sections[-1], body="\n".join(body).strip())
    return sections


def _drop_margin(markdown: str) -> list[str]:
    """Split into lines and drop their common indentation, as of a triple-quoted text in code.

    The first line does not count: it may follow the quotes directly.
    """
    first, *rest = markdown.splitlines() or [""]
    return [first.lstrip(), *dedent("\n".join(rest)).split("\n")]


def _find_problems(wanted: Sequence[_Section], name: str) -> Iterator[Problem]:
    if not wanted:
        yield Problem(
            file=name, place="", message="the rubric has no dimension", hint=_FORM, line=1
        )
    seen: dict[str, int] = {}
    for section in wanted:
        message = _find_problem(section)
        if not message and section.name in seen:
            message = f"{section.name!r} is already defined in line {seen[section.name]}"
        seen.setdefault(section.name, section.line)
        if message:
            yield Problem(file=name, place="", message=message, hint=_FORM, line=section.line)


def _find_problem(section: _Section) -> str:
    if section.weight is None:
        return f"the dimension {section.title!r:.80} has no weight"
    if not 0 < section.weight <= _WHOLE:
        return f"the weight of {section.title!r:.80} must be greater than 0 and at most 100 %"
    return "" if section.name else f"the dimension {section.title!r:.80} has no name"
