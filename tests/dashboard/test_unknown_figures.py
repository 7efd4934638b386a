"""What nobody knows is n/a on every page: never 0, never the usual value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from poor_bench.dashboard.pages.compare import callbacks as compare
from poor_bench.dashboard.pages.issues import callbacks as issues
from poor_bench.dashboard.pages.judge import callbacks as judge
from poor_bench.dashboard.pages.judge import callbacks as judge_callbacks
from poor_bench.dashboard.pages.llms import callbacks as llms
from poor_bench.dashboard.pages.model import callbacks as model
from poor_bench.dashboard.pages.model import results
from poor_bench.dashboard.pages.overview import callbacks as overview
from poor_bench.dashboard.pages.registry import PAGES
from poor_bench.dashboard.pages.run import callbacks as run
from poor_bench.dashboard.pages.suites import callbacks as suites
from poor_bench.dashboard.pages.tests import callbacks as tests
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.table_files import TableFile
from poor_bench.evaluation.models import EvalSuite
from poor_bench.evaluation.runner import SuiteOptions, run_suite_now
from poor_bench.judge.storage import JudgementStore
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.runner.selection import Selection
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_of
from tests.dashboard.seen_text import text_of
from tests.evaluation.builders import make_case
from tests.judge.run_builders import conversation_of, fallback, header_of
from tests.waiting import wait_for

BARE, SILENT = "scripted:bare", "scripted:silent"
_ZERO = re.compile(r"(?<![\w.])[-+]?0\.0+(?!\d).{0,9}|(?<![\w.])[-+]?0 ?(?:%|ms\b|s\b).{0,9}")
_USUAL = re.compile(r"\b(?:kept|NaN|None|nan|null|undefined)\b")


@pytest.fixture
def services(workspace_files: WorkspaceFiles) -> Services:
    """Build a workspace in which one score is known, and neither its time nor anything else."""
    workspace_files.add_tests(2)
    for name in ("bare", "silent", "pending"):
        workspace_files.add_llm(name, ["4"])
    folder = workspace_files.write()
    _store_results(folder)
    _judge_nothing(folder)
    case = make_case(id="broken", profile="tests.evaluation.agents:broken")
    run_suite_now(EvalSuite(name="demo", cases=(case,)), SuiteOptions(data_dir=folder))
    services = services_of(folder)
    for is_current in (
        lambda: services.issues.report().is_current,
        lambda: services.tests.items().is_current and services.tests.findings().is_current,
        lambda: compare.show_strip(services, "")[2],
        lambda: llms.show_listed(services, 0)[2],
    ):
        wait_for(is_current)
    return services


def _store_results(folder: Path) -> None:
    failure = Failure(kind=FailureKind.CONNECTION, message="server is gone")
    store = WorkspaceFolder(folder).store
    known = Result(llm_id=BARE, test_id="sum_001", score=1.0, response="4")
    unknown = Result(llm_id=SILENT, test_id="sum_001", failure=failure)
    store.add([known, unknown], "20260101T000000-a", {"llms": {BARE: 1, SILENT: 1}})


def _judge_nothing(folder: Path) -> None:
    with JudgementStore(folder).writing(header_of("20")) as writer:
        writer.add_conversation(conversation_of("hello", "Hi", "Hello"))
        writer.add_judgement(fallback("judge is gone"))


def _leaderboard(services: Services) -> list[Any]:
    rows = overview.leaderboard_rows(services)
    return [[text for row in rows for text in row["texts"].values()], overview.note(services)]


def _model(services: Services, llm_id: str) -> list[Any]:
    search = f"?llm={llm_id}"
    key = ["sum_001", 1, llm_id == SILENT]
    return [
        model.tiles(services, search),
        model.state(services, llm_id),
        results.build_shown_details(services, search, None, key).body,
        model.note(services, llm_id),
    ]


SEEN: Mapping[str, Callable[[Services], Any]] = {
    "/": lambda services: [
        _leaderboard(services),
        overview.scores_by_class(services, "?heat-map=levels").children[0].children[0],
        overview.changes(services),
    ],
    "/model": lambda services: [_model(services, BARE), _model(services, SILENT)],
    "/compare": lambda services: [
        compare.show_strip(services, "")[:2],
        compare.show_classes(services, "").children[0],
        compare.show_tests(services, "")[2], compare.show_panel(services, "?test=sum_001")[0],
    ],
    "/issues": lambda services: issues.show(services, "")[2:4],
    "/tests": lambda services: [
        tests.show(services, "")[2:5], tests.show_facts(services, "sum_002"),
    ],
    "/llms": lambda services: llms.show_listed(services, 0),
    "/run": lambda services: [run.plan(services, Selection()), run.failures(services)],
    "/judge": lambda services: [*judge.show(services, ""), *judge.context(services, "")],
    "/suites": lambda services: suites.show(services, ""),
}  # fmt: skip
"""Page to what it shows; without legends of colours and the difficulty of classes, whose 0.00 is
known."""
FILES: tuple[Callable[[Services], TableFile | None], ...] = (
    overview.leaderboard_csv, overview.heat_map_csv,
    lambda services: results.results_csv(services, f"?llm={SILENT}", None),
    lambda services: compare.strip_csv(services, ""),
    lambda services: compare.classes_csv(services, ""),
    lambda services: compare.tests_csv(services, ""),
    lambda services: tests.tests_csv(services, ""),
    lambda services: judge_callbacks.cases_csv(services, ""),
    lambda services: judge_callbacks.runs_csv(services, ""),
    lambda services: suites.cases_csv(services, ""),
    lambda services: suites.runs_csv(services, ""),
    lambda services: run.plan_csv(services, Selection()),
)  # fmt: skip
COUNTS = re.compile(
    r"pass|fail|stale|enabled|cases|trial|tests|judge|worse|tied|lost|won|cost", re.I
)
"""Headings of columns in which a 0 is a count, or the price of what runs on this machine."""


def test_every_page_is_looked_at() -> None:
    assert SEEN.keys() == {page.path for page in PAGES}


@pytest.mark.slow(reason="runs a suite")
def test_no_page_and_no_file_has_a_figure_that_nobody_knows(services: Services) -> None:
    texts = {path: text_of(look(services)) for path, look in SEEN.items()}
    found = {path: _ZERO.findall(text) + _USUAL.findall(text) for path, text in texts.items()}
    assert {path: faults for path, faults in found.items() if faults} == {}
    assert {path for path, text in texts.items() if "n/a" not in text} <= {
        "/issues",
        "/llms",
        "/run",
    }
    files = [file for build in FILES if (file := build(services)) is not None]
    assert len(files) == len(FILES)
    assert [(file.name, heading) for file in files for heading in _find_zeros(file)] == []


def _find_zeros(file: TableFile) -> list[str]:
    return [
        heading
        for row in file.rows
        for field, heading in file.columns
        if not COUNTS.search(heading) and row.get(field) == 0 and row.get(field) is not False
    ]
