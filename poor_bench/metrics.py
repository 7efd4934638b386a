"""The catalogue of figures: each is defined once, and every screen draws from here.

A metric knows what it is called, what it means, how it is computed and how it is written. Screens
choose metrics and lay them out; they compute and format nothing. A figure that no trial reports is
missing: None for machines, empty (or a dash) for people, never 0. A mean says over how many.

To add a metric, add an entry to `METRICS`; if it needs a new sum over results, take that sum in
`poor_bench.statistics.summarise`. Name it where a screen should show it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple

from poor_bench.messages import write_count
from poor_bench.models.result import Result
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.summary import Summary


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


def score_text(score: float | None) -> str:
    """Write a score of 0.0 to 1.0, or a share of score.

    Example:
        >>> score_text(0.12345), score_text(None)
        ('0.123', '')
    """
    return "" if score is None else f"{score:.3f}"


def signed_text(difference: float) -> str:
    """Write a difference of scores.

    Example:
        >>> signed_text(0.04), signed_text(-0.25)
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


def percent_text(share: float | None) -> str:
    """Write a share of 0.0 to 1.0 as a percentage.

    Example:
        >>> percent_text(0.875)
        '87.5 %'
    """
    return "" if share is None else f"{100 * share:.1f} %"


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
        return "" if figure is None else write_count(figure.n, self.counts)

    def is_shown(self, summaries: Iterable[Summary]) -> bool:
        """True if a table of these rows has a column for it."""
        compute = self.shown_for or self.compute
        figures = map(compute, summaries)
        return not self.is_optional or any(figure and figure.value for figure in figures)


def _estimate(read: Callable[[Summary], Estimate | None]) -> Compute:
    def compute(summary: Summary) -> Figure | None:
        found = read(summary)
        return None if found is None else Figure(found.value, found.n, found.low, found.high)

    return compute


def _told(name: str) -> Compute:
    """Read a figure that only some trials report."""

    def compute(summary: Summary) -> Figure | None:
        value = getattr(summary, name)
        return None if value is None else Figure(value, summary.n_told.get(name, 0))

    return compute


def _build_mean(name: str) -> Compute:
    """Divide a sum by the number of trials that report it."""

    def compute(summary: Summary) -> Figure | None:
        total, n = getattr(summary, name), summary.n_told.get(name, 0)
        return Figure(total / n, n) if n else None

    return compute


def _part(owner: str, name: str) -> Compute:
    """Read a figure of the times, or of the phases, of a row."""

    def compute(summary: Summary) -> Figure | None:
        part = getattr(summary, owner)
        return None if part is None else Figure(getattr(part, name), part.n)

    return compute


def _strict(summary: Summary) -> Figure | None:
    value = summary.strict_score
    return None if value is None else Figure(value, summary.n_tests)


def _visible_tax(summary: Summary) -> Figure | None:
    tax = _format_tax(summary)
    return tax if tax and tax.value >= 0.0005 else None


def _format_tax(summary: Summary) -> Figure | None:
    if summary.score is None or summary.strict_score is None:
        return None
    lost = summary.score.value - summary.strict_score
    return Figure(lost if lost > 1e-9 else 0.0, summary.n_tests)


def _compute_scored_share(summary: Summary) -> Figure | None:
    n = summary.n_scored + summary.n_failed
    return Figure(summary.scored_share, n) if n else None


def _field(name: str) -> Callable[[Result], float | None]:
    return lambda result: getattr(result, name)


def _rate(tokens: str, milliseconds: str) -> Callable[[Result], float | None]:
    def compute(result: Result) -> float | None:
        amount, ms = getattr(result, tokens), getattr(result, milliseconds)
        return amount / ms * 1000 if amount and ms else None

    return compute


def _count_metric(
    name: str, label: str, meaning: str, compute: Compute | None = None, **further: Any
) -> Metric:
    """Define a count, of the scored trials unless `compute` says otherwise."""
    count = compute or (lambda row: Figure(getattr(row, name), row.n_scored))
    return Metric(
        name=name, label=label, meaning=meaning, text=count_text, compute=count, **further
    )


def _time_metric(
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
        of_trial=_field(field) if field else None,
        better=Better.LOWER,
        scale=0.001 if "heading" in further else 1.0,
        **further,
    )


def _speed_metric(
    name: str, label: str, meaning: str, of_trial: Callable[[Result], float | None] | None = None
) -> Metric:
    return Metric(
        name=name,
        label=label,
        meaning=meaning,
        unit="tokens/s",
        compute=_told(name),
        of_trial=of_trial,
        text=speed_text,
        better=Better.HIGHER,
        is_optional=True,
    )


def _told_metric(name: str, label: str, meaning: str, **further: Any) -> Metric:
    """Define a figure that a trial reports itself: tokens, unless `further` says otherwise."""
    values: dict[str, Any] = {"unit": "tokens", "text": count_text, "is_optional": True, **further}
    return Metric(
        name=name,
        label=label,
        meaning=meaning,
        compute=_told(name),
        of_trial=_field(name),
        **values,
    )


SCORE = Metric(
    name="score",
    label="Score",
    heading="Average Score",
    meaning="Mean score over tests, with its 95 % CI.",
    compute=_estimate(lambda row: row.score),
    of_trial=_field("score"),
    better=Better.HIGHER,
    counts="test",
)
STRICT_SCORE = Metric(
    name="strict_score",
    label="Strict",
    meaning="Score where a right answer in the wrong format counts 0.",
    compute=_strict,
    of_trial=_field("strict_score"),
    better=Better.HIGHER,
    counts="test",
    is_optional=True,
    shown_for=_visible_tax,
)
FORMAT_TAX = Metric(
    name="format_tax",
    label="Format tax",
    meaning="Score lost by right answers in the wrong format.",
    compute=_format_tax,
    better=Better.LOWER,
    counts="test",
    is_optional=True,
)
PASS_RATE = Metric(
    name="pass_rate",
    label="Pass rate",
    heading="Pass Rate (%)",
    unit="%",
    scale=100.0,
    meaning="Mean over tests of the share of trials that reach the pass mark.",
    compute=_estimate(lambda row: row.pass_rate),
    text=percent_text,
    better=Better.HIGHER,
    counts="test",
)
SCORED_SHARE = Metric(
    name="scored_share",
    label="Scored share",
    meaning="Share of the trials that ended with a score.",
    compute=_compute_scored_share,
    text=percent_text,
    better=Better.HIGHER,
)

N_TESTS = _count_metric(
    "n_tests",
    "Tests",
    "Tests with a score.",
    lambda row: Figure(row.n_tests, row.n_tests),
    counts="test",
    heading="Total Tests",
)
N_SCORED = _count_metric("n_scored", "Trials", "Trials with a score.")
N_PASSED = _count_metric(
    "n_passed",
    "Passed",
    "Trials that reach the pass mark, of those with a score.",
    better=Better.HIGHER,
    is_of_n=True,
)
N_FAILED = _count_metric(
    "n_failed",
    "Failed",
    "Trials that failed to run and have no score.",
    lambda row: Figure(row.n_failed, row.n_scored + row.n_failed),
    better=Better.LOWER,
    heading="Failed To Run",
    is_optional=True,
)
N_NEWER_FAILED = _count_metric(
    "n_newer_failed",
    "Newer attempt failed",
    "Scored trials with a failed newer attempt; the stored score counts.",
    better=Better.LOWER,
    heading="Newer Attempt Failed",
    is_optional=True,
)
N_TIMED = _count_metric(
    "n_timed", "Timed", "Scored trials with an execution time.", _part("time", "n")
)
N_SPLIT = _count_metric(
    "n_split",
    "Split over",
    "Scored trials whose server reports the phases of their time.",
    _part("parts", "n"),
    is_optional=True,
)

MEAN_TIME = _time_metric(
    "mean_ms",
    "Time",
    "Mean time of a trial, without model load.",
    _part("time", "mean_ms"),
    field="execution_time_ms",
    heading="Average Execution Time (s)",
)
MEDIAN_TIME = _time_metric(
    "median_ms",
    "Median",
    "Half of the trials took at most this long, without model load.",
    _part("time", "median_ms"),
    heading="Median (s)",
)
P95_TIME = _time_metric(
    "p95_ms",
    "p95",
    "95 % of the trials took at most this long.",
    _part("time", "p95_ms"),
    heading="p95 (s)",
)
FIRST_TOKEN = _time_metric(
    "first_token_ms",
    "First token",
    "Median time to the first token (TTFT), without model load.",
    _told("first_token_ms"),
    field="first_token_ms",
    heading="First Token (s)",
    is_optional=True,
)
LOAD = _time_metric(
    "load_ms",
    "Model load",
    "Mean time to load the model, over the trials that waited for it; in no other time.",
    _told("load_ms"),
    field="load_ms",
    is_optional=True,
)
QUEUE = _time_metric(
    "queue_ms",
    "Queue",
    "Mean time that a request waited at the server.",
    _part("parts", "queue_ms"),
    field="queue_ms",
    is_optional=True,
)
PROMPT_PROCESSING = _time_metric(
    "prefill_ms",
    "Prompt processing",
    "Mean time to process the prompt, by the server's timings.",
    _part("parts", "prefill_ms"),
    field="prefill_ms",
    is_optional=True,
)
GENERATION = _time_metric(
    "decode_ms",
    "Generation",
    "Mean time to generate thinking and answer, by the server's timings.",
    _part("parts", "generating_ms"),
    field="decode_ms",
    is_optional=True,
)
THINKING = _time_metric(
    "thinking_ms",
    "Thinking",
    "Mean share of generation that was thinking.",
    _part("parts", "thinking_ms"),
    is_optional=True,
)
ANSWER = _time_metric(
    "answer_ms",
    "Answer",
    "Mean rest of generation: the answer.",
    _part("parts", "answer_ms"),
    is_optional=True,
)
OTHER = _time_metric(
    "other_ms",
    "Other",
    "Mean rest of the time: network, and what no server reports.",
    _part("parts", "other_ms"),
    is_optional=True,
)

THROUGHPUT = _speed_metric(
    "tokens_per_s",
    "Tokens/s",
    "Throughput: generated tokens per second of execution time.",
    _rate("completion_tokens", "execution_time_ms"),
)
GENERATION_SPEED = _speed_metric(
    "generation_tokens_per_s",
    "Generation tokens/s",
    "Generated tokens per second of generation, by the server's timings.",
    _rate("completion_tokens", "decode_ms"),
)
PROMPT_SPEED = _speed_metric(
    "prompt_tokens_per_s",
    "Prompt tokens/s",
    "Prompt tokens that were not cached, per second of prompt processing.",
)

PROMPT_TOKENS = _told_metric(
    "prompt_tokens", "Prompt tokens", "Sum of the prompt tokens, cached ones included."
)
CACHED_TOKENS = _told_metric(
    "cached_tokens", "Cached tokens", "Sum of the prompt tokens that the server had cached."
)
COMPLETION_TOKENS = _told_metric(
    "completion_tokens", "Completion tokens", "Sum of the generated tokens, thinking included."
)
TOKENS_PER_TRIAL = Metric(
    name="tokens_per_trial",
    label="Tokens per trial",
    unit="tokens",
    meaning="Mean of the generated tokens of a trial: how verbose the model is.",
    compute=_build_mean("completion_tokens"),
    text=speed_text,
    better=Better.LOWER,
    is_optional=True,
)
THINKING_TOKENS = _told_metric(
    "thinking_tokens", "Thinking tokens", "Sum of the generated tokens that were thinking."
)
COST = _told_metric(
    "cost_usd",
    "Cost",
    "Cost of all trials with a known price, failed ones included.",
    unit="US$",
    text=cost_text,
    better=Better.LOWER,
    heading="Cost ($)",
)
JUDGE_COST = _told_metric(
    "judge_cost_usd",
    "Judge cost",
    "Cost of judging the responses, not included in the cost.",
    unit="US$",
    text=cost_text,
    better=Better.LOWER,
    heading="Judge ($)",
)
MEMORY = _told_metric(
    "memory_bytes",
    "Memory",
    "Largest memory of the loaded model.",
    unit="bytes",
    text=memory_text,
    better=Better.LOWER,
)
GPU_SHARE = _told_metric(
    "gpu_share",
    "On GPU",
    "Smallest share of the model that was in GPU memory.",
    unit="%",
    text=percent_text,
    better=Better.HIGHER,
)

LEADERBOARD = (
    SCORE, STRICT_SCORE, N_PASSED, N_FAILED, N_NEWER_FAILED, MEDIAN_TIME, THROUGHPUT,
    GENERATION_SPEED, COST, JUDGE_COST,
)  # fmt: skip
"""Figures of a model in the tables of scores: console, Markdown, HTML."""
USAGE = (
    N_TIMED, MEDIAN_TIME, P95_TIME, FIRST_TOKEN, LOAD, QUEUE, PROMPT_PROCESSING, THINKING, ANSWER,
    OTHER, N_SPLIT, PROMPT_SPEED, GENERATION_SPEED, PROMPT_TOKENS, CACHED_TOKENS,
    COMPLETION_TOKENS, TOKENS_PER_TRIAL, THINKING_TOKENS, COST, JUDGE_COST, MEMORY, GPU_SHARE,
)  # fmt: skip
"""Time, tokens, cost and memory of a model: console, HTML."""
TRIAL = (
    MEAN_TIME, FIRST_TOKEN, LOAD, QUEUE, PROMPT_PROCESSING, GENERATION, THROUGHPUT,
    GENERATION_SPEED, PROMPT_TOKENS, CACHED_TOKENS, COMPLETION_TOKENS, THINKING_TOKENS, COST,
    JUDGE_COST, MEMORY, GPU_SHARE,
)  # fmt: skip
"""Figures of a single trial."""
PHASES = (QUEUE, PROMPT_PROCESSING, THINKING, ANSWER, OTHER)
"""Parts of the mean time of a trial; they add up to it."""
LATENCY = (QUEUE, PROMPT_PROCESSING, GENERATION, OTHER)
"""The same with thinking and answer together."""
METRICS = {
    metric.name: metric for metric in globals().copy().values() if isinstance(metric, Metric)
}
"""All metrics by name, in the order above."""


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


STATES = (
    StateMetric("Done", "Trials with a score that is up to date.", ("done",), is_of_total=True),
    StateMetric("Pending", "Trials without any result.", ("pending",)),
    StateMetric("Failed", "Trials without a score whose newest attempt failed.", ("failed",)),
    StateMetric(
        "Stale",
        "Scored trials whose prompt, parameters or evaluator changed since.",
        ("stale_request", "stale_score"),
    ),
)


def summary_values(summary: Summary) -> dict[str, float | None]:
    """Values of all metrics by name, for machines."""
    return {name: metric.value(summary) for name, metric in METRICS.items()}


def latency_text(summary: Summary) -> str:
    """Write the time of a row in one line; each mean says over how many trials it is."""
    said = []
    if summary.time:
        said.append(f"mean of {MEAN_TIME.show_n(summary)}: {MEAN_TIME.show(summary)}")
    if summary.parts:
        parts = [f"{m.label.lower()} {m.show(summary)}" for m in LATENCY if m.value(summary)]
        said.append(f"parts, mean of {QUEUE.show_n(summary)}: {', '.join(parts)}")
    if summary.load_ms is not None:
        load = f"{LOAD.label.lower()} (not included), mean of {LOAD.show_n(summary)}"
        said.append(f"{load}: {LOAD.show(summary)}")
    return "; ".join(said)
