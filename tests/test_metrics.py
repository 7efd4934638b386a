import doctest

import pytest

from poor_bench import metrics
from poor_bench.metrics import metric
from poor_bench.models.result import Result
from poor_bench.statistics.summarise import summarise
from poor_bench.statistics.summary import Summary

METRICS = list(metrics.METRICS.values())


def row(*results: Result) -> Summary:
    [found] = summarise(results)
    return found


def scored(test_id: str, score: float, **fields: float) -> Result:
    return Result(llm_id="a", test_id=test_id, score=score, **fields)  # type: ignore[arg-type]


def test_examples_of_the_docstrings_are_true() -> None:
    assert doctest.testmod(metric).failed == 0


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_each_metric_is_described(metric: metrics.Metric) -> None:
    assert metric.label
    assert metric.meaning.endswith(".")
    assert metric.text(None) == ""


def test_names_are_unique_and_labels_too() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    assert len({metric.label for metric in METRICS}) == len(METRICS)


def test_what_no_trial_reports_is_missing_and_not_zero() -> None:
    silent = row(scored("t", 1.0))
    optional = [metric for metric in METRICS if metric.unit in {"ms", "tokens/s", "US$", "tokens"}]
    assert [metric.value(silent) for metric in optional] == [None] * len(optional)
    assert {metric.show(silent) for metric in optional} == {""}
    assert metrics.COST.show(silent, "-") == "-"


def test_a_figure_says_over_how_many_it_is() -> None:
    half = row(scored("t", 1.0, execution_time_ms=100, cost_usd=0.5), scored("u", 0.0))
    assert metrics.MEAN_TIME.show_n(half) == "1 trial"
    assert metrics.COST.show_n(half) == "1 trial"
    assert metrics.SCORE.show_n(half) == "2 tests"
    assert metrics.N_PASSED.show(half) == "1/2"


def test_a_column_is_shown_where_a_row_needs_it() -> None:
    plain, taxed = row(scored("t", 1.0)), row(scored("t", 1.0, strict_score=0.0))
    assert not metrics.STRICT_SCORE.is_shown([plain])
    assert metrics.STRICT_SCORE.is_shown([plain, taxed])
    assert metrics.SCORE.is_shown([])


def test_a_trial_shows_its_own_figures() -> None:
    result = scored("t", 1.0, completion_tokens=50, decode_ms=1000.0, first_token_ms=20.0)
    assert metrics.GENERATION_SPEED.show_trial(result) == "50"
    assert metrics.FIRST_TOKEN.show_trial(result) == "20.0 ms"
    assert metrics.COST.show_trial(result) == ""
