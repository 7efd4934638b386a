"""The judge's contract: snippets of the specification and of docs/judge.md, run as they stand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.providers.servers import anthropic_format as wire
from tests.providers.servers.fake_server import FakeServer, in_turn, serving

PAGE = Path(__file__).parents[2] / "docs" / "judge.md"
SPECIFICATION = """
from poor_bench.judge import Evaluator, evaluate_sync
evaluator = Evaluator()                                   # or Evaluator(model="...")
evaluation = evaluator.evaluate(agent, skill, test_results)   # a dict, at once; `evaluate_async` for event loops
print(f"{evaluation['overall_score']}/10", evaluation["overall_score"] >= 8.0)
result = evaluate_sync(agent, skill, test_results)
"""  # noqa: E501 - as it stands in the specification
INDENTED = '''
skill = {"rubric": """
    ## Rubric

    ### 1. CLARITY (60%)
    What it means ...

    ### 2. DEPTH (40%)
    ...
    """}
'''
AGENT = {"id": "sdr", "name": "Sales agent", "system_prompt": "Ask for the budget."}
RESULTS = [{"test_name": "budget", "input": "Hi", "agent_response": "What is your budget?"}]
DEFAULT_SCORES = dict.fromkeys(
    ["completeness", "tone", "engagement", "compliance", "conversion"], 8
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeServer]:
    """Stand in for the default judge's API; the working folder holds no workspace."""
    for variable in ("MODEL", "TEMPERATURE", "MAX_TOKENS"):
        monkeypatch.delenv(f"ANTHROPIC_{variable}", raising=False)
    monkeypatch.chdir(tmp_path)
    with serving(in_turn(reply(DEFAULT_SCORES))) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        yield server


def reply(scores: dict[str, int]) -> Any:
    case = {"case": 1, "score": 9, "passed": True, "feedback": "fine"}
    return wire.reply(json.dumps({"scores": scores, "test_case_evaluations": [case]}))


def run(snippet: str, **names: Any) -> dict[str, Any]:
    exec(compile(snippet, "snippet", "exec"), names)
    return names


def test_the_snippet_of_the_specification_prints_a_score(
    server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    skill = {"name": "x", "rubric": None}
    names = run(SPECIFICATION, agent=AGENT, skill=skill, test_results=RESULTS)
    assert capsys.readouterr().out == "8.0/10 True\n"
    assert type(names["evaluation"]) is type(names["result"]) is dict
    assert names["result"]["scores"] == DEFAULT_SCORES
    assert len(server.requests) == 2


def test_an_indented_rubric_is_the_one_that_is_judged_by(server: FakeServer) -> None:
    server.respond = in_turn(reply({"clarity": 10, "depth": 5}))
    skill = run(INDENTED)["skill"]
    names = run(SPECIFICATION, agent=AGENT, skill=skill, test_results=RESULTS)
    assert names["evaluation"]["scores"] == {"clarity": 10, "depth": 5}
    assert names["evaluation"]["overall_score"] == 8.0
    assert "- clarity (60 %): What it means" in server.requests[0].body["messages"][0]["content"]


def test_every_python_block_of_the_documentation_runs(
    server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.respond = in_turn(reply({"clarity": 10, "depth": 5}))
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        names = run(block, **names)
    assert len(blocks) >= 2
    assert len(server.requests) == 3
    assert "8.0/10 True\n" in capsys.readouterr().out
