"""The code blocks of the specification's contracts, as the tests run them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CORE = """\
from poor_bench.config_manager import ConfigManager
from poor_bench.test_runner import TestRunner, LLMProvider, OllamaProvider, OpenAIProvider

config = ConfigManager("data")            # base_path; without it: the default workspace
config.load_test_classes()["test_classes"][0]["id"]      # dicts, as the files hold them
config.load_tests()["tests"][0]["test_id"]
config.load_llms()["llms"][0]["provider"]
results = config.load_results()           # {"version": "1.0", "results": {llm_id: [row, ...]}}; without a file: an empty one
results["results"].setdefault("ollama:x", []).append(
    {"test_id": "t1", "score": 1.0, "details": "", "response": "4", "timestamp": "2026-01-01T00:00:00", "execution_time_ms": 12})
config.save_results(results)              # adds and updates rows; a row that another process stored meanwhile is kept
config.get_pending_tests("ollama:x")                     # list of test ids; second parameter test_ids=[...] limits them
config.get_pending_tests("ollama:x", ["t1", "t2"])

class Mine(LLMProvider):
    def generate_response(self, prompt: str, system_prompt: str, parameters: dict) -> str:
        return "4"

runner = TestRunner(config)
runner.llm_providers["mine"] = Mine()     # an LLM with "provider": "mine" in llms.json is asked through it
row = runner.run_test("math_001", "mine:anything")       # the row as a dict, stored too
row["score"], row["details"], row["think"]
"""  # noqa: E501 - as it stands in the specification
UNKNOWN_TEST = """\
runner.run_test("no-such-test", "mine:anything")         # ValueError that names it; the same for an unknown LLM or provider
"""  # noqa: E501 - as it stands in the specification
REAL_PROVIDER = """\
OllamaProvider().generate_response("Say hi", "", {"model": "gemma3:1b"})   # real ones, usable on their own
"""  # noqa: E501 - as it stands in the specification
CODE_BLOCKS = "from evaluators.python_evaluator import extract_code_blocks"

CLASSES = """\
version: "1.0"
test_classes:
  - id: sums
    work_prompt_template: {default: "Solve {problem}"}
    evaluation_module: {name: math_evaluator, parameters: {}}
"""


def write_data(folder: Path, **llms: str) -> Path:
    """Write a workspace with the names of the snippets; `llms` adds names by provider."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test_classes.yaml").write_text(CLASSES)
    tests = [_sum(test_id) for test_id in ("math_001", "t1", "t2")]
    (folder / "tests.json").write_text(json.dumps({"version": "1.0", "tests": tests}))
    entries = [{"provider": "ollama", "name": "x"}, {"provider": "mine", "name": "anything"}]
    entries += [{"provider": provider, "name": name} for provider, name in llms.items()]
    (folder / "llms.json").write_text(json.dumps({"llms": entries}))
    return folder


def _sum(test_id: str) -> Mapping[str, Any]:
    evaluator = {"name": "math_evaluator", "parameters": {"expected_answer": 4}}
    text = {"class_id": "sums", "level": 1, "text": "2 + 2", "evaluation_module": evaluator}
    return {"test_id": test_id, **text}


def run(snippet: str, names: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run a snippet; return the names that it leaves behind."""
    names = {"__name__": "snippet"} if names is None else names
    exec(compile(snippet, "<snippet>", "exec"), names)
    return names
