"""Evaluators as the specification has them: plain modules that return a tuple."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contracts.specification import CODE_BLOCKS, run
from tests.evaluators.test_all_evaluators import PARAMETERS, REGISTRY

PROJECT = Path(__file__).parents[2]
PLAIN = '''\
import json
import re


def evaluate(response: str, parameters: dict) -> tuple[float, str]:
    """Full marks for the last number of the response."""
    assert isinstance(parameters, dict)
    wanted = parameters.pop("expected", None)
    numbers = re.findall(r"-?\\d+", response)
    if not numbers:
        return 0.0, "no number in " + json.dumps(response)
    return (1.0 if numbers[-1] == str(wanted) else 0.0), f"found {numbers[-1]}"
'''
TAKE_MORE = {"all_of", "any_of", "weighted"}


def write_workspace(folder: Path) -> None:
    folder.mkdir()
    evaluator = {"name": "last_number", "parameters": {"expected": 4}}
    classes = [{"id": "sums", "work_prompt_template": {"default": "Solve {problem}"}}]
    test = {"class_id": "sums", "level": 1, "text": "2 + 2", "evaluation_module": evaluator}
    tests = [{"test_id": test_id, **test} for test_id in ("sum_1", "sum_2")]
    llm = {"provider": "scripted", "name": "demo", "parameters": {"responses": "It is 4"}}
    (folder / "test_classes.yaml").write_text(json.dumps({"test_classes": classes}))
    (folder / "tests.json").write_text(json.dumps({"tests": tests}))
    (folder / "llms.json").write_text(json.dumps({"llms": [llm]}))


@pytest.mark.slow(reason="starts Python for each case")
@pytest.mark.parametrize("place", ["evaluators", "data/evaluators"])
def test_a_plain_module_works_when_it_is_dropped_in(tmp_path: Path, place: str) -> None:
    (tmp_path / "poor_bench").symlink_to(PROJECT / "poor_bench")
    shutil.copy(PROJECT / "main.py", tmp_path)
    write_workspace(tmp_path / "data")
    (tmp_path / place).mkdir(exist_ok=True)
    (tmp_path / place / "last_number.py").write_text(PLAIN)
    command = [sys.executable, "main.py", "run"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    stored = json.loads((tmp_path / "data" / "results.json").read_text())["results"]
    rows = stored["scripted:demo"]
    assert [(row["score"], row["details"]) for row in rows] == [(1.0, "found 4")] * 2


@pytest.mark.slow(reason="takes over a quarter of a second")
@pytest.mark.parametrize("name", sorted({*PARAMETERS} - TAKE_MORE))
def test_what_a_built_in_evaluator_returns_unpacks_in_two(name: str) -> None:
    module = importlib.import_module(f"evaluators.{name}")
    score, details = module.evaluate("The answer is 18.", PARAMETERS[name])
    assert 0.0 <= score <= 1.0
    assert isinstance(details, str)
    assert isinstance(module.evaluate("", PARAMETERS[name]), tuple)


@pytest.mark.parametrize("name", sorted(TAKE_MORE))
def test_what_an_evaluator_of_evaluators_returns_unpacks_in_two(name: str) -> None:
    score, details = REGISTRY.get(name).evaluate("The answer is A.", PARAMETERS[name])
    assert (type(score), type(details)) == (float, str)


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("So:\n```python\nx = 1\n```\nand\n```js\nlet y\n```\n", ["x = 1", "let y"]),
        ("  ```python\n  def f():\n      return 1\n  ```", ["def f():\n    return 1"]),
        ("<think>```python\nno\n```</think>\n```\nyes = 1\n```", ["yes = 1"]),
        ("def f(x):\n    return x\n", ["def f(x):\n    return x"]),
        ("```python\n\n```", []),
        ("No code at all.", []),
        ("", []),
    ],
)
def test_the_list_of_code_blocks_of_a_text(text: str, blocks: list[str]) -> None:
    assert run(CODE_BLOCKS)["extract_code_blocks"](text) == blocks
