from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from poor_bench.errors import ConfigError, RunRefusedError, StoreError
from poor_bench.evaluation import load_suite, run_suite, write_suite_report
from poor_bench.evaluation.browser.playbook_file import read_playbook
from poor_bench.evaluation.models import CaseStatus, EvalSuite, EvalSuiteResult
from poor_bench.evaluation.runner import (
    StepDone,
    SuiteEvent,
    SuiteFinished,
    SuiteOptions,
    SuiteStarted,
    SuiteTrialFinished,
    TrialStarted,
    resume_suite,
    run_suite_now,
)
from poor_bench.evaluation.stored_run import (
    SUITE_RUNS,
    find_suite_run,
    list_suite_runs,
    write_suite_run,
)
from poor_bench.evaluation.trial_run import _describe_error
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import LLM, Prices
from poor_bench.pool.control import RunControl
from poor_bench.runs.history import RunHistory
from poor_bench.runs.journal import CHECKSUM, JournalWriter
from poor_bench.runs.turn import run_alone
from tests.evaluation.agents import SECRET
from tests.evaluation.builders import make_case

AGENTS = "tests.evaluation.agents"


def suite_of(*cases: Any, **fields: Any) -> EvalSuite:
    return EvalSuite(name="demo", cases=list(cases), **fields)


def case_of(agent: str, case_id: str = "one", **fields: Any) -> Any:
    return make_case(id=case_id, profile=f"{AGENTS}:{agent}", **fields)


def run(suite: EvalSuite, folder: Path, **options: Any) -> EvalSuiteResult:
    return run_suite_now(suite, SuiteOptions(data_dir=folder, **options))


def test_every_trial_is_run_judged_and_stored(tmp_path: Path) -> None:
    suite = suite_of(case_of("echo", "a", trials=2), case_of("every_other", "b", trials=2))
    report = run(suite, tmp_path)
    assert (report.passed, report.failed, report.pass_rate) == (1, 1, 0.5)
    assert report.case_results[1].failed_checks == (
        "trial 2: must_succeed: the agent did not succeed: unlucky",
    )
    stored = find_suite_run(tmp_path, "last")
    assert stored.report() == report
    (step,) = stored.steps(report.case_results[0].trial_results[1])
    assert (step.text, step.screenshot) == ("opened", "step-1.png")


def test_agent_gets_its_task_with_placeholders_filled(tmp_path: Path) -> None:
    case = case_of("echo", directive="Open {server}/x", start_url="{server}/x")
    report = run(suite_of(case, server=f"{AGENTS}:hello_server"), tmp_path)
    (trial,) = report.case_results[0].trial_results
    address = trial.data["server"]
    assert trial.summary == f"Open {address}/x"
    assert address.startswith("http://127.0.0.1:")


def test_server_answers_during_the_trial_and_is_gone_afterwards(tmp_path: Path) -> None:
    heard: list[bytes] = []
    addresses: list[str] = []

    def listen(event: SuiteEvent) -> None:
        if isinstance(event, StepDone):
            addresses.append(event.step.action["url"])
            with urlopen(event.step.action["url"]) as reply:
                heard.append(reply.read())

    suite = suite_of(
        case_of("echo", start_url="{server}/", trials=2), server=f"{AGENTS}:hello_server"
    )
    run_suite_now(suite, SuiteOptions(data_dir=tmp_path), listen)
    assert heard == [b"hello", b"hello"]
    with pytest.raises(OSError, match="refused"):
        urlopen(addresses[0])


@pytest.mark.parametrize(
    ("fields", "kind", "words"),
    [
        ({"agent": "broken"}, FailureKind.SETTINGS, "no licence (buy one)"),
        ({"agent": "nowhere"}, FailureKind.SETTINGS, "does not have a function `nowhere`"),
        ({"agent": "echo", "credentials": {"NO_SUCH": "https://a.example"}}, None, "$NO_SUCH"),
        (
            {"agent": "echo", "playbook": "gone"},
            FailureKind.SETTINGS,
            "playbook `gone` does not exist",
        ),
    ],
    ids=str,
)
def test_failure_of_ours_is_not_the_agents(
    tmp_path: Path, fields: dict[str, Any], kind: FailureKind | None, words: str
) -> None:
    report = run(suite_of(case_of(**fields), case_of("echo", "fine")), tmp_path)
    broken, fine = report.case_results
    assert (broken.status, fine.status) == (CaseStatus.NOT_RUN, CaseStatus.PASSED)
    assert words in broken.error
    assert broken.failures[0].kind is (kind or FailureKind.SETTINGS)
    assert (report.passed, report.failed, report.not_run, report.pass_rate) == (1, 0, 1, 1.0)


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("raising", "raised KeyError: 'oops' (tests/evaluation/agents.py:"),
        ("leaving", "raised SystemExit: 3"),
        ("giving_in", "raised RunCancelledError: I had enough"),
        ("mumbling_steps", "raised TypeError: note_step() takes a Step, not dict"),
        ("mumbling", "returned str, not AgentOutcome"),
        ("counting_badly", "returned a bad AgentOutcome: actions: "),
    ],
)
def test_a_crash_of_the_agent_under_test_is_its_failure_and_counts(
    tmp_path: Path, agent: str, words: str
) -> None:
    report = run(suite_of(case_of(agent), case_of("echo", "fine")), tmp_path)
    broken = report.case_results[0]
    assert (broken.status, report.pass_rate) == (CaseStatus.FAILED, 0.5)
    assert words in broken.error
    assert find_suite_run(tmp_path, "last").report() == report


def test_traceback_of_a_crash_is_kept(tmp_path: Path) -> None:
    report = run(suite_of(case_of("raising")), tmp_path)
    (trial,) = report.case_results[0].trial_results
    assert trial.traceback.startswith("Traceback (most recent call last):")
    assert 'raise KeyError("oops")' in trial.traceback
    assert "profiles.py" not in trial.traceback


def test_time_limit_of_a_custom_agent_is_enforced(tmp_path: Path) -> None:
    report = run(suite_of(case_of("stubborn", time_limit_s=0.05)), tmp_path)
    (trial,) = report.case_results[0].trial_results
    assert report.case_results[0].status is CaseStatus.FAILED
    assert trial.error == "no outcome within the time limit of 0.05 s"
    assert (trial.success, trial.actions, trial.input_tokens) == (False, 4, 50)


def test_null_and_whole_numbers_with_a_point_are_accepted(tmp_path: Path) -> None:
    report = run(suite_of(case_of("loose")), tmp_path)
    (trial,) = report.case_results[0].trial_results
    assert (trial.passed, trial.actions, trial.input_tokens) == (True, 2, 0)
    assert find_suite_run(tmp_path, "last").report() == report


def test_reason_of_a_broken_playbook_is_told(tmp_path: Path) -> None:
    (tmp_path / "buy.yaml").write_text("name: buy\nsteps:\n  - clik: {text: Buy}\n")
    error = ConfigError("1 problem", problems=read_playbook(tmp_path / "buy.yaml")[1])
    assert "buy.yaml:3" in _describe_error(error)
    assert "clik" in _describe_error(error)


PRICED = {"input_token_cost_per_million_usd": 3.0, "output_token_cost_per_million_usd": 5.0}


@pytest.mark.parametrize(
    ("prices", "of_case", "cost"),
    [
        ({}, {}, None),
        ({"input": 1.0}, {}, None),
        ({"input": 1.0, "output": 2.0}, {}, 3.0),
        ({"input": 1.0, "output": 2.0}, PRICED, 8.0),
        ({}, PRICED, 8.0),
        ({}, dict.fromkeys(PRICED, 0.0), 0.0),
    ],
)
def test_cost_is_that_of_the_case_else_of_the_llm_else_unknown(
    tmp_path: Path, prices: dict[str, float], of_case: dict[str, float], cost: float | None
) -> None:
    llms = (llm("a", prices=Prices(**prices)),)
    report = run(
        suite_of(case_of("spending", **of_case), case_of("echo", "b"), llms=llms), tmp_path
    )
    assert report.case_results[0].avg_estimated_cost_usd == cost
    assert report.avg_estimated_cost_usd is None, "echo reports no tokens"
    assert find_suite_run(tmp_path, "last").report() == report


def test_runs_of_older_versions_are_read(tmp_path: Path) -> None:
    report = run(suite_of(case_of("every_other", trials=2)), tmp_path)
    path = Path(report.folder) / "run.jsonl"
    first, *lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in (first, *lines):
        line.pop(CHECKSUM)
    header = first["run"]
    del header["prices"]
    header["cases"][0]["expect"] = {"summary_contains": "", "must_succeed": False}
    for line in lines[:2]:
        for name in ("trial_index", "traceback", "read_errors"):
            del line["trial_result"][name]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in (first, *lines)))
    read = find_suite_run(tmp_path, "last").report()
    assert [trial.trial_index for trial in read.case_results[0].trial_results] == [0, 1]
    assert read.passed == 1


@pytest.mark.parametrize("name", ["no_server", "missing", "raising"])
def test_server_that_cannot_be_started_is_no_failure_of_the_agent(
    tmp_path: Path, name: str
) -> None:
    report = run(suite_of(case_of("echo"), server=f"{AGENTS}:{name}"), tmp_path)
    assert report.case_results[0].status is CaseStatus.NOT_RUN


def test_secrets_are_stored_nowhere(tmp_path: Path) -> None:
    origins = {"SHOP_PASSWORD": "https://shop.example"}
    suite = suite_of(
        case_of("leaking", "a", credentials=origins),
        case_of("leaking", "b", directive="fail", credentials=origins),
    )
    report = run(suite, tmp_path, environ={"SHOP_PASSWORD": SECRET})
    assert report.case_results[1].failures
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*.jsonl"))
    assert b"SHOP_PASSWORD" in written
    assert SECRET.encode() not in written
    assert SECRET not in str(report)


def test_data_that_are_not_plain_are_stored_as_they_are_reported(tmp_path: Path) -> None:
    origins = {"SHOP_PASSWORD": "https://shop.example"}
    suite = suite_of(case_of("exotic", credentials=origins))
    report = run(suite, tmp_path, environ={"SHOP_PASSWORD": SECRET})
    (trial,) = report.case_results[0].trial_results
    assert trial.data["thing"] == "Thing([SHOP_PASSWORD])"
    assert trial.data["tuple"] == [1, 2]
    assert find_suite_run(tmp_path, "last").report() == report


def test_step_that_could_not_be_stored_stops_the_run_whatever_the_agent_does(
    tmp_path: Path,
) -> None:
    def fail(event: SuiteEvent) -> None:
        if isinstance(event, StepDone):
            raise StoreError("disk full")

    with pytest.raises(StoreError, match="disk full"):
        run_suite_now(suite_of(case_of("swallowing")), SuiteOptions(data_dir=tmp_path), fail)


def test_trials_run_side_by_side_where_that_is_wanted(tmp_path: Path) -> None:
    report = run(suite_of(case_of("meeting", trials=2)), tmp_path, parallel=2)
    assert report.passed == 1


def test_listener_hears_of_everything_in_order(tmp_path: Path) -> None:
    heard: list[SuiteEvent] = []
    run_suite_now(suite_of(case_of("echo")), SuiteOptions(data_dir=tmp_path), heard.append)
    kinds = [SuiteStarted, TrialStarted, StepDone, SuiteTrialFinished, SuiteFinished]
    assert [type(event) for event in heard] == kinds


def test_cancelled_run_keeps_what_is_finished(tmp_path: Path) -> None:
    control = RunControl()

    def stop_at_first_step(event: SuiteEvent) -> None:
        if isinstance(event, StepDone):
            control.cancel()

    suite = suite_of(case_of("endless", "quick"), case_of("endless"), case_of("endless", "never"))
    report = run_suite_now(suite, SuiteOptions(data_dir=tmp_path), stop_at_first_step, control)
    assert report.cancelled
    statuses = [case.status for case in report.case_results]
    assert statuses == [CaseStatus.PASSED, CaseStatus.NOT_RUN, CaseStatus.NOT_RUN]
    assert find_suite_run(tmp_path, "last").report() == report


def test_error_of_the_listener_stops_the_run_and_is_raised(tmp_path: Path) -> None:
    def fail(event: SuiteEvent) -> None:
        if isinstance(event, StepDone):
            raise StoreError("disk full")

    with pytest.raises(StoreError, match="disk full"):
        run_suite_now(
            suite_of(case_of("echo"), case_of("endless", "two")),
            SuiteOptions(data_dir=tmp_path, parallel=2),
            fail,
        )


def test_run_that_was_killed_is_read_as_far_as_it_came(tmp_path: Path) -> None:
    report = run(suite_of(case_of("echo", "a"), case_of("echo", "b")), tmp_path)
    path = Path(report.folder) / "run.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]) + lines[2][:40])
    read = find_suite_run(tmp_path, report.run_id[:12]).report()
    assert [case.status for case in read.case_results] == [CaseStatus.PASSED, CaseStatus.NOT_RUN]
    assert read.cancelled


def test_two_runs_at_once_do_not_meet(tmp_path: Path) -> None:
    suite = suite_of(case_of("echo", trials=5))
    threads = [threading.Thread(target=run, args=(suite, tmp_path)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    reports = [stored.report() for stored in list_suite_runs(tmp_path)]
    assert [report.case_results[0].trials_run for report in reports] == [5, 5]


def test_reference_that_means_no_run_names_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="none is stored yet"):
        find_suite_run(tmp_path, "last")
    ids = [run(suite_of(case_of("echo")), tmp_path).run_id for _ in range(2)]
    for reference, words in (("zzzz", "is not a suite run"), (ids[0][:4], "several")):
        with pytest.raises(ConfigError, match=words) as caught:
            find_suite_run(tmp_path, reference)
        assert ids[0] in caught.value.hint
    assert find_suite_run(tmp_path, "previous").run_id == ids[0]


def llm(name: str, **fields: Any) -> LLM:
    return LLM(id=f"scripted:{name}", provider="scripted", name=name, **fields)


@pytest.mark.parametrize(
    ("wanted", "of_case", "of_suite", "chosen"),
    [
        (None, None, None, "scripted:b"),
        (None, None, "scripted:c", "scripted:c"),
        (None, "scripted:b", "scripted:c", "scripted:b"),
        ("scripted:w", "scripted:b", None, "scripted:w"),
    ],
)
def test_llm_is_the_nearest_that_is_named(
    tmp_path: Path,
    wanted: str | None,
    of_case: str | None,
    of_suite: str | None,
    chosen: str,
) -> None:
    entry = {"provider": "scripted", "name": "w", "parameters": {"responses": "hi"}}
    (tmp_path / "llms.json").write_text(json.dumps({"llms": [entry]}))
    llms = (llm("a", enabled=False), llm("b"), llm("c"))
    suite = suite_of(case_of("echo", llm=of_case), llm=of_suite, llms=llms)
    report = run(suite, tmp_path, llm_id=wanted)
    assert report.case_results[0].trial_results[0].llm_id == chosen


def test_llm_that_is_not_there_ends_the_run_before_it_begins(tmp_path: Path) -> None:
    suite = suite_of(case_of("echo"), llms=(llm("gemma"),))
    with pytest.raises(ConfigError, match="LLM `scripted:gema` does not exist") as caught:
        run(suite, tmp_path, llm_id="scripted:gema")
    assert "scripted:gemma" in caught.value.hint
    assert not list(tmp_path.iterdir())


def test_public_functions_load_run_and_write(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(
        f"name: demo\ncases:\n  - {{id: a, directive: go, profile: '{AGENTS}:echo'}}\n"
        f"  - {{id: b, directive: go, trials: 2, profile: '{AGENTS}:every_other'}}\n"
    )

    async def all_of_it() -> EvalSuiteResult:
        suite = await load_suite(path)
        report = await run_suite(suite, SuiteOptions(data_dir=tmp_path))
        await write_suite_report(report, tmp_path / "new" / "folder" / "report.json")
        return report

    report = asyncio.run(all_of_it())
    assert (report.passed, report.total, report.pass_rate) == (1, 2, 0.5)
    written = json.loads((tmp_path / "new" / "folder" / "report.json").read_text())
    assert (written["passed"], written["total"], written["name"]) == (1, 2, "demo")
    first, second = written["case_results"]
    assert "trial_results" not in first
    assert len(second["trial_results"]) == 2
    low, high = written["intervals"]["pass_rate"]
    assert 0 < low < 0.5 < high < 1


def test_cancelling_the_task_stops_the_run(tmp_path: Path) -> None:
    stepped = threading.Event()

    def listen(event: SuiteEvent) -> None:
        if isinstance(event, StepDone):
            stepped.set()

    async def cancel_in_the_middle() -> None:
        options = SuiteOptions(data_dir=tmp_path)
        task = asyncio.ensure_future(run_suite(suite_of(case_of("endless")), options, listen))
        await asyncio.to_thread(stepped.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel_in_the_middle())
    assert not find_suite_run(tmp_path, "last").is_going_on


def test_a_killed_run_goes_on_with_the_trials_it_lacks(tmp_path: Path) -> None:
    suite = suite_of(case_of("echo", "a", trials=3), case_of("broken", "b"))
    whole = run(suite, tmp_path)
    stored = find_suite_run(tmp_path, "last")
    lines = stored.stored.path.read_bytes().splitlines(keepends=True)
    stored.stored.path.write_bytes(b"".join(lines[:3]) + b'{"trial_result": {"ca')
    mended = suite_of(case_of("echo", "a", trials=3), case_of("echo", "b"))
    cut = find_suite_run(tmp_path, "last")
    kept = {(trial.case_id, trial.trial_index): trial for trial in cut.trials()}
    assert cut.report().cancelled
    report = run(resume_suite(cut, mended), tmp_path, resume=cut)
    assert report.run_id == whole.run_id
    assert report.case_results[0].trials_run == 3
    assert not report.cancelled
    read = find_suite_run(tmp_path, "last")
    assert read.report() == report
    again = {(trial.case_id, trial.trial_index): trial for trial in read.trials()}
    assert len(again) == 4
    assert {key: again[key] for key in kept if kept[key].failure is None} == {
        key: trial for key, trial in kept.items() if trial.failure is None
    }
    assert all(read.steps(trial) for trial in read.trials() if trial.failure is None)


def test_only_a_run_of_the_same_suite_is_resumed_and_none_that_is_running(tmp_path: Path) -> None:
    suite = suite_of(case_of("echo"))
    run(suite, tmp_path)
    stored = find_suite_run(tmp_path, "last")
    with pytest.raises(ConfigError, match="is a run of another suite"):
        resume_suite(stored, suite.model_copy(update={"name": "other"}))
    history = RunHistory(tmp_path, SUITE_RUNS)
    with (
        write_suite_run(tmp_path, stored.run_id, None),
        pytest.raises(RunRefusedError, match="is already running"),
        run_alone(history, {"suite": suite.name}),
    ):
        pytest.fail("it runs twice")


def test_a_trial_that_money_ends_stays_pending(tmp_path: Path) -> None:
    prices = Prices(input=0.0, output=1e6)
    costly = llm("costly", prices=prices, parameters={"responses": "yes", "max_tokens": 10})
    suite = suite_of(case_of("echo", "free"), case_of("asking", trials=2), llms=(costly,))
    report = run(suite, tmp_path, max_cost_usd=0.5)
    free, asking = report.case_results
    assert (free.status, asking.status) == (CaseStatus.PASSED, CaseStatus.NOT_RUN)
    stored = find_suite_run(tmp_path, "last")
    assert stored.report().cancelled
    assert run(resume_suite(stored, suite), tmp_path, resume=stored).passed == 2


def test_a_run_whose_end_cannot_be_stored_is_not_left_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = JournalWriter.append_record

    def full(journal: JournalWriter, record: dict[str, Any]) -> None:
        if "finished" in record:
            raise StoreError("the disk is full")
        append(journal, record)

    monkeypatch.setattr(JournalWriter, "append_record", full)
    with pytest.raises(StoreError) as raised:  # whose frames keep the journal alive
        run(suite_of(case_of("echo")), tmp_path)
    stored = find_suite_run(tmp_path, "last")
    assert not stored.is_going_on
    assert "disk is full" in str(raised.value)
    assert [trial.passed for trial in stored.trials()] == [True]
