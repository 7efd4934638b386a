"""Every screen states the same figures, over one workspace with every kind of row."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import takewhile
from pathlib import Path
from statistics import median
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from poor_bench import metrics
from poor_bench.cli.main import main
from poor_bench.dashboard.pages.compare.layout import CompareUrl
from poor_bench.dashboard.pages.compare.strip import define_strip, strip
from poor_bench.dashboard.pages.compare.view import CompareView
from poor_bench.dashboard.pages.model.view import model_tiles
from poor_bench.dashboard.pages.overview.callbacks import (
    heat_map_csv,
    leaderboard_rows,
    note,
    scores_by_class,
)
from poor_bench.dashboard.pages.overview.tables import COLUMNS, FIGURES
from poor_bench.dashboard.pages.run.callbacks import failures
from poor_bench.dashboard.services.services import Services
from poor_bench.labels.label import Label
from poor_bench.labels.ratings import rate_answer
from poor_bench.labels.storage import add_labels
from poor_bench.messages import stale_text
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.report_generator import ReportGenerator
from poor_bench.statistics.summary import GroupBy
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_of
from tests.dashboard.seen_text import of_type, text_of
from tests.waiting import wait_for

KEPT, SILENT, REMOVED = "scripted:kept", "scripted:silent", "scripted:gone"
TIMED = {
    "execution_time_ms": 1000.0, "first_token_ms": 250.0, "queue_ms": 50.0, "prefill_ms": 150.0,
    "decode_ms": 700.0, "prompt_tokens": 100, "cached_tokens": 40, "completion_tokens": 35,
    "thinking_tokens": 0, "cost_usd": 0.5,
}  # fmt: skip
"""What half of the trials report."""
EXPECTED: Mapping[str, float | None] = {
    "score": (0.5 + 1 + 0) / 3,  # trials of a test are averaged first
    "adjusted_score": (0.5 + 1 + 0) / 3,  # another model misses tests, this one does not
    "predicted_score": None,  # no test is tagged `short`
    "strict_score": (0.5 + 0 + 0) / 3,
    "format_tax": 1 / 3,
    "pass_rate": 0.5,
    "n_tests": 3,
    "n_scored": 4,
    "n_passed": 2,
    "n_failed": 1,
    "n_newer_failed": 1,
    "n_stale": 1,
    "scored_share": 0.8,
    "mean_ms": 2000.0,
    "median_ms": 2000.0,
    "p95_ms": 2900.0,
    "first_token_ms": 250.0,
    "load_ms": 4000.0,
    "queue_ms": 50.0,
    "prefill_ms": 150.0,
    "decode_ms": 700.0,
    "thinking_ms": 0.0,
    "answer_ms": 700.0,
    "other_ms": 100.0,
    "n_timed": 2,
    "n_split": 1,
    "tokens_per_s": 35.0,
    "generation_tokens_per_s": 50.0,
    "prompt_tokens_per_s": 400.0,
    "prompt_tokens": 100,
    "cached_tokens": 40,
    "completion_tokens": 35,
    "tokens_per_trial": 35.0,
    "thinking_tokens": 0,
    "cost_usd": 0.75,  # that of the failed trial included
    "judge_cost_usd": 0.125,
    "memory_bytes": 4e9,
    "gpu_share": 0.5,
}
"""Figures of `KEPT`, by hand."""


def trial(test_id: str, score: float | None, llm_id: str = KEPT, **facts: Any) -> Result:
    failure = None if score is not None else Failure(kind=FailureKind.TIMEOUT, message="late")
    told = {"found": "bare"} if llm_id == KEPT else {}  # of others the strict score is not known
    values = {"response": "4", "timestamp": "2026-01-02T03:04:05Z", **told, **facts}
    return Result(llm_id=llm_id, test_id=test_id, score=score, failure=failure, **values)


RESULTS = (
    trial("one", 1.0, **TIMED, request_fingerprint="stale", evaluator_fingerprint="stale"),
    trial("one", 0.0, trial=2, judgement={"cost_usd": 0.125, "judge": "scripted:silent"}),
    trial("two", 1.0, strict_score=0.0, found="fenced", execution_time_ms=3000.0, load_ms=4000.0),
    trial("three", 0.0, memory_bytes=4_000_000_000, gpu_share=0.5, marks=("truncated",)),
    trial("four", None, cost_usd=0.25),
    trial("removed", 1.0, **TIMED),
    trial("one", 0.5, SILENT),
    trial("two", 1.0, REMOVED),
)
LATER = (trial("two", None),)
"""A newer attempt at a scored trial that failed."""


@dataclass(frozen=True)
class Bench:
    """The workspace and its report."""

    folder: Path
    report: ReportGenerator


@pytest.fixture(scope="module", params=[False, True], ids=["unrated", "rated"])
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Write the workspace, once with ratings of people: they change no figure of any test here."""
    files = WorkspaceFiles(tmp_path_factory.mktemp("figures") / "bench")
    for test_id in ("one", "two", "three", "four"):
        files.add_tests(1, test_id=test_id)
    files.add_llm("kept", "4")
    files.add_llm("silent", "4")
    folder = files.write()
    store = WorkspaceFolder(folder).store
    store.add(RESULTS, "20260101T000000-a", {})
    store.add(LATER, "20260102T000000-b", {})
    if request.param:
        rated = [result for result in RESULTS if result.score is not None]
        add_labels(folder, [_contradict(result, who) for result in rated for who in ("Ann", "Ben")])
    return Bench(folder, ReportGenerator(WorkspaceFolder(folder)))


def _contradict(result: Result, who: str) -> Label:
    score = 1.0 - (result.score or 0.0)
    return rate_answer(result, score=score, who=who, when="2026-01-03T00:00:00Z", note="wrong")


def counted_services(folder: Path) -> Services:
    """Return services that have counted the stale scores, which they do in a thread."""
    services = services_of(folder)
    wait_for(lambda: services.results.stale().is_current)
    return services


def shown(name: str) -> str:
    """What people read of a metric of `KEPT`."""
    metric, value = metrics.METRICS[name], EXPECTED[name]
    text = metric.text(value)
    return f"{text}/{EXPECTED['n_scored']}" if metric.is_of_n else text


def by_label(chosen: tuple[metrics.Metric, ...]) -> dict[str, str]:
    """Texts of all metrics of a table that it has a column for."""
    return {m.label: shown(m.name) for m in chosen if EXPECTED[m.name] or not m.is_optional}


def test_the_catalogue_computes_what_was_computed_by_hand(bench: Bench) -> None:
    row = next(row for row in bench.report.summaries() if row.group.llm_id == KEPT)
    assert metrics.list_summary_values(row) == pytest.approx(EXPECTED)


@pytest.mark.slow(reason="takes over a quarter of a second")
def test_what_no_trial_reports_is_missing_everywhere(bench: Bench) -> None:
    row = next(row for row in bench.report.summaries() if row.group.llm_id == SILENT)
    missing = {name for name, value in metrics.list_summary_values(row).items() if value is None}
    assert {"median_ms", "first_token_ms", "cost_usd", "completion_tokens", "n_stale"} <= missing
    assert {"strict_score", "format_tax"} <= missing
    assert row_of(tables_in(bench.report.render("html"))[0], SILENT)["Median"] == ""
    [line] = [r for r in leaderboard_rows(counted_services(bench.folder)) if r["id"] == SILENT]
    assert line["median_s"] is line["cost_usd"] is line["stale"] is None


def test_json_has_the_same_values(bench: Bench) -> None:
    document = json.loads(bench.report.render("json"))
    [values] = [row for row in document["metrics"] if row["llm_id"] == KEPT]
    assert {name: values[name] for name in EXPECTED} == pytest.approx(EXPECTED)
    [summary] = [row for row in document["summaries"] if row["group"]["llm_id"] == KEPT]
    [usage] = [row for row in document["efforts"] if row["llm_id"] == KEPT]
    assert summary["score"]["value"] == pytest.approx(EXPECTED["score"])
    assert summary["time"]["p95_ms"] == usage["p95_ms"] == EXPECTED["p95_ms"]
    assert summary["cost_usd"] == usage["cost_usd"] == EXPECTED["cost_usd"]
    assert usage["decode_tokens_per_s"] == EXPECTED["generation_tokens_per_s"]
    assert document["n_results_of_removed_tests"] == 1
    assert document["n_stale"] == EXPECTED["n_stale"]


def test_the_console_shows_the_same(bench: Bench, capsys: pytest.CaptureFixture[str],
                                    monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setenv("COLUMNS", "400")
    for form, chosen in (("table", metrics.LEADERBOARD), ("times", metrics.USAGE)):
        assert main(["--data", str(bench.folder), "report", "--format", form]) == 0
        row = row_of(console_table(capsys.readouterr().out), KEPT)
        expected = by_label(chosen)
        assert {label: row[label] for label in expected} == expected


def test_html_and_markdown_show_the_same(bench: Bench) -> None:
    leaders, *others = tables_in(bench.report.render("html"))
    expected = by_label(metrics.LEADERBOARD)
    row = row_of(leaders, KEPT)
    assert row.pop("Score").startswith(expected.pop("Score"))
    assert {label: row[label] for label in expected} == expected
    [times] = [table for table in others if "First token" in table[0]]
    usage = by_label(tuple(m for m in metrics.USAGE if m not in metrics.PHASES))
    assert {label: row_of(times, KEPT)[label] for label in usage} == usage
    lines = bench.report.render("md").splitlines()
    cells = [[cell.strip("*` ") for cell in line.strip("|").split("|")] for line in lines
             if line.startswith("|")]  # fmt: skip
    row = row_of(cells, KEPT)
    assert {label: row[label] for label in by_label(metrics.LEADERBOARD)} == by_label(
        metrics.LEADERBOARD
    )


def test_html_divides_the_time_as_the_console_does(bench: Bench) -> None:
    page = bench.report.render("html")
    [times] = [table for table in tables_in(page) if "First token" in table[0]]
    assert row_of(times, KEPT)["Mean"] == shown("mean_ms")
    told = re.findall(r'data-tip="([^"]*)"', page)
    for metric in metrics.PHASES:
        if EXPECTED[metric.name]:
            assert any(metric.label in tip and shown(metric.name) in tip for tip in told), metric


def test_csv_has_the_trials_that_every_figure_is_computed_from(bench: Bench) -> None:
    table = csv.DictReader(io.StringIO(bench.report.render("csv")))
    rows = [row for row in table if row["llm_id"] == KEPT]
    scored = [row for row in rows if row["score"]]

    def told(name: str, of: list[dict[str, Any]] = scored) -> list[float]:
        return [float(row[name]) for row in of if row[name]]

    def mean(values: Iterable[float]) -> float:
        values = list(values)
        return sum(values) / len(values)

    by_test = {
        row["test_id"]: [r for r in scored if r["test_id"] == row["test_id"]] for row in rows
    }
    by_test = {test_id: trials for test_id, trials in by_test.items() if trials}
    answered = {(row["test_id"], row["trial"]) for row in scored}
    failed = {(row["test_id"], row["trial"]) for row in rows if row["failure"]}
    computed = {
        "score": mean(mean(told("score", trials)) for trials in by_test.values()),
        "strict_score": mean(
            mean(float(row["strict_score"] or row["score"]) for row in trials)
            for trials in by_test.values()
        ),
        "pass_rate": mean(
            mean(s >= 1 for s in told("score", trials)) for trials in by_test.values()
        ),
        "n_tests": len(by_test),
        "n_scored": len(scored),
        "n_passed": sum(score >= 1 for score in told("score")),
        "n_failed": sum(key not in answered for key in failed),
        "n_newer_failed": sum(key in answered for key in failed),
        "n_stale": sum(row["stale"] == "stale" for row in rows),
        "scored_share": len(answered) / len(answered | failed),
        "mean_ms": mean(told("execution_time_ms")),
        "median_ms": median(told("execution_time_ms")),
        "n_timed": len(told("execution_time_ms")),
        "n_split": len(told("decode_ms")),
        "tokens_per_trial": mean(told("completion_tokens")),
        "cost_usd": sum(told("cost_usd", rows)),
        "judge_cost_usd": sum(told("judge_cost_usd", rows)),
        "memory_bytes": max(told("memory_bytes")),
        "gpu_share": min(told("gpu_share")),
    }
    for name in ("first_token_ms", "load_ms", "queue_ms", "prefill_ms", "decode_ms"):
        computed[name] = mean(told(name))
    for name in ("prompt_tokens", "completion_tokens", "cached_tokens", "thinking_tokens"):
        computed[name] = sum(told(name))
    assert computed == pytest.approx({name: EXPECTED[name] for name in computed})
    derived = {
        "adjusted_score", "predicted_score", "format_tax", "p95_ms", "thinking_ms", "answer_ms",
        "other_ms", "tokens_per_s", "generation_tokens_per_s", "prompt_tokens_per_s",
    }  # fmt: skip
    assert computed.keys() | derived == EXPECTED.keys()


def test_junit_counts_each_trial_once(bench: Bench) -> None:
    suites = fromstring(bench.report.render("junit"))
    [suite] = [each for each in suites if each.get("name") == KEPT]
    assert suite.get("errors") == str(EXPECTED["n_failed"])
    assert suite.get("tests") == str(EXPECTED["n_scored"] + EXPECTED["n_failed"])
    names = ("score", "scored_share", "p95_ms", "cost_usd", "n_stale")
    properties = {each.get("name"): each.get("value") for each in suite.iter("property")}
    told = {name: float(properties[name]) for name in names}
    assert told == pytest.approx({name: EXPECTED[name] for name in names})


def test_every_report_says_in_a_sentence_how_many_scores_are_stale(bench: Bench) -> None:
    sentence = stale_text(1, 6)
    for form in ("md", "html"):
        assert sentence in bench.report.render(form)


def test_the_dashboard_shows_the_same(bench: Bench) -> None:
    services = counted_services(bench.folder)
    [line] = [row for row in leaderboard_rows(services) if row["id"] == KEPT]
    for field, metric in FIGURES.items():
        expected = EXPECTED[metric.name]
        assert line[field] == pytest.approx(expected and expected * metric.scale), field
        assert line["texts"][field] == shown(metric.name)
    assert {column["field"] for column in COLUMNS} >= set(FIGURES)
    [summary] = services.results.summaries(GroupBy.LLM, [KEPT])
    tiles = dict(tiles_in(model_tiles(summary, None)))
    on_tiles = [metric for metric in metrics.METRICS.values() if metric.label in tiles]
    assert len(on_tiles) >= 10
    assert {m.label: tiles[m.label] for m in on_tiles} == {m.label: shown(m.name) for m in on_tiles}


def test_the_compare_page_shows_the_same(bench: Bench) -> None:
    services = counted_services(bench.folder)
    view = CompareView(services, CompareUrl())
    [line] = [each for each in view.strip_lines(None) if each.llm_id == KEPT]
    table = text_of(strip([line], view.url, is_ready=False))
    for name in ("score", "mean_ms", "tokens_per_s", "generation_tokens_per_s"):
        assert shown(name) in table, name
    assert "1 failed" in table
    assert "1 stale" in table
    [row] = define_strip().file("comparison", [line], view.url).rows
    assert (row["Failed"], row["Stale"]) == (EXPECTED["n_failed"], EXPECTED["n_stale"])
    times = metrics.latency_text(line.summary)
    for name in ("queue_ms", "prefill_ms", "decode_ms", "other_ms", "load_ms"):
        assert shown(name) in times, name


def test_compare_counts_the_stale_scores_of_both_models(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--data", str(bench.folder), "compare", SILENT, KEPT]
    assert main([*arguments]) == 0
    assert stale_text(1, 5) in " ".join(capsys.readouterr().out.split())
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["n_stale_before"], document["n_stale_after"]) == (0, EXPECTED["n_stale"])


@pytest.mark.slow(reason="takes over a quarter of a second")
def test_the_run_page_counts_each_failed_trial_once(bench: Bench) -> None:
    _, _, head = failures(counted_services(bench.folder))
    assert "1 trial still pending" in text_of(head)
    assert "1 newer attempt of scored trials" in text_of(head)
    assert "8 trials" not in note(counted_services(bench.folder))
    assert "7 trials" in note(counted_services(bench.folder))


def test_the_heat_map_marks_what_is_stale(bench: Bench) -> None:
    services = counted_services(bench.folder)
    assert text_of(scores_by_class(services, "")).count("1 stale") == 1
    table = csv.DictReader(io.StringIO(heat_map_csv(services, "?heat-map=levels").csv))
    rows = [row for row in table if row["Model ID"] == KEPT]
    assert sum(int(float(row["Stale"] or 0)) for row in rows) == EXPECTED["n_stale"]


def test_gates_and_status_see_the_same(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    limits = {"min-score": "score", "min-pass-rate": "pass_rate", "max-p95-ms": "p95_ms",
              "max-cost-usd": "cost_usd"}  # fmt: skip
    options = [f"--{option}=1" for option in limits]
    main(["--data", str(bench.folder), "gate", "--json", "--llm", KEPT, *options])
    gates = json.loads(capsys.readouterr().out)["gates"]
    observed = {row["gate"].replace("_", "-"): row["observed"] for row in gates}
    for option, name in limits.items():
        assert observed[option] == pytest.approx(EXPECTED[name]), name
    assert observed["up-to-date"] == EXPECTED["n_stale"]
    assert observed["min-scored-share"] == EXPECTED["scored_share"]
    main(["--data", str(bench.folder), "status", "--json", "--llm", KEPT, "--trials", "2"])
    [row] = json.loads(capsys.readouterr().out)["llms"]
    assert row["stale_request"] + row["stale_score"] == EXPECTED["n_stale"]
    assert row["failed"] == EXPECTED["n_failed"]
    assert row["newer_failed"] == EXPECTED["n_newer_failed"]
    assert row["done"] + row["stale_request"] + row["stale_score"] == EXPECTED["n_scored"]


Table = list[list[str]]
"""Rows of cells; the first one is the headings."""


def row_of(table: Table, llm_id: str) -> dict[str, str]:
    headings = next(row for row in table if "Model" in row)
    row = next(row for row in table if any(cell.startswith(llm_id) for cell in row))
    assert len(row) == len(headings)
    return dict(zip(headings, row, strict=True))


def console_table(text: str) -> Table:
    """Cut the first table of a text where at least three characters are blank in every line."""
    lines = text.splitlines()
    start = next(at for at, line in enumerate(lines) if "Model" in line)
    body = list(takewhile(str.strip, lines[start:]))
    body = [line for line in body if "─" not in line]
    width = max(map(len, body))
    is_gap = "".join("x" if any(line[at : at + 1].strip() for line in body) else " "
                     for at in range(width))  # fmt: skip
    bounds = [match.span() for match in re.finditer(r"x(?:x| {1,2}(?=x))*", is_gap)]
    return [[line[begin:end].strip() for begin, end in bounds] for line in body]


class _Tables(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tables: list[Table] = []
        self._open = False
        self._is_small = False

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append([])
        elif tag in {"td", "th"} and self.tables:
            self.tables[-1][-1].append("")
            self._open = True
        self._is_small = tag == "small"  # over how many trials the figure above it is

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self._open = False
        self._is_small = False

    def handle_data(self, text: str) -> None:
        if self._open and not self._is_small:
            cells = self.tables[-1][-1]
            cells[-1] = f"{cells[-1]} {text.strip()}".strip()


def tables_in(html: str) -> list[Table]:
    parser = _Tables()
    parser.feed(html)
    return parser.tables


def tiles_in(component: Any) -> Iterator[tuple[str, str]]:
    for tile in of_type(component, "Div"):
        if getattr(tile, "className", "") == "tile":
            name, figure, *_ = tile.children
            yield name.children, figure.children
