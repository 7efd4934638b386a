"""A synthetic workspace of any size, for `dashboard.py` and `scale.py`: results of LLMs x tests.

`python -m benchmarks.dashboard_workspace FOLDER --llms 100 --tests 400 --classes 200` writes one
to look at.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import replace
from pathlib import Path

import orjson

from poor_bench.models.result import Result
from poor_bench.results.store import open_store
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner

CLASSES = ("arithmetic", "extraction", "sentiment", "python_functions", "translation")
_FAMILIES = ("qwen3", "qwen2.5-coder", "llama3.1", "gemma3", "granite3.3")
_SIZES = (0.6, 1.7, 4.0, 8.0, 14.0, 32.0, 70.0)
_VARIANTS = ("", "-instruct-q4_K_M", "-instruct-q8_0", "-it-qat")
_MOST_PLAIN = 50
EVALUATOR = '''"""Right where the response is the expected text."""


def evaluate(response, parameters):
    return (1.0, "right") if response == parameters["expected"] else (0.0, "wrong")
'''


def build_workspace(folder: Path, n_llms: int, n_tests: int, n_classes: int = 5) -> None:
    """Write a valid workspace with a result for every LLM and test."""
    classes = name_classes(n_classes)
    _write_files(folder, n_llms, n_tests, classes)
    store = open_store(folder)
    runner = WorkspaceRunner(WorkspaceFolder(folder))
    now, tests = runner.fingerprints, runner.workspace.tests
    for number, llm in enumerate(runner.workspace.llms):
        rng = random.Random(number)
        results = (
            replace(
                _result(rng, number, n_llms, place, classes),
                request_fingerprint=now.of_request(llm, test),
                evaluator_fingerprint=now.of_evaluator(test),
            )
            for place, test in enumerate(tests)
        )
        store.add(results, f"20261121T{number:06}-bench", {})


def name_classes(n_classes: int) -> list[str]:
    """Name test classes: those of `CLASSES` first, each again with a number behind it."""
    n_rounds = -(-n_classes // len(CLASSES))
    names = [
        f"{name}_{number}" if number else name for number in range(n_rounds) for name in CLASSES
    ]
    return names[:n_classes]


def _name_llm(llm: int, n_llms: int) -> tuple[str, float]:
    """Name a model and its size: few of them are plain, many are like real variants of families."""
    if n_llms <= _MOST_PLAIN:
        return f"synthetic-{llm}:{llm + 1}b", llm + 1.0
    family = _FAMILIES[llm % len(_FAMILIES)]
    size = _SIZES[llm // len(_FAMILIES) % len(_SIZES)]
    variant = _VARIANTS[llm // len(_FAMILIES) // len(_SIZES) % len(_VARIANTS)]
    extra = llm // (len(_FAMILIES) * len(_SIZES) * len(_VARIANTS))
    return f"{family}:{size:g}b{variant}{f'-v{extra}' if extra else ''}", size


def _write_files(folder: Path, n_llms: int, n_tests: int, names: list[str]) -> None:
    (folder / "evaluators").mkdir()
    (folder / "evaluators" / "same_text.py").write_text(EVALUATOR)
    classes = [
        f"  - id: {name}\n    work_prompt_template: {{default: 'Do this: {{task}}'}}\n"
        "    evaluation_module: {name: same_text, parameters: {}}\n"
        for name in names
    ]
    (folder / "test_classes.yaml").write_text('version: "1.0"\ntest_classes:\n' + "".join(classes))
    tests = [
        {
            "test_id": _test_id(number, names),
            "class_id": names[number % len(names)],
            "level": number % 4 + 1,
            "text": f"task number {number}",
            "evaluation_module": {"name": "same_text", "parameters": {"expected": str(number)}},
        }
        for number in range(n_tests)
    ]
    (folder / "tests.json").write_bytes(orjson.dumps({"version": "1.0", "tests": tests}))
    named = (_name_llm(llm, n_llms) for llm in range(n_llms))
    llms = [{"provider": "ollama", "name": name, "size": size} for name, size in named]
    (folder / "llms.json").write_bytes(orjson.dumps({"llms": llms}))


def _test_id(number: int, names: list[str]) -> str:
    return f"{names[number % len(names)]}_level{number % 4 + 1}_{number:06}"


def _result(rng: random.Random, llm: int, n_llms: int, test: int, names: list[str]) -> Result:
    is_right = rng.random() < 0.3 + 0.6 * llm / n_llms
    return Result(
        llm_id=f"ollama:{_name_llm(llm, n_llms)[0]}",
        test_id=_test_id(test, names),
        score=float(is_right),
        details=f"{'Correct' if is_right else 'Incorrect'}. Expected: {test}, Got: {test}",
        response='```json\n{"answer": ' + str(test) + "}\n```" + "word " * rng.randrange(20, 60),
        timestamp=f"2026-11-21T{llm % 24:02}:{test // 60 % 60:02}:{test % 60:02}.000+00:00",
        execution_time_ms=round(rng.lognormvariate(6.5, 0.6), 1),
        think=llm % 2 == 0,
        prompt_tokens=rng.randrange(20, 60),
        completion_tokens=rng.randrange(5, 90),
        decode_ms=round(rng.lognormvariate(6, 0.5), 1),
        run_id=f"20261121T{llm:06}-bench",
        finish_reason="stop",
        expected=str(test),
        got=str(test),
    )


def main() -> None:
    """Write a workspace."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--llms", type=int, default=100)
    parser.add_argument("--tests", type=int, default=400)
    parser.add_argument("--classes", type=int, default=200)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True)
    build_workspace(arguments.folder, arguments.llms, arguments.tests, arguments.classes)


if __name__ == "__main__":
    main()
