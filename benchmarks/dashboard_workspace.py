"""A synthetic workspace of any size, for `dashboard.py` and `scale.py`: results of LLMs x tests."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import orjson

from poor_bench.models.result import Result
from poor_bench.results.store import open_store
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner

CLASSES = ("arithmetic", "extraction", "sentiment", "python_functions", "translation")
EVALUATOR = '''"""Right where the response is the expected text."""


def evaluate(response, parameters):
    return (1.0, "right") if response == parameters["expected"] else (0.0, "wrong")
'''


def build_workspace(folder: Path, n_llms: int, n_tests: int) -> None:
    """Write a valid workspace with a result for every LLM and test."""
    _write_files(folder, n_llms, n_tests)
    store = open_store(folder)
    runner = WorkspaceRunner(WorkspaceFolder(folder))
    now, tests = runner.fingerprints, runner.workspace.tests
    for number, llm in enumerate(runner.workspace.llms):
        rng = random.Random(number)
        results = (
            replace(
                _result(rng, number, n_llms, place),
                request_fingerprint=now.of_request(llm, test),
                evaluator_fingerprint=now.of_evaluator(test),
            )
            for place, test in enumerate(tests)
        )
        store.add(results, f"20261121T0000{number:02}-bench", {})


def _write_files(folder: Path, n_llms: int, n_tests: int) -> None:
    (folder / "evaluators").mkdir()
    (folder / "evaluators" / "same_text.py").write_text(EVALUATOR)
    classes = [
        f"  - id: {name}\n    work_prompt_template: {{default: 'Do this: {{task}}'}}\n"
        "    evaluation_module: {name: same_text, parameters: {}}\n"
        for name in CLASSES
    ]
    (folder / "test_classes.yaml").write_text('version: "1.0"\ntest_classes:\n' + "".join(classes))
    tests = [
        {
            "test_id": _test_id(number),
            "class_id": CLASSES[number % len(CLASSES)],
            "level": number % 4 + 1,
            "text": f"task number {number}",
            "evaluation_module": {"name": "same_text", "parameters": {"expected": str(number)}},
        }
        for number in range(n_tests)
    ]
    (folder / "tests.json").write_bytes(orjson.dumps({"version": "1.0", "tests": tests}))
    llms = [
        {"provider": "ollama", "name": f"synthetic-{llm}:{llm + 1}b", "size": llm + 1.0}
        for llm in range(n_llms)
    ]
    (folder / "llms.json").write_bytes(orjson.dumps({"llms": llms}))


def _test_id(number: int) -> str:
    return f"{CLASSES[number % len(CLASSES)]}_level{number % 4 + 1}_{number:06}"


def _result(rng: random.Random, llm: int, n_llms: int, test: int) -> Result:
    is_right = rng.random() < 0.3 + 0.6 * llm / n_llms
    return Result(
        llm_id=f"ollama:synthetic-{llm}:{llm + 1}b",
        test_id=_test_id(test),
        score=float(is_right),
        details=f"{'Correct' if is_right else 'Incorrect'}. Expected: {test}, Got: {test}",
        response='```json\n{"answer": ' + str(test) + "}\n```" + "word " * rng.randrange(20, 60),
        timestamp=f"2026-11-21T0{llm}:{test // 60 % 60:02}:{test % 60:02}.000+00:00",
        execution_time_ms=round(rng.lognormvariate(6.5, 0.6), 1),
        think=llm % 2 == 0,
        prompt_tokens=rng.randrange(20, 60),
        completion_tokens=rng.randrange(5, 90),
        decode_ms=round(rng.lognormvariate(6, 0.5), 1),
        run_id=f"20261121T0000{llm:02}-bench",
        finish_reason="stop",
        expected=str(test),
        got=str(test),
    )
