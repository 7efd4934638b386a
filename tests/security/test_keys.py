"""A key reaches its own server, and nothing that is stored or printed."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import pytest

from poor_bench.config_manager import ConfigManager
from poor_bench.errors import PoorBenchError
from poor_bench.evaluation.models import EvalSuite, EvalSuiteResult
from poor_bench.evaluation.runner import SuiteOptions, run_suite_now
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from poor_bench.providers.api_keys import hide_key, hide_key_in_answer
from poor_bench.runner.selection import Selection
from poor_bench.test_runner import LLMProvider as OwnProvider
from poor_bench.test_runner import TestRunner
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner
from tests.conftest import WorkspaceFiles
from tests.evaluation.builders import make_case
from tests.providers.asking import ask, failure_of, make_provider
from tests.providers.fake_clock import FakeClock
from tests.providers.servers import openai_format as wire
from tests.providers.servers.fake_server import Answer, Request, json_answer, serving

KEY = "Zq7+wX/3pL=8vN5tR2&yH9"
VARIABLE = "TEST_KEY"
PIECE = KEY[:8]
PASSWORD = "kD8;m4/Wq+0uT&z6Rb=1eY"
IN_ADDRESS = "h5Jp2vXc9Tn4"


def in_unicode_escapes(text: str) -> str:
    return "".join(f"\\u{ord(character):04x}" for character in text)


FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "lower case": str.lower,
    "upper case": str.upper,
    "URL": lambda key: quote(key, safe=""),
    "URL with small digits": lambda key: quote(key, safe="").lower(),
    "HTML": lambda key: html.escape(key).replace("&amp;", "&#38;"),
    "JSON": lambda key: json.dumps(key)[1:-1].replace("/", "\\/"),
    "JSON in numbers": in_unicode_escapes,
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 for URLs": lambda key: base64.urlsafe_b64encode(key.encode()).decode(),
    "base64 of a header": lambda key: base64.b64encode(f"Bearer {key}".encode()).decode(),
    "base64 of a user": lambda key: base64.b64encode(f"me:{key}:x".encode()).decode(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_key_is_hidden_in_any_form(form: Callable[[str], str]) -> None:
    spelled = form(KEY)
    hidden = hide_key(f"before {spelled} after", KEY)
    assert "[key]" in hidden
    assert spelled not in hidden
    assert spelled[5:-5] not in hidden
    assert hidden.startswith("before ")
    assert hidden.endswith(" after")


@pytest.mark.parametrize("placeholder", ["EMPTY", "ollama", "lm-studio", "sk-no-key-required", ""])
def test_placeholders_for_keys_stay_in_answers(placeholder: str) -> None:
    assert hide_key_in_answer(f"the word {placeholder}", placeholder) == f"the word {placeholder}"


REFUSALS: dict[str, Answer] = {
    "a redirect": Answer(status=302, headers={"Location": f"https://user:{KEY}@e.com/v1?k={KEY}"}),
    "an encoded redirect": Answer(
        status=307, headers={"Location": f"https://e.com/{quote(KEY, safe='')}/x"}
    ),
    "an error": wire.refusal(401, f"the key {KEY} is wrong"),
    "a long error": wire.refusal(400, "x" * (300 - 3 - 12) + KEY),
    "an error of text": Answer(
        status=500, body=b"y" * 285 + KEY.encode(), content_type="text/plain"
    ),
    "an error in an escaped text": Answer(
        status=500, body=('{"error": "' + in_unicode_escapes(KEY) + '"}').encode()
    ),
    "a web page": Answer(status=502, body=f"<html><title>{KEY}</title></html>".encode()),
    "no JSON": Answer(body=b"z" * 190 + KEY.encode()),
    "a list of objections": json_answer({"detail": [{"loc": ["header"], "msg": KEY}]}, 422),
    "an error in the stream": wire.stream(wire.event({"error": {"message": "w" * 285 + KEY}})),
}


@pytest.mark.parametrize("answer", REFUSALS.values(), ids=REFUSALS)
def test_no_failure_holds_a_key_or_a_piece_of_it(answer: Answer) -> None:
    with serving(lambda _request: answer) as server:
        provider = make_provider(
            "openai", server.url, api_key_env=VARIABLE, environ={VARIABLE: KEY}
        )
        error = failure_of(provider)
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    told = f"{error} {error.hint} {error!r}"
    assert PIECE not in told
    assert KEY[-8:] not in told
    assert quote(KEY, safe="")[:12] not in told


def test_an_echoed_key_is_hidden_in_answer_and_thinking_and_told() -> None:
    with serving(lambda _request: wire.reply(f"it is {KEY}!", thinking=f"my {KEY}")) as server:
        provider = make_provider(
            "openai", server.url, api_key_env=VARIABLE, environ={VARIABLE: KEY}
        )
        completion = ask(provider)
    assert (completion.text, completion.thinking) == ("it is [key]!", "my [key]")
    assert completion.key_hidden
    assert "the key was hidden" in completion.notes


def echoing(request: Request) -> Answer:
    key = request.headers["authorization"].removeprefix("Bearer ")
    if "2 + 2" in request.body["messages"][-1]["content"]:
        return wire.refusal(400, f"never with {key}")
    return wire.reply(f"4, and {key}", thinking=FORMS["base64"](key))


def run_echoing(files: WorkspaceFiles) -> tuple[Path, list[Any]]:
    files.add_tests(2)
    files.tests[0]["text"] = f"1 + 1, with {KEY}"
    with serving(echoing) as server:
        files.llms.append(
            {"provider": "openai", "name": "m", "endpoint": server.url, "api_key_env": VARIABLE}
        )
        folder = files.write()
        manager = LLMManager(folder, clock=FakeClock(), environ={VARIABLE: KEY})
        events: list[Any] = []
        runner = WorkspaceRunner(WorkspaceFolder(folder), manager)
        runner.run(runner.plan(Selection()), events.append)
    return folder, events


def test_no_file_of_a_run_holds_the_key(workspace_files: WorkspaceFiles) -> None:
    folder, events = run_echoing(workspace_files)
    stored = [path for path in folder.rglob("*") if path.is_file() and path.name != "tests.json"]
    texts = {path.name: path.read_bytes().decode("latin-1") for path in stored}
    assert len(texts) > 3
    for text in [*texts.values(), repr(events)]:
        assert PIECE not in text
        assert FORMS["base64"](KEY)[:20] not in text


def test_a_result_says_that_a_key_was_hidden(workspace_files: WorkspaceFiles) -> None:
    folder, _events = run_echoing(workspace_files)
    results = {result.test_id: result for result in WorkspaceFolder(folder).load_results()}
    answered, refused = results["sum_001"], results["sum_002"]
    assert answered.response == "4, and [key]"
    assert answered.prompt == "Solve: 1 + 1, with [key]"
    assert "key_hidden" in answered.marks
    assert "[key]" in answered.details
    assert refused.failure is not None
    assert "never with [key]" in refused.failure.message


def asked_agent(answer: Answer, url_ending: str = "") -> EvalSuiteResult:
    """Run a suite whose HTTP agent replies the same to everybody."""
    with serving(lambda _request: answer) as server:
        case = make_case(
            profile=server.url + url_ending,
            credentials={"SHOP_PASSWORD": "https://shop.example"},
        )
        llm = LLM(id="openai:m", provider="openai", name="m", api_key_env=VARIABLE)
        suite = EvalSuite(name="echoes", cases=[case], llms=(llm,))
        environ = {VARIABLE: KEY, "SHOP_PASSWORD": PASSWORD}
        with TemporaryDirectory() as folder:
            options = SuiteOptions(data_dir=Path(folder), environ=environ)
            report = run_suite_now(suite, options)
            stored = [path.read_text("latin-1") for path in Path(folder).rglob("*.json*")]
    assert stored
    for text in stored:
        assert_hidden(text)
    return report


def assert_hidden(text: str) -> None:
    for secret in (KEY, PASSWORD):
        for form in FORMS.values():
            assert form(secret)[:12] not in text
            assert form(secret)[-12:-2] not in text


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("secret", [KEY, PASSWORD], ids=["key", "password"])
def test_an_http_agent_echoes_no_key_and_no_credential(
    secret: str, form: Callable[[str], str]
) -> None:
    echo = form(secret)
    step = {"text": echo, "thought": echo, "result": echo, "error": echo, "action": {echo: echo}}
    told = {"summary": echo, "error": echo, "extracted_text": echo, "data": {"of": [echo]}}
    report = asked_agent(json_answer({"success": True, "steps": [step], **told}))
    trial = report.case_results[0].trial_results[0]
    assert "[key]" in trial.summary or "[SHOP_PASSWORD]" in trial.summary


AGENT_FAULTS: dict[str, Answer] = {
    "a crash": Answer(status=500, body=b"x" * 190 + KEY.encode()),
    "a refusal": Answer(status=403, body=b"y" * 190 + PASSWORD.encode()),
    "a redirect": Answer(status=302, headers={"Location": f"https://e.com/?k={KEY}"}),
    "no JSON": Answer(body=b"z" * 19_990 + KEY.encode()),
    "another form": json_answer({"success": KEY, "summary": PASSWORD}),
}


@pytest.mark.parametrize("answer", AGENT_FAULTS.values(), ids=AGENT_FAULTS)
def test_no_failure_of_an_http_agent_holds_a_key_or_a_piece_of_it(answer: Answer) -> None:
    trial = asked_agent(answer).case_results[0].trial_results[0]
    assert_hidden(trial.model_dump_json())
    assert trial.failure is not None or trial.error


def test_a_key_in_the_address_of_an_http_agent_is_not_told() -> None:
    answer = Answer(status=403, body=f"wrong key {IN_ADDRESS}".encode())
    trial = asked_agent(answer, f"/agent?key={IN_ADDRESS}").case_results[0].trial_results[0]
    assert trial.failure is not None
    assert IN_ADDRESS not in trial.failure.message
    assert "/agent?key=[key]" in trial.failure.message


class Echoing(OwnProvider):
    """A provider of a Python user that tells its key."""

    def __init__(self, told: str, error: type[Exception] | None = None) -> None:
        self._told = told
        self._error = error

    def generate_response(self, prompt: str, system_prompt: str, parameters: dict[str, Any]) -> str:
        if self._error is not None:
            raise self._error(f"refused: {self._told}")
        return f"4, and {self._told}"


def row_of_own(files: WorkspaceFiles, provider: Echoing, monkeypatch: pytest.MonkeyPatch) -> Any:
    files.add_tests(1)
    files.llms.append({"provider": "mine", "name": "m", "api_key_env": VARIABLE})
    folder = files.write()
    monkeypatch.setenv(VARIABLE, KEY)
    runner = TestRunner(ConfigManager(folder))
    runner.llm_providers["mine"] = provider
    row = runner.run_test("sum_001", "mine:m")
    runner.close()
    for path in folder.rglob("*.json*"):
        assert_hidden(path.read_text("latin-1"))
    return row


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_provider_of_a_python_user_echoes_no_key(
    form: Callable[[str], str], workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = row_of_own(workspace_files, Echoing(form(KEY)), monkeypatch)
    assert "[key]" in row["response"]
    assert_hidden(json.dumps(row))


@pytest.mark.parametrize("error", [RuntimeError, PoorBenchError])
def test_no_failure_of_a_provider_of_a_python_user_holds_the_key(
    error: type[Exception], workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = row_of_own(workspace_files, Echoing(FORMS["base64"](KEY), error), monkeypatch)
    assert "[key]" in row["details"]
    assert_hidden(json.dumps(row))
