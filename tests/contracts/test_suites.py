"""The contract of `poor_bench.evaluation`, run as it is written."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import parse

import pytest
from pydantic import BaseModel

from poor_bench.cli.main import main
from poor_bench.errors import ConfigError
from poor_bench.evaluation import (
    EvalCase,
    EvalSuite,
    EvalSuiteResult,
    Expectations,
    SuiteOptions,
    load_suite,
    run_suite,
    write_suite_report,
)
from poor_bench.evaluation.checks import list_failed_checks
from poor_bench.evaluation.suite_file import read_suite
from tests.evaluation.builders import make_case, make_trial

SUITE = """\
name: contract-suite
cases:
  - id: title-of-page
    directive: Open the page and return its title
    start_url: https://example.com
    execution_mode: agent_only          # agent_only | playbook_only | hybrid_auto (default)
    trials: 3
    benchmark_tags: [smoke, public]
    max_steps: 5
    output_schema: {type: object, properties: {summary: {type: string}}}
    input_token_cost_per_million_usd: 3.0
    output_token_cost_per_million_usd: 15.0
    expect:
      must_succeed: true
      summary_contains: ["example", "domain"]
      error_contains: []
      extracted_text_contains: ["Example"]
      required_data_keys: ["details.title"]
      data_values_contain: {details.title: Exam}
      max_duration_ms: 60000
      max_actions: 4
      min_actions: 0
      max_input_tokens: 100000
      max_output_tokens: 5000
      max_estimated_cost_usd: 0.05
      min_trial_pass_rate: 0.8
      max_p95_duration_ms: 90000
  - id: cancel-by-playbook
    directive: Cancel order 777
    playbook: cancel_the_order
    execution_mode: playbook_only
    playbook_params: {order_id: "777"}
    credentials: null
    expect: {must_succeed: true, handoff: forbid}
"""
AGENT = """\
from poor_bench.evaluation.agent import AgentOutcome


class Agent:
    def run(self, task, control):
        return AgentOutcome(
            success=True,
            summary="The title is EXAMPLE Domain.",
            data={"details": {"title": "Example Domain"}},
            extracted_text="Example Domain",
            actions=1,
            input_tokens=1000,
            output_tokens=100,
        )


def make(services):
    return Agent()
"""


@pytest.fixture
def suite_file(tmp_path: Path) -> Path:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    return path


@pytest.fixture
def with_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The contract's suite, its first case carried out by an agent of this test."""
    (tmp_path / "contract_suite_agent.py").write_text(AGENT)
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "suite.yaml"
    path.write_text(
        SUITE.replace("    trials: 3\n", "    trials: 3\n    profile: contract_suite_agent:make\n")
    )
    return path


def run(path: Path, folder: Path) -> EvalSuiteResult:
    async def all_of_it() -> EvalSuiteResult:
        suite = await load_suite(path, folder)
        report = await run_suite(suite, SuiteOptions(data_dir=folder))
        await write_suite_report(report, folder / "report.json")
        return report

    return asyncio.run(all_of_it())


def test_every_key_of_the_contract_is_loaded_as_it_is_written(suite_file: Path) -> None:
    suite = asyncio.run(load_suite(suite_file))
    first, second = suite.cases
    assert suite.name == "contract-suite"
    assert first.model_dump(exclude_unset=True) == {
        "id": "title-of-page",
        "directive": "Open the page and return its title",
        "start_url": "https://example.com",
        "execution_mode": "agent_only",
        "trials": 3,
        "benchmark_tags": ["smoke", "public"],
        "max_steps": 5,
        "output_schema": {"type": "object", "properties": {"summary": {"type": "string"}}},
        "input_token_cost_per_million_usd": 3.0,
        "output_token_cost_per_million_usd": 15.0,
        "expect": {
            "must_succeed": True,
            "summary_contains": ["example", "domain"],
            "error_contains": [],
            "extracted_text_contains": ["Example"],
            "required_data_keys": ["details.title"],
            "data_values_contain": {"details.title": "Exam"},
            "max_duration_ms": 60000,
            "max_actions": 4,
            "min_actions": 0,
            "max_input_tokens": 100000,
            "max_output_tokens": 5000,
            "max_estimated_cost_usd": 0.05,
            "min_trial_pass_rate": 0.8,
            "max_p95_duration_ms": 90000,
        },
    }
    assert (second.playbook, second.playbook_params) == ("cancel_the_order", {"order_id": "777"})
    assert second.credentials is None
    assert second.expect.handoff == "forbid"


def test_defaults_of_a_case() -> None:
    case = EvalCase(id="a", directive="go")
    assert (case.execution_mode, case.credentials, case.profile) == ("hybrid_auto", None, "default")
    assert (case.trials, case.allow_private_networks, case.max_steps) == (1, False, 50)
    assert (case.thinking, case.metadata, case.benchmark_tags) == ("high", {}, [])
    assert (case.playbook, case.playbook_params, case.output_schema) == (None, {}, None)
    assert case.expect == Expectations()
    assert (case.expect.must_succeed, case.expect.handoff) == (True, "allow")
    assert case.expect.summary_contains == []
    assert case.expect.error_contains == []
    assert case.expect.extracted_text_contains == []


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("summary_contains", "summary"),
        ("error_contains", "error"),
        ("extracted_text_contains", "extracted_text"),
    ],
)
def test_all_texts_of_a_list_must_occur_and_one_text_alone_is_a_list_of_one(
    key: str, text: str
) -> None:
    def faults(wanted: Any) -> tuple[str, ...]:
        case = make_case(expect={key: wanted})
        return list_failed_checks(case, make_trial(**{text: "Your ORDER is\n cancelled."}))

    assert faults(["order", "Is Cancelled"]) == faults([]) == faults("order") == ()
    assert faults(None) == ()
    (fault,) = faults(["order", "shipped"])
    assert fault.startswith(f"{key}: 'shipped'")
    assert getattr(Expectations(**{key: "one"}), key) == ["one"]


def test_a_key_whose_value_is_null_exists() -> None:
    case = make_case(expect={"required_data_keys": ["details.title", "details.no"]})
    (fault,) = list_failed_checks(case, make_trial(data={"details": {"title": None}}))
    assert "details.no" in fault


def test_a_playbook_that_does_not_exist_is_told_by_validate_and_when_its_case_runs(
    with_agent: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(tmp_path), "suite", "validate", str(with_agent)]) == 2
    told = capsys.readouterr().out
    assert "suite.yaml:31" in told
    assert "playbook `cancel_the_order`" in told
    report = run(with_agent, tmp_path)
    assert [case.status.value for case in report.case_results] == ["passed", "not_run"]
    assert "cancel_the_order" in report.case_results[1].error


def test_other_faults_of_a_suite_still_keep_it_from_loading(suite_file: Path) -> None:
    suite_file.write_text(SUITE.replace("trials: 3", "trials: 0"))
    with pytest.raises(ConfigError):
        asyncio.run(load_suite(suite_file))


def test_trials_count_from_0_and_the_result_is_pydantic_through_and_through(
    with_agent: Path, tmp_path: Path
) -> None:
    report = run(with_agent, tmp_path)
    case = report.case_results[0]
    assert [trial.trial_index for trial in case.trial_results] == [0, 1, 2]
    assert all(isinstance(each, BaseModel) for each in (report, case, case.trial_results[0]))
    dumped = report.model_dump()
    assert dumped["case_results"][0]["trial_results"][2]["trial_index"] == 2
    assert EvalSuiteResult.model_validate(dumped) == report
    assert EvalSuiteResult.model_validate_json(report.model_dump_json()) == report
    assert case.avg_estimated_cost_usd == pytest.approx(0.0045)


def test_headline_of_a_report_never_raises(with_agent: Path, tmp_path: Path) -> None:
    report = run(with_agent, tmp_path)
    line = f"{report.passed}/{report.total} passed ({report.pass_rate:.0%})"
    assert line == "1/1 passed (100%)"


def test_pass_rate_is_a_number_where_nothing_was_judged(tmp_path: Path) -> None:
    case = make_case(playbook="nowhere", execution_mode="playbook_only")
    suite = EvalSuite(name="none", cases=(case,))
    report = asyncio.run(run_suite(suite, SuiteOptions(data_dir=tmp_path)))
    assert f"{report.passed}/{report.total} passed ({report.pass_rate:.0%})" == "0/0 passed (0%)"
    assert report.pass_rate == 0.0


def test_results_by_tag_stand_in_every_report(
    with_agent: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"--html": "r.html", "--junit": "r.xml", "--output": "r.json"}
    options = [part for key, name in files.items() for part in (key, str(tmp_path / name))]
    call = ["--data", str(tmp_path), "suite", "run", str(with_agent), "--case", "title-of-page"]
    assert main([*call, *options]) == 0
    console = capsys.readouterr().out
    assert "smoke" in console
    assert "public" in console
    assert '<section class="card" id="tags">' in (tmp_path / "r.html").read_text()
    properties = {
        each.get("name"): each.get("value") for each in parse(tmp_path / "r.xml").iter("property")
    }
    assert (properties["tag.smoke.passed"], properties["tag.smoke.pass_rate"]) == ("1", "1")
    tags = json.loads((tmp_path / "r.json").read_text())["tag_results"]
    assert [(tag["tag"], tag["passed"], tag["total"]) for tag in tags] == [
        ("public", 1, 1),
        ("smoke", 1, 1),
    ]


def test_tags_choose_cases(
    with_agent: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["--data", str(tmp_path), "suite", "run", str(with_agent), "--tag", "smoke", "--json"]
    assert main(call) == 0
    report = json.loads(capsys.readouterr().out)
    assert [case["id"] for case in report["case_results"]] == ["title-of-page"]


OLD_EXPECT: list[Callable[[], dict[str, Any]]] = [
    lambda: {"summary_contains": "one text, as before lists"},
    lambda: {"required_data_keys": ["a.b"]},
]


@pytest.mark.parametrize("expect", OLD_EXPECT)
def test_suites_of_before_keep_loading(
    tmp_path: Path, expect: Callable[[], dict[str, Any]]
) -> None:
    case = {"id": "a", "directive": "go", "credentials": {}, "expect": expect()}
    path = tmp_path / "old.yaml"
    path.write_text(json.dumps({"name": "old", "cases": [case]}))
    assert read_suite(path, tmp_path).cases[0].credentials == {}
