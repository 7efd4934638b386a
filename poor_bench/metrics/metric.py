"""A figure that screens show: its definition, how its values are written, and short forms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple

from poor_bench.messages import write_count, write_share
from poor_bench.models.result import Result
from poor_bench.statistics.intervals import Estimate, write_basis
from poor_bench.statistics.summary import Summary


def score_text(score: float | None) -> str:
    """Write a score of 0.0 to 1.0, or a share of score.

    Example:
        >>> score_text(0.12345), score_text(None)
        ('0.123', '')
    """
    return "" if score is None else f"{score:.3f}"


def write_signed(difference: float) -> str:
    """Write a difference of scores.

    Example:
        >>> write_signed(0.04), write_signed(-0.25)
        ('+0.040', '-0.250')
    """
    return f"{difference:+.3f}"


def interval_text(low: float, high: float) -> str:
    """Write a confidence interval of scores.

    Example:
        >>> interval_text(0.2366, 0.7634)
        '0.24 to 0.76'
    """
    return f"{low:.2f} to {high:.2f}"


def margin_text(margin: float) -> str:
    """Write half the width of a confidence interval of scores.

    Example:
        >>> margin_text(0.0834)
        '±0.083'
    """
    return f"±{margin:.3f}"


def percent_text(share: float | None) -> str:
    """Write a share of 0.0 to 1.0 as a percentage.

    Example:
        >>> percent_text(0.875)
        '87.5 %'
    """
    return "" if share is None else write_share(share, 1)


def count_text(number: float | None) -> str:
    """Write a count, or a speed, with thousands apart.

    Example:
        >>> count_text(12345), count_text(0), count_text(None)
        ('12,345', '0', '')
    """
    return "" if number is None else f"{number:,.0f}"


def speed_text(tokens_per_s: float | None) -> str:
    """Write a speed: slow ones with a decimal.

    Example:
        >>> speed_text(1234.4), speed_text(48.3), speed_text(4.25)
        ('1,234', '48', '4.2')
    """
    if tokens_per_s is None:
        return ""
    return f"{tokens_per_s:,.0f}" if tokens_per_s >= 10 else f"{tokens_per_s:.1f}"


def time_text(milliseconds: float | None) -> str:
    """Write a duration with about three digits.

    Example:
        >>> time_text(4.2), time_text(850), time_text(12_345), time_text(154_570)
        ('4.20 ms', '850 ms', '12.3 s', '155 s')
    """
    if milliseconds is None:
        return ""
    if milliseconds == 0:
        return "0 ms"
    value, unit = (milliseconds, "ms") if milliseconds < 999.5 else (milliseconds / 1000, "s")
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {unit}"


def cost_text(usd: float | None) -> str:
    """Write an amount in US dollars: below 10 cents with two significant digits.

    Example:
        >>> cost_text(0.000095), cost_text(0.00123), cost_text(0), cost_text(1234.5)
        ('$0.000095', '$0.0012', '$0', '$1,234.50')
    """
    if usd is None:
        return ""
    if usd == 0:
        return "$0"
    return f"${Decimal(f'{usd:.2g}'):f}" if usd < 0.1 else f"${usd:,.2f}"


def memory_text(n_bytes: float | None) -> str:
    """Write an amount of memory.

    Example:
        >>> memory_text(4_000_000_000)
        '4.0 GB'
    """
    return "" if n_bytes is None else f"{n_bytes / 1e9:.1f} GB"


class Better(StrEnum):
    """Which direction of a figure is better."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"


class Figure(NamedTuple):
    """A computed value, and over how many tests or trials it is."""

    value: float
    n: int
    low: float | None = None
    """Limits of the 95 % confidence interval, where there is one."""
    high: float | None = None
    n_groups: int | None = None
    """Groups that its tests are in, if fewer."""


Compute = Callable[[Summary], "Figure | None"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One figure of an LLM, of a part of its tests, or of a single trial."""

    name: str
    """Stable name, also in JSON and as the field of a table."""
    label: str
    """Name on screens."""
    meaning: str
    """One sentence for tooltips."""
    unit: str = ""
    """Unit of the value: `ms`, `tokens/s`, `US$`, `%` ...; empty for scores and counts."""
    compute: Compute
    """Figure of a row; None where nothing is known."""
    of_trial: Callable[[Result], float | None] | None = None
    """The same figure of one trial; None where a trial has none."""
    text: Callable[[float | None], str] = score_text
    """How a value is written."""
    better: Better = Better.NEITHER
    counts: str = "trial"
    """Unit of `Figure.n`: test or trial."""
    heading: str = ""
    """Heading of wide tables and their CSV files, where it is older than the label."""
    scale: float = 1.0
    """Factor to the unit that `heading` names."""
    is_optional: bool = False
    """Tables omit it where no row has a value above 0."""
    shown_for: Compute | None = None
    """Tables omit an optional metric where no row has this figure above 0 instead."""
    is_of_n: bool = False
    """It is a part of `Figure.n`, and written like `5/10`."""

    @property
    def title(self) -> str:
        """Heading of wide tables."""
        return self.heading or self.label

    @property
    def file_heading(self) -> str:
        """Heading of a column of scaled values in files: label and unit."""
        unit = "s" if self.unit == "ms" and self.scale != 1 else self.unit
        return (
            self.label
            if not unit or unit in self.label.lower().split()
            else f"{self.label} ({unit})"
        )

    def value(self, summary: Summary | None) -> float | None:
        """Value of a row; None where it is missing."""
        figure = self.compute(summary) if summary is not None else None
        return None if figure is None else figure.value

    def show(self, summary: Summary | None, missing: str = "") -> str:
        """Write the value of a row."""
        figure = self.compute(summary) if summary is not None else None
        if figure is None:
            return missing
        text = self.text(figure.value)
        return f"{text}/{count_text(figure.n)}" if self.is_of_n else text

    def show_trial(self, result: Result) -> str:
        """Write the value of a trial; empty where it is missing."""
        return self.text(self.of_trial(result)) if self.of_trial else ""

    def show_interval(self, summary: Summary) -> str:
        """Write the confidence interval of a row; empty where there is none."""
        figure = self.compute(summary)
        if figure is None or figure.low is None or figure.high is None:
            return ""
        if self.text is percent_text:
            return f"{100 * figure.low:.0f} to {100 * figure.high:.0f} %"
        return interval_text(figure.low, figure.high)

    def show_n(self, summary: Summary) -> str:
        """Write over how many tests or trials the figure of a row is, such as `12 tests`."""
        figure = self.compute(summary)
        return "" if figure is None else self.write_n(figure)

    @property
    def has_basis(self) -> bool:
        """True if the figure says little without its `n`: a mean, a share, a rate or a sum."""
        return self.text is not count_text

    def show_basis(self, summary: Summary) -> str:
        """Write beside a figure over how many tests or trials it is; empty for a count."""
        return self.show_n(summary) if self.has_basis else ""

    def show_groups(self, summary: Summary) -> str:
        """Write how many groups the tests of a row are in; empty where each stands alone."""
        figure = self.compute(summary)
        return "" if figure is None or figure.n_groups is None else self.write_n(figure)

    def write_n(self, figure: Figure) -> str:
        """Write over how many tests or trials a figure of this kind is."""
        if figure.n_groups is not None:
            return write_basis(figure.n, figure.n_groups)
        return write_count(figure.n, self.counts)

    def is_shown(self, summaries: Iterable[Summary]) -> bool:
        """True if a table of these rows has a column for it."""
        compute = self.shown_for or self.compute
        figures = map(compute, summaries)
        return not self.is_optional or any(figure and figure.value for figure in figures)


def read_estimate(read: Callable[[Summary], Estimate | None]) -> Compute:
    """Read a figure that has a confidence interval."""

    def compute(summary: Summary) -> Figure | None:
        found = read(summary)
        if found is None:
            return None
        n_groups = None if found.n_tests is None else found.n
        return Figure(found.value, found.n_all, found.low, found.high, n_groups)

    return compute


def read_told(name: str) -> Compute:
    """Read a figure that only some trials report."""

    def compute(summary: Summary) -> Figure | None:
        value = getattr(summary, name)
        return None if value is None else Figure(value, summary.n_told.get(name, 0))

    return compute


def compute_mean(name: str) -> Compute:
    """Divide a sum by the number of trials that report it."""

    def compute(summary: Summary) -> Figure | None:
        total, n = getattr(summary, name), summary.n_told.get(name, 0)
        return Figure(total / n, n) if n else None

    return compute


def read_part(owner: str, name: str) -> Compute:
    """Read a figure of the times, or of the phases, of a row."""

    def compute(summary: Summary) -> Figure | None:
        part = getattr(summary, owner)
        return None if part is None else Figure(getattr(part, name), part.n)

    return compute


def read_field(name: str) -> Callable[[Result], float | None]:
    """Read a field of a trial."""
    return lambda result: getattr(result, name)


def compute_rate(tokens: str, milliseconds: str) -> Callable[[Result], float | None]:
    """Divide tokens of a trial by its time: per second; None where it does not report both."""

    def compute(result: Result) -> float | None:
        amount, ms = getattr(result, tokens), getattr(result, milliseconds)
        return amount / ms * 1000 if amount and ms else None

    return compute


def count_metric(
    name: str, label: str, meaning: str, compute: Compute | None = None, **further: Any
) -> Metric:
    """Define a count, of the scored trials unless `compute` says otherwise."""
    count = compute or (lambda row: Figure(getattr(row, name), row.n_scored))
    return Metric(
        name=name, label=label, meaning=meaning, text=count_text, compute=count, **further
    )


def time_metric(
    name: str, label: str, meaning: str, compute: Compute, *, field: str = "", **further: Any
) -> Metric:
    """Define a time; `field` holds that of a trial. Headings of wide tables name seconds."""
    return Metric(
        name=name,
        label=label,
        meaning=meaning,
        unit="ms",
        text=time_text,
        compute=compute,
        of_trial=read_field(field) if field else None,
        better=Better.LOWER,
        scale=0.001 if "heading" in further else 1.0,
        **further,
    )


def speed_metric(
    name: str, label: str, meaning: str, of_trial: Callable[[Result], float | None] | None = None
) -> Metric:
    """Define a speed that only some trials report."""
    return Metric(
        name=name,
        label=label,
        meaning=meaning,
        unit="tokens/s",
        compute=read_told(name),
        of_trial=of_trial,
        text=speed_text,
        better=Better.HIGHER,
        is_optional=True,
    )


def build_told_metric(name: str, label: str, meaning: str, **further: Any) -> Metric:
    """Define a figure that a trial reports itself: tokens, unless `further` says otherwise."""
    values: dict[str, Any] = {"unit": "tokens", "text": count_text, "is_optional": True, **further}
    return Metric(
        name=name,
        label=label,
        meaning=meaning,
        compute=read_told(name),
        of_trial=read_field(name),
        **values,
    )


class StateMetric(NamedTuple):
    """A count of trials by state; every trial has exactly one."""

    label: str
    meaning: str
    names: tuple[str, ...]
    """Counts that it adds up."""
    is_of_total: bool = False

    def count(self, counts: Mapping[str, Any]) -> int:
        """Count the trials of the state."""
        return sum(int(counts[name]) for name in self.names)

    def show(self, counts: Mapping[str, Any]) -> str:
        """Write the count; 0 is left out unless it is of the total."""
        count = self.count(counts)
        return f"{count}/{counts['total']}" if self.is_of_total else str(count or "")
