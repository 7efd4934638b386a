"""`run --batch`, `batches`, and what `run` and `status` collect, against a local server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli import batch_runs
from poor_bench.cli.main import main
from poor_bench.models.failure import FailureKind
from poor_bench.models.result import Result
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles
from tests.providers.servers.batch_format import BatchServer
from tests.providers.servers.fake_server import Answer, Request, serving

PROVIDERS = ("openai", "anthropic")
ROOT = Path(__file__).parents[2]
KEY = "sk-test-0123456789abcdef"


@pytest.fixture
def batch_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)
    responder = BatchServer()
    with serving(responder) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        yield responder


@pytest.fixture(params=PROVIDERS)
def folder(request: pytest.FixtureRequest, workspace_files: WorkspaceFiles) -> Path:
    return build(workspace_files, request.param)


def build(files: WorkspaceFiles, provider: str, n_tests: int = 4, **fields: Any) -> Path:
    files.add_tests(n_tests)
    prices = {"input": 1000, "output": 1000, "cached_input": 0}
    entry = {"provider": provider, "name": "m", "prices": prices, "parameters": {"max_tokens": 100}}
    files.llms.append(entry | fields)
    return files.write()


def call(folder: Path, *arguments: str) -> int:
    return main(["--data", str(folder), *arguments])


def call_json(
    folder: Path, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = call(folder, *arguments, "--json")
    return code, json.loads(capsys.readouterr().out)


def stored(folder: Path) -> list[Result]:
    return list(WorkspaceFolder(folder).store.results())


def submit(folder: Path) -> None:
    assert call(folder, "run", "--batch", "--unchecked") == 0


def test_what_is_pending_is_submitted_and_collected_later(
    folder: Path, batch_server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    submit(folder)
    assert "in a batch" in capsys.readouterr().out
    assert [len(batch.requests) for batch in batch_server.batches] == [4]
    assert call(folder, "run", "--batch") == 0
    assert call(folder, "run") == 0
    assert len(batch_server.batches) == 1
    assert stored(folder) == []
    batch_server.finish()
    assert call(folder, "run") == 0
    results = stored(folder)
    assert [result.score for result in results] == [1.0] * 4
    assert {(result.via, result.execution_time_ms) for result in results} == {("batch", None)}
    assert call(folder, "batches") == 0
    assert "No batch is open" in capsys.readouterr().out


def test_answers_cost_half_and_cached_tokens_their_own_price(
    workspace_files: WorkspaceFiles, batch_server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = build(workspace_files, "openai", 1)
    submit(folder)
    batch_server.finish()
    assert call(folder, "run") == 0
    [result] = stored(folder)
    assert (result.prompt_tokens, result.cached_tokens, result.completion_tokens) == (19, 4, 10)
    assert result.cost_usd == pytest.approx((15 + 10) * 1000 / 1e6 / 2)
    capsys.readouterr()
    assert call(folder, "results", "sum_001") == 0
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["cached_tokens", "4"] in shown
    assert ["via", "batch"] in shown


def test_status_collects_and_shows_what_is_in_a_batch(
    folder: Path, batch_server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    submit(folder)
    code, shown = call_json(folder, capsys, "status")
    assert (code, shown["llms"][0]["in_batch"], shown["llms"][0]["pending"]) == (0, 4, 4)
    assert call(folder, "status") == 0
    assert "In batch" in capsys.readouterr().out
    batch_server.finish()
    code, shown = call_json(folder, capsys, "status")
    assert (shown["llms"][0]["done"], shown["llms"][0]["in_batch"]) == (4, 0)


def test_both_prices_are_told_before(
    folder: Path, batch_server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    code, plan = call_json(folder, capsys, "run", "--dry-run")
    assert code == 0
    assert plan["estimated_batch_cost_usd"] == pytest.approx(plan["estimated_cost_usd"] / 2)
    assert call(folder, "run", "--dry-run") == 0
    assert "Estimated cost with --batch: " in capsys.readouterr().out
    assert batch_server.batches == []
    code, done = call_json(folder, capsys, "run", "--batch")
    assert done["estimated_cost_usd"] == pytest.approx(plan["estimated_batch_cost_usd"])
    assert done["estimated_live_cost_usd"] == pytest.approx(plan["estimated_cost_usd"])


def test_the_budget_is_checked_before_anything_is_submitted(
    folder: Path, batch_server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    _, plan = call_json(folder, capsys, "run", "--dry-run")
    half = plan["estimated_batch_cost_usd"] / 2 * 1.01
    assert call(folder, "run", "--batch", "--max-cost", str(half)) == 3
    assert "2 trials pending: stopped by --max-cost" in capsys.readouterr().out
    assert [len(batch.requests) for batch in batch_server.batches] == [2]
    assert call(folder, "run", "--batch", "--max-cost", "0") == 3
    assert len(batch_server.batches) == 1


NO_PAUSE = pytest.mark.usefixtures("without_pause")


@pytest.fixture
def without_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `--wait` look again at once."""
    monkeypatch.setattr(batch_runs, "POLL_S", 0.0)


@NO_PAUSE
def test_waiting_shows_progress_and_ends_with_the_answers(
    folder: Path,
    batch_server: BatchServer,
    capsys: pytest.CaptureFixture[str],
) -> None:
    looked: list[Request] = []

    def end_at_the_third_look(request: Request) -> None:
        if batch_server.batches and request.path.endswith(batch_server.batches[0].id):
            looked.append(request)
            if len(looked) == 2:
                batch_server.finish()

    batch_server.after = end_at_the_third_look
    assert call(folder, "run", "--batch", "--wait") == 0
    shown = capsys.readouterr()
    assert "1 batch running: 0 of 4 requests answered" in shown.err
    assert "Collected 1 batch: 4 trials scored, 0 failed." in shown.out
    assert len(looked) == 3


@NO_PAUSE
def test_waiting_outlasts_a_provider_that_is_away_for_a_while(
    folder: Path,
    batch_server: BatchServer,
    capsys: pytest.CaptureFixture[str],
) -> None:
    looked: list[Request] = []

    def be_away_at_the_second_look(request: Request) -> Answer | None:
        if not (batch_server.batches and request.path.endswith(batch_server.batches[0].id)):
            return None
        looked.append(request)
        if len(looked) == 2:
            return Answer(status=503, headers={"Retry-After": "86400"}, body=b"{}")
        if len(looked) == 3:
            batch_server.finish()
        return None

    batch_server.before = be_away_at_the_second_look
    assert call(folder, "run", "--batch", "--wait") == 0
    shown = capsys.readouterr()
    assert "HTTP 503" in shown.err
    assert "1 batch open, progress unknown" in shown.err
    assert "Collected 1 batch: 4 trials scored, 0 failed." in shown.out


@NO_PAUSE
def test_waiting_finds_a_submission_that_broke_off(
    workspace_files: WorkspaceFiles,
    batch_server: BatchServer,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = build(workspace_files, "anthropic")
    submit(folder)
    [note] = [path for path in (folder / "batches").glob("*.jsonl") if "." not in path.stem]
    note.write_bytes(note.read_bytes().splitlines(keepends=True)[0])
    listed: list[Request] = []

    def end_at_the_third_look(request: Request) -> None:
        listed.append(request)
        if len(listed) == 3:
            batch_server.finish()

    batch_server.after = end_at_the_third_look
    assert call(folder, "run", "--batch", "--wait") == 0
    shown = capsys.readouterr()
    assert shown.err.count("the submission broke off") == 1
    assert "Collected 1 batch: 4 trials scored, 0 failed." in shown.out
    assert len(batch_server.batches) == 1


@pytest.mark.parametrize(
    ("provider", "outcome", "kind"),
    [
        ("openai", "expired", FailureKind.TIMEOUT),
        ("openai", "the maximum context length is 9 tokens", FailureKind.CONTEXT_OVERFLOW),
        ("anthropic", "expired", FailureKind.TIMEOUT),
        ("anthropic", "canceled", FailureKind.CANCELLED),
        ("anthropic", "prompt is too long: 9 tokens", FailureKind.CONTEXT_OVERFLOW),
    ],
)
def test_what_a_batch_did_not_answer_is_pending_with_the_reason(
    workspace_files: WorkspaceFiles,
    batch_server: BatchServer,
    capsys: pytest.CaptureFixture[str],
    provider: str,
    outcome: str,
    kind: FailureKind,
) -> None:
    folder = build(workspace_files, provider)
    submit(folder)
    batch = batch_server.batches[0]
    batch.outcomes[batch.requests[1]["custom_id"]] = outcome
    batch_server.finish("expired" if outcome == "expired" else "completed")
    assert call(folder, "run") == 3
    assert "1 trial pending again" in capsys.readouterr().out
    by_test = {result.test_id: result for result in stored(folder)}
    failure = by_test["sum_002"].failure
    assert failure is not None
    assert failure.kind is kind
    assert sum(result.score == 1.0 for result in by_test.values()) == 3
    submit(folder)
    assert [len(each.requests) for each in batch_server.batches] == [4, 1]


@pytest.mark.parametrize(
    ("provider", "refusal", "sent"),
    [
        ("openai", "Unsupported parameter: 'top_p' is not supported with this model.", "body"),
        ("anthropic", "`top_p` is deprecated for this model.", "params"),
    ],
)
def test_what_a_model_refuses_in_a_batch_is_left_out_of_the_next_one(
    workspace_files: WorkspaceFiles,
    batch_server: BatchServer,
    capsys: pytest.CaptureFixture[str],
    provider: str,
    refusal: str,
    sent: str,
) -> None:
    folder = build(workspace_files, provider, parameters={"top_p": 0.5, "max_tokens": 9})
    submit(folder)
    for each in batch_server.batches[0].requests:
        assert each[sent]["top_p"] == 0.5
        batch_server.batches[0].outcomes[each["custom_id"]] = refusal
    batch_server.finish()
    assert call(folder, "status") == 0
    failures = [result.failure for result in stored(folder)]
    assert {failure.kind for failure in failures if failure} == {FailureKind.BAD_REQUEST}
    assert all(failure and "sent without top_p" in failure.message for failure in failures)
    capsys.readouterr()
    submit(folder)
    assert "sent without top_p, refused in an earlier batch" in capsys.readouterr().out
    assert all("top_p" not in each[sent] for each in batch_server.batches[1].requests)
    batch_server.finish()
    assert call(folder, "run") == 0
    assert [result.score for result in stored(folder)] == [1.0] * 4
    (folder / "batches" / "refused.json").write_text("rubbish")
    assert call(folder, "run", "--batch", "--force", "--unchecked") == 0
    assert all(each[sent]["top_p"] == 0.5 for each in batch_server.batches[2].requests)


def test_a_batch_that_the_provider_refuses_as_a_whole_leaves_all_pending(
    workspace_files: WorkspaceFiles, batch_server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = build(workspace_files, "openai")
    submit(folder)
    batch_server.batches[0].status = "failed"
    message = "Enqueued token limit reached for m in organization o."
    batch_server.batches[0].errors = [{"code": "token_limit_exceeded", "message": message}]
    assert call(folder, "run") == 3
    kinds = {result.failure.kind for result in stored(folder) if result.failure}
    assert kinds == {FailureKind.RATE_LIMITED}
    assert call(folder, "batches", "list", "--all") == 0
    assert "refused by the provider" in capsys.readouterr().out


def test_a_cancelled_batch_gives_its_answers_and_frees_its_other_tests(
    folder: Path, batch_server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    submit(folder)
    batch = batch_server.batches[0]
    code, done = call_json(folder, capsys, "batches", "cancel", batch.id)
    assert (code, batch.status) == (0, "cancelling")
    assert "cancelled" in done["batches"][0]["outcome"]
    _, shown = call_json(folder, capsys, "batches", "list")
    assert shown["batches"][0]["state"] == "cancelling"
    assert call(folder, "run") == 0
    assert stored(folder) == []
    for request in batch.requests[2:]:
        batch.outcomes[request["custom_id"]] = "canceled"
    batch.status = "in_progress"
    batch_server.finish("cancelled")
    for name, content in batch.files.items():  # OpenAI writes no rows for what it never began
        kept = [line for line in content.splitlines(True) if b"canceled" not in line]
        batch.files[name] = content if batch.id.startswith("msg") else b"".join(kept)
    assert call(folder, "run") == 3
    results = stored(folder)
    kinds = {result.failure.kind for result in results if result.failure}
    assert kinds == {FailureKind.CANCELLED}
    assert sum(result.score == 1.0 for result in results) == 2
    _, shown = call_json(folder, capsys, "batches", "list", "--all")
    assert shown["batches"][0]["outcome"].startswith("cancelled, collected")


def test_a_batch_of_another_account_is_named_and_can_be_given_up(
    folder: Path, batch_server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    submit(folder)
    batch_server.unknown.add(batch_server.batches[0].id)
    assert call(folder, "run") == 3
    shown = capsys.readouterr()
    assert "is not known to this account" in shown.err
    assert "1 batch open, progress unknown" in shown.out
    assert call(folder, "status") == 3
    assert call(folder, "batches", "cancel", "--all") == 3
    assert stored(folder) == []
    _, plan = call_json(folder, capsys, "run", "--dry-run")
    assert (plan["pending"], plan["n_in_batch"]) == ({}, 4)
    assert call(folder, "batches", "cancel", "--all", "--forget") == 0
    _, plan = call_json(folder, capsys, "run", "--dry-run")
    assert sum(plan["pending"].values()) == 4


def test_a_result_file_that_is_cut_off_is_fetched_again(
    folder: Path, batch_server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    submit(folder)
    batch_server.finish()
    [(name, whole)] = batch_server.batches[0].files.items()
    batch_server.batches[0].files[name] = whole[:-200]
    assert call(folder, "run") == 3
    assert "cut off at line 4" in capsys.readouterr().err
    assert stored(folder) == []
    batch_server.batches[0].files[name] = whole
    assert call(folder, "run") == 0
    assert len(stored(folder)) == 4


def test_of_a_file_that_stays_cut_off_the_rest_is_taken(
    folder: Path, batch_server: BatchServer
) -> None:
    submit(folder)
    batch_server.finish()
    [(name, whole)] = batch_server.batches[0].files.items()
    batch_server.batches[0].files[name] = whole[:-200]
    assert call(folder, "run") == 3
    assert call(folder, "run") == 3
    results = stored(folder)
    assert sum(result.score == 1.0 for result in results) == 3
    assert sum(result.failure is not None for result in results) == 1


def test_duplicated_and_unknown_custom_ids_are_told_and_nothing_is_lost(
    folder: Path, batch_server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    submit(folder)
    batch_server.finish()
    [(name, whole)] = batch_server.batches[0].files.items()
    first = whole.splitlines(keepends=True)[0]
    key = json.loads(first)["custom_id"]
    strange = first.replace(key.encode(), b"somebody-else-1")
    batch_server.batches[0].files[name] = whole + first.replace(b'"4"', b'"5"') + strange
    assert call(folder, "run") == 3
    shown = capsys.readouterr().err
    assert "1 duplicated custom ids" in shown
    assert "1 answers to requests that were not sent" in shown
    assert [result.score for result in stored(folder)] == [1.0] * 4
    assert b"somebody-else-1" in next((folder / "batches").glob("*.results.jsonl")).read_bytes()


@pytest.mark.parametrize("rubbish", [b"\x00\xff rubbish\n", b'{"run": {"kind": "run"}}\n', b"[]\n"])
def test_a_note_that_is_rubbish_stops_everything_with_one_message(
    folder: Path, batch_server: BatchServer, capsys: pytest.CaptureFixture[str], rubbish: bytes
) -> None:
    (folder / "batches").mkdir()
    (folder / "batches" / "abc.jsonl").write_bytes(rubbish)
    for arguments in (["run"], ["run", "--batch"], ["status"], ["batches"]):
        assert call(folder, *arguments) == 4
        shown = capsys.readouterr().err
        assert "abc.jsonl" in shown
        assert shown.count("Error:") == 1
    assert batch_server.batches == []


def test_models_whose_provider_has_no_batches_stay_pending_and_are_named(
    workspace_files: WorkspaceFiles, batch_server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.add_llm("live", "4")
    folder = build(workspace_files, "openai")
    assert call(folder, "run", "--batch") == 3
    assert "scripted:live: 4 trials pending; its provider takes no batches" in (
        capsys.readouterr().out
    )
    assert call(folder, "run") == 0
    assert {result.llm_id for result in stored(folder)} == {"scripted:live"}


def test_a_wrong_key_is_told_and_leaves_no_batch_open(
    folder: Path, batch_server: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.delenv("ANTHROPIC_BASE_URL")
    assert call(folder, "run", "--batch") == 3
    assert not list((folder / "batches").glob("*.jsonl"))


def test_keys_are_not_written_down(
    workspace_files: WorkspaceFiles, batch_server: BatchServer
) -> None:
    workspace_files.tests = []
    folder = build(workspace_files, "openai", 1)
    tests = json.loads((folder / "tests.json").read_text())
    tests["tests"][0]["text"] = f"Repeat {KEY}"
    (folder / "tests.json").write_text(json.dumps(tests))
    submit(folder)
    batch_server.finish(text=lambda prompt: KEY)
    batch_server.batches[0].outcomes = {}
    assert call(folder, "run") == 0
    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert kept.count(KEY.encode()) == 1  # in tests.json, where the test itself has it


def test_a_removed_test_does_not_stop_the_others(
    folder: Path, batch_server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    submit(folder)
    tests = json.loads((folder / "tests.json").read_text())
    del tests["tests"][0]
    (folder / "tests.json").write_text(json.dumps(tests))
    batch_server.finish()
    assert call(folder, "run") == 0
    assert "1 answer to removed tests kept" in capsys.readouterr().out
    assert len(stored(folder)) == 3


def test_a_judge_is_asked_once_the_answers_are_there(
    workspace_files: WorkspaceFiles, batch_server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.classes[0]["evaluation_module"] = {
        "name": "llm_judge_evaluator",
        "parameters": {"judge": "scripted:judge"},
    }
    scores = dict.fromkeys(("correctness", "completeness", "clarity"), 8)
    case = {"case": 1, "feedback": "so it is", "score": 8, "passed": True}
    verdict = json.dumps({"scores": scores, "test_case_evaluations": [case]})
    workspace_files.add_llm("judge", verdict, enabled=False)
    folder = build(workspace_files, "anthropic", 2)
    submit(folder)
    batch_server.finish()
    assert call(folder, "status") == 0
    assert {result.score for result in stored(folder)} == {None}
    assert call(folder, "run", "--unchecked") == 0
    results = stored(folder)
    assert [result.score for result in results] == [pytest.approx(0.8)] * 2
    assert {result.via for result in results} == {"batch"}
    assert len(batch_server.batches) == 1


def test_batches_keep_to_the_limits_of_the_api(
    folder: Path, batch_server: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from poor_bench.providers.batches import AnthropicBatches, OpenAIBatches

    for api in (AnthropicBatches, OpenAIBatches):
        monkeypatch.setattr(api, "most_items", 3)
    submit(folder)
    assert [len(batch.requests) for batch in batch_server.batches] == [3, 1]
    batch_server.finish()
    assert call(folder, "run") == 0
    assert len(stored(folder)) == 4


def test_what_was_submitted_before_a_prompt_changed_is_stale(
    folder: Path, batch_server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    submit(folder)
    classes = json.loads((folder / "test_classes.yaml").read_text())
    classes["test_classes"][0]["work_prompt_template"]["default"] = "Now solve: {problem}"
    (folder / "test_classes.yaml").write_text(json.dumps(classes))
    batch_server.finish()
    _, shown = call_json(folder, capsys, "status")
    assert shown["llms"][0]["stale_request"] == 4
    assert {result.prompt for result in stored(folder)} == {
        f"Solve: {n} + {n}" for n in range(1, 5)
    }


def test_a_model_that_is_gone_leaves_its_batch_open(
    folder: Path, batch_server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    submit(folder)
    batch_server.finish()
    entries = (folder / "llms.json").read_text()
    (folder / "llms.json").write_text(entries.replace('"name": "m"', '"name": "other"'))
    assert call(folder, "status") == 3
    assert "is not in llms.json any more" in capsys.readouterr().err
    (folder / "llms.json").write_text(entries)
    assert call(folder, "status") == 0
    assert len(stored(folder)) == 4


@pytest.mark.slow(reason="starts another process")
def test_a_submission_of_another_process_is_left_alone(
    folder: Path, batch_server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[tuple[int, str]] = []

    def list_meanwhile(request: Request) -> None:
        if request.method == "POST" and request.path.endswith("batches"):
            command = [sys.executable, "main.py", "--data", str(folder), "batches"]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            shown.append((done.returncode, done.stderr))

    batch_server.after = list_meanwhile
    submit(folder)
    batch_server.after = lambda _request: None
    assert shown[0][0] == 3
    assert "another process may be submitting it" in shown[0][1]
    batch_server.finish()
    assert call(folder, "run") == 0
    assert len(stored(folder)) == 4
