"""The catalogue of figures: each is defined once, and every screen draws from here.

A metric knows what it is called, what it means, how it is computed and how it is written. Screens
choose metrics and lay them out; they compute and format nothing. A figure that no trial reports is
missing: None for machines, empty (or a dash) for people, never 0. A mean says over how many.

To add a metric, add an entry to `METRICS`; if it needs a new sum over results, take that sum in
`poor_bench.statistics.summarise`. Name it where a screen should show it.
"""

from __future__ import annotations

from poor_bench.metrics.metric import Better as Better
from poor_bench.metrics.metric import Figure as Figure
from poor_bench.metrics.metric import Metric as Metric
from poor_bench.metrics.metric import (
    StateMetric,
    build_told_metric,
    compute_mean,
    compute_rate,
    count_metric,
    read_estimate,
    read_field,
    read_part,
    read_told,
    speed_metric,
    time_metric,
)
from poor_bench.metrics.metric import cost_text as cost_text
from poor_bench.metrics.metric import count_text as count_text
from poor_bench.metrics.metric import interval_text as interval_text
from poor_bench.metrics.metric import margin_text as margin_text
from poor_bench.metrics.metric import memory_text as memory_text
from poor_bench.metrics.metric import percent_text as percent_text
from poor_bench.metrics.metric import score_text as score_text
from poor_bench.metrics.metric import speed_text as speed_text
from poor_bench.metrics.metric import time_text as time_text
from poor_bench.metrics.metric import write_signed as write_signed
from poor_bench.statistics.summary import Summary


def _compute_strict(summary: Summary) -> Figure | None:
    value = summary.strict_score
    return None if value is None else Figure(value, summary.n_strict)


def _compute_visible_tax(summary: Summary) -> Figure | None:
    tax = _format_tax(summary)
    return tax if tax and tax.value >= 0.0005 else None


def _format_tax(summary: Summary) -> Figure | None:
    lost = summary.format_tax
    if lost is None:
        return None
    return Figure(lost if lost > 1e-9 else 0.0, summary.n_strict)


def _compute_scored_share(summary: Summary) -> Figure | None:
    n = summary.n_scored + summary.n_failed
    return Figure(summary.scored_share, n) if n else None


SCORE = Metric(
    name="score",
    label="Score",
    heading="Average Score",
    meaning="Mean score over tests, with its 95 % CI.",
    compute=read_estimate(lambda row: row.score),
    of_trial=read_field("score"),
    better=Better.HIGHER,
    counts="test",
)
ADJUSTED_SCORE = Metric(
    name="adjusted_score",
    label="Adjusted",
    meaning="Score that is likely on all tests, by the difficulty of those that are missing.",
    compute=lambda row: (
        None if row.adjusted_score is None else Figure(row.adjusted_score, row.n_tests)
    ),
    better=Better.HIGHER,
    counts="test",
    is_optional=True,
)
PREDICTED_SCORE = Metric(
    name="predicted_score",
    label="Predicted",
    meaning="Predicted score on all tests, of a model that ran the short form only.",
    compute=read_estimate(lambda row: row.predicted_score),
    better=Better.HIGHER,
    counts="test",
    is_optional=True,
)
STRICT_SCORE = Metric(
    name="strict_score",
    label="Strict",
    meaning="Score where a right answer in the wrong format counts 0.",
    compute=_compute_strict,
    of_trial=read_field("strict_score"),
    better=Better.HIGHER,
    counts="test",
    is_optional=True,
    shown_for=_compute_visible_tax,
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
    compute=read_estimate(lambda row: row.pass_rate),
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

N_TESTS = count_metric(
    "n_tests",
    "Tests",
    "Tests with a score.",
    lambda row: Figure(row.n_tests, row.n_tests),
    counts="test",
    heading="Total Tests",
)
N_SCORED = count_metric("n_scored", "Trials", "Trials with a score.")
N_PASSED = count_metric(
    "n_passed",
    "Passed",
    "Trials that reach the pass mark, of those with a score.",
    better=Better.HIGHER,
    is_of_n=True,
)
N_FAILED = count_metric(
    "n_failed",
    "Failed",
    "Trials that failed to run and have no score; those whose judge is pending do not count.",
    lambda row: Figure(row.n_failed - row.n_unjudged, row.n_scored + row.n_failed),
    better=Better.LOWER,
    heading="Failed To Run",
    is_optional=True,
)
N_NEWER_FAILED = count_metric(
    "n_newer_failed",
    "Newer attempt failed",
    "Scored trials with a failed newer attempt; the stored score counts.",
    better=Better.LOWER,
    heading="Newer Attempt Failed",
    is_optional=True,
)
N_STALE = count_metric(
    "n_stale",
    "Stale",
    "Scored trials whose prompt, parameters or evaluator changed since.",
    lambda row: None if row.n_stale is None else Figure(row.n_stale, row.n_scored),
    better=Better.LOWER,
    is_optional=True,
)
N_TIMED = count_metric(
    "n_timed", "Timed", "Scored trials with an execution time.", read_part("time", "n")
)
N_SPLIT = count_metric(
    "n_split",
    "Split over",
    "Scored trials whose server reports the phases of their time.",
    read_part("parts", "n"),
    is_optional=True,
)

MEAN_TIME = time_metric(
    "mean_ms",
    "Time",
    "Mean time of a trial, without model load.",
    read_part("time", "mean_ms"),
    field="execution_time_ms",
    heading="Average Execution Time (s)",
)
MEDIAN_TIME = time_metric(
    "median_ms",
    "Median",
    "Half of the trials took at most this long, without model load.",
    read_part("time", "median_ms"),
    heading="Median (s)",
)
P95_TIME = time_metric(
    "p95_ms",
    "p95",
    "95 % of the trials took at most this long.",
    read_part("time", "p95_ms"),
    heading="p95 (s)",
)
FIRST_TOKEN = time_metric(
    "first_token_ms",
    "First token",
    "Median time to the first token (TTFT), without model load.",
    read_told("first_token_ms"),
    field="first_token_ms",
    heading="First Token (s)",
    is_optional=True,
)
LOAD = time_metric(
    "load_ms",
    "Model load",
    "Mean time to load the model, over the trials that waited for it; in no other time.",
    read_told("load_ms"),
    field="load_ms",
    is_optional=True,
)
QUEUE = time_metric(
    "queue_ms",
    "Queue",
    "Mean time that a request waited at the server.",
    read_part("parts", "queue_ms"),
    field="queue_ms",
    is_optional=True,
)
PROMPT_PROCESSING = time_metric(
    "prefill_ms",
    "Prompt processing",
    "Mean time to process the prompt, by the server's timings.",
    read_part("parts", "prefill_ms"),
    field="prefill_ms",
    is_optional=True,
)
GENERATION = time_metric(
    "decode_ms",
    "Generation",
    "Mean time to generate thinking and answer, by the server's timings.",
    read_part("parts", "generating_ms"),
    field="decode_ms",
    is_optional=True,
)
THINKING = time_metric(
    "thinking_ms",
    "Thinking",
    "Mean share of generation that was thinking.",
    read_part("parts", "thinking_ms"),
    is_optional=True,
)
ANSWER = time_metric(
    "answer_ms",
    "Answer",
    "Mean rest of generation: the answer.",
    read_part("parts", "answer_ms"),
    is_optional=True,
)
OTHER = time_metric(
    "other_ms",
    "Other",
    "Mean rest of the time: network, and what no server reports.",
    read_part("parts", "other_ms"),
    is_optional=True,
)

THROUGHPUT = speed_metric(
    "tokens_per_s",
    "Tokens/s",
    "Throughput: generated tokens per second of execution time.",
    compute_rate("completion_tokens", "execution_time_ms"),
)
GENERATION_SPEED = speed_metric(
    "generation_tokens_per_s",
    "Generation tokens/s",
    "Generated tokens per second of generation, by the server's timings.",
    compute_rate("completion_tokens", "decode_ms"),
)
PROMPT_SPEED = speed_metric(
    "prompt_tokens_per_s",
    "Prompt tokens/s",
    "Prompt tokens that were not cached, per second of prompt processing.",
)

PROMPT_TOKENS = build_told_metric(
    "prompt_tokens", "Prompt tokens", "Sum of the prompt tokens, cached ones included."
)
CACHED_TOKENS = build_told_metric(
    "cached_tokens", "Cached tokens", "Sum of the prompt tokens that the server had cached."
)
COMPLETION_TOKENS = build_told_metric(
    "completion_tokens", "Completion tokens", "Sum of the generated tokens, thinking included."
)
TOKENS_PER_TRIAL = Metric(
    name="tokens_per_trial",
    label="Tokens per trial",
    unit="tokens",
    meaning="Mean of the generated tokens of a trial: how verbose the model is.",
    compute=compute_mean("completion_tokens"),
    text=speed_text,
    better=Better.LOWER,
    is_optional=True,
)
THINKING_TOKENS = build_told_metric(
    "thinking_tokens", "Thinking tokens", "Sum of the generated tokens that were thinking."
)
COST = build_told_metric(
    "cost_usd",
    "Cost",
    "Cost of all trials with a known price, failed ones included.",
    unit="US$",
    text=cost_text,
    better=Better.LOWER,
    heading="Cost ($)",
)
JUDGE_COST = build_told_metric(
    "judge_cost_usd",
    "Judge cost",
    "Cost of judging the responses, not included in the cost.",
    unit="US$",
    text=cost_text,
    better=Better.LOWER,
    heading="Judge ($)",
)
MEMORY = build_told_metric(
    "memory_bytes",
    "Memory",
    "Largest memory of the loaded model.",
    unit="bytes",
    text=memory_text,
    better=Better.LOWER,
)
GPU_SHARE = build_told_metric(
    "gpu_share",
    "On GPU",
    "Smallest share of the model that was in GPU memory.",
    unit="%",
    text=percent_text,
    better=Better.HIGHER,
)

LEADERBOARD = (
    SCORE, ADJUSTED_SCORE, PREDICTED_SCORE, STRICT_SCORE, N_PASSED, N_FAILED, N_NEWER_FAILED,
    N_STALE, MEDIAN_TIME, THROUGHPUT, GENERATION_SPEED, COST, JUDGE_COST,
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


STATES = (
    StateMetric("Done", "Trials with a score that is up to date.", ("done",), is_of_total=True),
    StateMetric("Pending", "Trials without any result.", ("pending",)),
    StateMetric("Failed", "Trials without a score whose newest attempt failed.", ("failed",)),
    StateMetric(N_STALE.label, N_STALE.meaning, ("stale_request", "stale_score")),
)


def list_summary_values(summary: Summary) -> dict[str, float | None]:
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
