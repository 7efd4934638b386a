from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from poor_bench.errors import ConfigError
from poor_bench.evaluation.browser.miniwob.pages import PLAYBOOKS, make_miniwob_suite
from poor_bench.evaluation.factories import serve_application
from poor_bench.evaluation.models import EvalSuite
from poor_bench.evaluation.suite_file import read_suite
from poor_bench.models.llm import LLM
from tests.evaluation.browser.conftest import Trials, scripted
from tests.providers.embedded_file import real_model

PROJECT = Path(__file__).parents[4]
SERVER = "poor_bench.evaluation.browser.miniwob.pages:create_app"


def suite(folder: Path, *tasks: str, **options: Any) -> EvalSuite:
    path = folder / "miniwob.yaml"
    path.write_text(make_miniwob_suite(tasks, **options), encoding="utf-8")
    return read_suite(path, folder)


def test_a_suite_has_a_case_for_each_task_and_seed(tmp_path: Path) -> None:
    cases = suite(tmp_path, "click-test", "drag-box", n_seeds=2).cases
    assert [case.id for case in cases] == [
        "click-test.1", "click-test.2", "drag-box.1", "drag-box.2",
    ]  # fmt: skip
    assert cases[1].start_url == "{server}/miniwob/click-test.html?seed=2"
    assert [case.playbook for case in cases[1:3]] == ["miniwob_click_test", None]


def test_by_default_it_has_every_task_with_a_playbook(tmp_path: Path) -> None:
    assert len(suite(tmp_path).cases) == len(PLAYBOOKS) >= 20
    assert all(case.playbook is None for case in suite(tmp_path, with_playbooks=False).cases)


def test_a_task_that_does_not_exist_is_told_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="task 'click-buton' does not exist") as raised:
        make_miniwob_suite(["click-buton"])
    assert "click-button" in raised.value.hint


def run_case(trials: Trials, task: str, **fields: Any) -> dict[str, Any]:
    (case,) = suite(trials.folder, task).cases
    with serve_application(SERVER, os.environ) as server:
        outcome = trials.run(
            start_url=(case.start_url or "").replace("{server}", server),
            read_at_end=case.read_at_end,
            **fields,
        )
    facts: dict[str, Any] = outcome.data["miniwob"]
    return facts


@pytest.mark.browser
def test_the_page_itself_says_whether_a_playbook_succeeded(trials: Trials) -> None:
    playbook = PROJECT / "data" / "playbooks" / f"{PLAYBOOKS['login-user']}.yaml"
    facts = run_case(trials, "login-user", playbook=playbook)
    assert (facts["success"], facts["reward"]) == (True, 1)


@pytest.mark.browser
def test_an_agent_that_only_claims_success_has_none(trials: Trials) -> None:
    claim = {"action": "done", "summary": "done", "data": {"miniwob": {"success": True}}}
    facts = run_case(trials, "click-test", llm=scripted(claim))
    assert (facts["success"], facts["reward"]) == (False, 0)


@pytest.mark.browser
def test_an_agent_that_clicks_the_wrong_button_fails_and_one_that_clicks_the_right_one_does_not(
    trials: Trials,
) -> None:
    rewards = []
    for ref in ("e5", "e6"):
        llm = scripted({"action": "click", "ref": ref}, {"action": "done", "summary": ""})
        rewards.append(run_case(trials, "click-test-2", llm=llm)["reward"])
    assert rewards == [1, -1]


@pytest.mark.browser
@pytest.mark.embedded
def test_a_real_model_chooses_an_action_that_can_be_tried(trials: Trials) -> None:
    """Whether it is the right one is for benchmarks to say."""
    real_model()
    llm = LLM(
        id="embedded:smollm2-135m",
        provider="embedded",
        name="smollm2-135m",
        parameters={"temperature": 0, "max_tokens": 400},
    )
    run_case(trials, "click-test", llm=llm, max_steps=1, thinking="off")
    (step,) = trials.steps
    assert step.action["action"]
    assert step.input_tokens > 300
    assert step.output_tokens > 5
