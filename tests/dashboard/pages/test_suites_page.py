from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from poor_bench.dashboard.app import create_app
from poor_bench.dashboard.components.blocks import ABSENT
from poor_bench.dashboard.figures.history import suite_trends
from poor_bench.dashboard.pages.suites import callbacks
from poor_bench.dashboard.pages.suites.layout import SuiteUrl
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.start_form import StartPlan, plan_or_tell, show_console_run
from poor_bench.dashboard.table_files import TableFile
from poor_bench.dashboard.web.access import Access
from poor_bench.errors import ConfigError
from poor_bench.evaluation.models import EvalSuite, EvalSuiteResult
from poor_bench.evaluation.runner import SuiteOptions, run_suite_now
from poor_bench.evaluation.stored_run import SUITE_RUNS
from poor_bench.runs.history import RunHistory
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_of
from tests.dashboard.seen_text import of_type, text_of
from tests.evaluation.agents import PIXEL
from tests.evaluation.builders import make_case
from tests.waiting import wait_for

AGENTS = "tests.evaluation.agents"
HOST = {"Host": "127.0.0.1:8050"}
ATTACK = "<img src=x onerror=alert(1)> [a](javascript:alert(1))"


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> Path:
    return workspace_files.write()


@pytest.fixture
def services(folder: Path) -> Services:
    return services_of(folder)


def run(folder: Path, *cases: Any, name: str = "demo") -> EvalSuiteResult:
    return run_suite_now(EvalSuite(name=name, cases=cases), SuiteOptions(data_dir=folder))


def mixed(folder: Path, **fields: Any) -> EvalSuiteResult:
    """Run a case that passes, one that fails in its second trial, one that cannot be run."""
    return run(
        folder,
        make_case(id="fine", profile=f"{AGENTS}:echo", **fields),
        make_case(id="flaky", profile=f"{AGENTS}:every_other", trials=2),
        make_case(id="broken", profile=f"{AGENTS}:broken"),
    )


def test_before_the_first_run_the_page_says_how_to_make_one(services: Services) -> None:
    note, _, _, cases, _, replay, _ = callbacks.show(services, "")
    assert note == "no runs yet"
    assert "Suite example needs no model" in " ".join(text_of(cases).split())
    assert replay is None


def test_the_newest_run_is_shown_with_the_first_case_that_failed(
    folder: Path, services: Services
) -> None:
    run(folder, make_case(id="old", profile=f"{AGENTS}:echo"))
    mixed(folder)
    note, chips, tiles, cases, tags, replay, runs = callbacks.show(services, "")
    assert note.startswith("demo · 20")
    assert chips is None
    assert "1 of 2" in text_of(tiles)
    assert "Not run" in text_of(tiles)
    rows = of_type(cases, "Tbody")
    assert [link.children for link in of_type(rows, "A")] == ["fine", "flaky", "broken"]
    assert "no licence" in text_of(cases)
    assert "trial 2: must_succeed: the agent did not succeed: unlucky" in text_of(replay)
    assert tags is None
    assert len(of_type(of_type(runs, "Tbody"), "A")) == 2


def test_a_chosen_run_case_and_trial_are_shown(folder: Path, services: Services) -> None:
    first = mixed(folder)
    mixed(folder)
    search = f"?run={first.run_id}&case=flaky&trial=1"
    *_, replay, _ = callbacks.show(services, search)
    chips = [link for link in of_type(replay, "A") if "chip" in (link.className or "")]
    assert [chip.className for chip in chips] == ["chip is-active", "chip"]
    assert all(f"run={first.run_id}" in chip.href for chip in chips)
    *_, replay, _ = callbacks.show(services, f"?run={first.run_id}&case=fine")
    (image,) = of_type(replay, "Img")
    assert image.src == f"/suite-screenshots/{first.run_id}/fine/1/step-1.png"


def test_trends_show_what_each_run_of_the_suite_found(folder: Path, services: Services) -> None:
    mixed(folder)
    run(folder, make_case(profile=f"{AGENTS}:echo"), name="bank")
    assert callbacks.trends(services, "?suite=demo") is None
    run(folder, make_case(profile=f"{AGENTS}:broken"))
    assert callbacks.trends(services, "?suite=demo") is None
    run(folder, make_case(profile=f"{AGENTS}:echo", input_token_cost_per_million_usd=1))
    shown = callbacks.trends(services, "?suite=demo")
    (graph,) = of_type(shown, "Graph")
    rate, mean, p95 = graph.figure.data
    assert (list(rate.x), list(rate.y)) == ([1, 2], [0.5, 1.0])
    assert [rate.y[0] - rate.error_y.arrayminus[0], rate.y[0] + rate.error_y.array[0]] == (
        pytest.approx([0.0945, 0.9055], abs=1e-4)
    )
    assert all(0 <= m <= p for m, p in zip(mean.y, p95.y, strict=True))
    (described,) = [part for part in of_type(shown, "Div") if getattr(part, "role", "") == "figure"]
    assert "1 of 2 passed" in described.to_plotly_json()["props"]["aria-label"]


def test_trends_show_costs_where_there_were_some(folder: Path) -> None:
    report = run(folder, make_case(profile=f"{AGENTS}:echo"))
    costs = [None, 0.25]
    reports = [report.model_copy(update={"avg_estimated_cost_usd": cost}) for cost in costs]
    *_, cost = suite_trends(reports).data
    assert list(cost.y) == costs


def test_results_by_tag_costs_and_tracebacks_are_shown(folder: Path, services: Services) -> None:
    run(
        folder,
        make_case(id="a", profile=f"{AGENTS}:spending", benchmark_tags=["smoke"]),
        make_case(id="b", profile=f"{AGENTS}:raising", benchmark_tags=["smoke", "slow"]),
    )
    _, _, tiles, cases, tags, replay, runs = callbacks.show(services, "")
    assert "1 of 2" in text_of(tags)
    assert "slow" in text_of(tags)
    assert "n/a" in text_of(tiles)
    assert "n/a" in text_of(cases)
    assert "Traceback (most recent call last)" in text_of(replay)
    assert "not reported" in text_of(runs)


def test_suites_have_their_own_runs(folder: Path, services: Services) -> None:
    run(folder, make_case(profile=f"{AGENTS}:echo"), name="shop")
    run(folder, make_case(profile=f"{AGENTS}:echo"), name="bank")
    note, chips, *_, runs = callbacks.show(services, "?suite=shop")
    assert note.startswith("shop")
    assert [link.className for link in of_type(chips, "A")] == ["chip is-active", "chip"]
    assert len(of_type(of_type(runs, "Tbody"), "A")) == 1


def test_what_an_agent_said_stays_text(folder: Path, services: Services) -> None:
    mixed(folder, directive=ATTACK)
    *_, replay, _ = callbacks.show(services, "?case=fine")
    assert ATTACK in text_of(replay)
    assert not of_type(replay, "Markdown")
    assert all(not link.href.startswith("javascript") for link in of_type(replay, "A"))


def test_a_damaged_run_hides_only_itself(folder: Path, services: Services) -> None:
    damaged = mixed(folder)
    (Path(damaged.folder) / "run.jsonl").write_bytes(b"\xff\x00 nonsense\n")
    note, *_ = callbacks.show(services, "")
    assert note == "no runs yet"
    mixed(folder)
    note, *_ = callbacks.show(services, f"?run={damaged.run_id}&case=%00&trial=99999999")
    assert note.startswith("demo")


def test_a_new_run_is_something_new_to_show(folder: Path, services: Services) -> None:
    wait_for(lambda: services.results.stale().is_current)  # known a moment later: new as well
    before = services.version()
    assert services.version() == before
    mixed(folder)
    assert services.version() != before


def test_state_stands_in_the_address_and_comes_back_from_it() -> None:
    search = "?suite=shop&run=2026&case=login&trial=2"
    assert SuiteUrl.read(search).search == search
    assert SuiteUrl.read("?trial=-1").trial == 0


@pytest.fixture
def client(services: Services) -> Iterator[FlaskClient]:
    app = create_app(services, Access(host="127.0.0.1", port=8050))
    with app.server.test_client() as client:
        yield client


def test_screenshots_are_served_as_images_with_all_headers(
    folder: Path, client: FlaskClient
) -> None:
    report = mixed(folder)
    response = client.get(f"/suite-screenshots/{report.run_id}/fine/1/step-1.png", headers=HOST)
    assert (response.status_code, response.mimetype) == (200, "image/png")
    assert response.data == PIXEL
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]


@pytest.mark.slow(reason="takes over a quarter of a second")
@pytest.mark.parametrize(
    "path",
    [
        "{run}/fine/1/steps.jsonl",
        "{run}/fine/1/..%2F..%2F..%2F..%2Fllms.json",
        "{run}/fine/1/%2Fetc%2Fpasswd",
        "{run}/../1/run.jsonl",
        "{run}/..%2F..%2F{run}%2Ffine/1/step-1.png",
        "{run}/nowhere/1/step-1.png",
        "{run}/fine/2/step-1.png",
        "../suite_runs/fine/1/step-1.png",
        "..%2Fsuite_runs%2F{run}/fine/1/step-1.png",
        "nothing/fine/1/step-1.png",
    ],
)
def test_nothing_but_screenshots_is_served(folder: Path, client: FlaskClient, path: str) -> None:
    report = mixed(folder)
    address = f"/suite-screenshots/{path.format(run=report.run_id)}"
    response = client.get(address, headers=HOST)
    assert not response.mimetype.startswith("image/")
    for stored in (b"trial_result", b'"llms":', b"root:", PIXEL):
        assert stored not in response.data


def test_screenshots_are_for_nobody_else(folder: Path, client: FlaskClient) -> None:
    report = mixed(folder)
    address = f"/suite-screenshots/{report.run_id}/fine/1/step-1.png"
    assert client.get(address, headers={"Host": "evil.example"}).status_code == 421


def lines(file: TableFile) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file.csv)))


def test_cases_and_runs_are_files(folder: Path, services: Services) -> None:
    assert lines(callbacks.cases_csv(services, "")) == lines(callbacks.runs_csv(services, "")) == []
    first = run(folder, make_case(id="first", profile=f"{AGENTS}:echo"))
    mixed(folder)
    cases = lines(callbacks.cases_csv(services, ""))
    assert [(case["Case"], case["Verdict"]) for case in cases] == [
        ("fine", "passed"),
        ("flaky", "failed"),
        ("broken", "not_run"),
    ]
    [case] = lines(callbacks.cases_csv(services, f"?run={first.run_id}"))
    assert case["Case"] == "first"
    runs = lines(callbacks.runs_csv(services, ""))
    shown = [(each["Passed"], each["Cases"], each["Not run"]) for each in runs]
    assert shown == [("1", "2", "1"), ("1", "1", "0")]
    rates = [(each["Pass rate (%)"], each["Pass rate (%) 95 % CI high"]) for each in runs]
    assert [rate for rate, _ in rates] == ["50.0", "100.0"]
    assert all(float(rate) <= float(high) <= 100 for rate, high in rates)
    assert not any("(0 to 1)" in heading for heading in runs[0])


def test_the_form_says_what_a_suite_would_run(services: Services) -> None:
    planned = previewed(services, "example", "", None, "")
    assert "11 cases, 12 trials, with scripted:cancel" in text_of(planned.shown)
    assert not planned.is_off
    planned = previewed(services, "example", 2, "scripted:none", "")
    assert "scripted:none" in text_of(planned.shown)
    assert planned.is_off
    assert previewed(services, None, "", None, "").is_off


def previewed(services: Services, *values: Any) -> StartPlan:
    return plan_or_tell(partial(callbacks.plan_run, services), False, *values)


def test_a_long_suite_run_asks_first(services: Services) -> None:
    assert not previewed(services, "example", "", None, "").needs_consent
    assert previewed(services, "example", 20, None, "").needs_consent


@pytest.mark.parametrize(("trials", "most"), [(0, ""), (1.5, ""), (True, ""), (1, -1), (1, "x")])
def test_a_number_that_cannot_be_used_is_refused(
    services: Services, trials: Any, most: Any
) -> None:
    with pytest.raises(ConfigError):
        callbacks.write_command(services, "example", trials, None, most)


@pytest.mark.parametrize("name", ["none", "../suites/example", "/etc/passwd", ""])
def test_what_is_not_the_name_of_a_suite_is_refused(services: Services, name: str) -> None:
    with pytest.raises(ConfigError, match="unknown suite"):
        callbacks.write_command(services, name, "", None, "")


def test_the_suites_of_the_workspace_and_the_example_can_be_chosen(
    folder: Path, services: Services
) -> None:
    (folder / "suites").mkdir(exist_ok=True)
    (folder / "suites" / "quick.yaml").write_text("cases: []")
    suites, llms = callbacks.options(services)
    assert suites == ["quick", "example"]
    assert llms == [llm.id for llm in services.files.workspace().llms]
    (folder / "llms.json").unlink()
    assert callbacks.options(services)[1] == []


def test_a_running_suite_of_any_process_is_shown_with_its_progress(
    folder: Path, services: Services
) -> None:
    assert show_console_run(services, SUITE_RUNS)[1:] == (ABSENT, None, True)
    header = {"run_id": "20261122T010000-aa", "suite": "<b>", "cases": [{"id": "one"}]}
    with RunHistory(folder, SUITE_RUNS).writing("20261122T010000-aa", header):
        body, shown, head, is_still = show_console_run(services, SUITE_RUNS)
    assert "0 of 1" in text_of(body)
    assert "<b>" in text_of(body)
    assert "another process" in text_of(head)
    assert ("can-cancel" in shown, is_still) == (False, False)
