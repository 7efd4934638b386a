"""Workspaces for journeys."""

from __future__ import annotations

import json
from pathlib import Path

from poor_bench.evaluation.models import EvalSuite
from poor_bench.evaluation.runner import SuiteOptions, run_suite_now
from poor_bench.judge.storage import JudgementStore
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import scored, write_results
from tests.evaluation.builders import make_case
from tests.judge.run_builders import conversation_of, header_of, judgement_of

GOOD, BAD = "scripted:good", "scripted:bad"
WEIGHTS = {"tone": 40.0, "facts": 30.0, "rules": 30.0}
AGENTS = "tests.evaluation.agents"
HOSTILE = "<img src=x onerror=alert(1)> [link](javascript:alert(1))"


def with_results(files: WorkspaceFiles, n_tests: int = 60) -> Path:
    """Write two LLMs with results: one always right, one wrong in every third test."""
    files.add_tests(n_tests)
    files.add_llm("good", ["4"])
    files.add_llm("bad", ["4"])
    folder = files.write()
    good = [scored(test["test_id"], 1.0, '{"answer": 4}') for test in files.tests]
    bad = [
        scored(test["test_id"], 1.0, '{"answer": 4}')
        if number % 3
        else scored(test["test_id"], 0.0, f'{{"answer": 5}} {HOSTILE}', details=f"got {HOSTILE}")
        for number, test in enumerate(files.tests)
    ]
    write_results(folder, {GOOD: good, BAD: bad})
    return folder


def to_run(files: WorkspaceFiles, *, n_tests: int) -> Path:
    """Write an LLM whose tests are all pending."""
    files.add_tests(n_tests)
    files.add_llm("steady", ["4"])
    return files.write()


def to_run_until_cancelled(files: WorkspaceFiles) -> Path:
    """Write an LLM that replies three times, and then no more as long as any journey takes."""
    files.add_tests(400)
    files.add_llm("steady", ["4", "4", "4", {"text": "4", "latency_ms": 600_000}])
    return files.write()


def judge_run(folder: Path, day: int, *scores: float) -> None:
    """Store a run whose judge gave these scores, one after the other."""
    started = f"2026-11-{day}T01:00:00Z"
    header = header_of(
        f"202611{day}T010000-aa", started=started, weights=WEIGHTS, repeat=len(scores)
    )
    with JudgementStore(folder).writing(header) as writer:
        writer.add_conversation(conversation_of("hello", "Hi", f"Hello {HOSTILE}"))
        writer.add_conversation(conversation_of("bye", "Bye", "So long"))
        for score in scores:
            cases = {"hello": score, "bye": score + 1}
            dimensions = dict.fromkeys(WEIGHTS, score)
            writer.add_judgement(judgement_of(score, scores=dimensions, cases=cases))


def suite_run(folder: Path, *agents: str) -> None:
    """Run a suite in which each of some agents has a case."""
    cases = tuple(
        make_case(id=f"by-{agent}", profile=f"{AGENTS}:{agent}", trials=2) for agent in agents
    )
    suite = EvalSuite(name="demo", cases=cases)
    run_suite_now(suite, SuiteOptions(data_dir=folder))


def with_every_page_filled(files: WorkspaceFiles) -> Path:
    """Write results of all kinds, a model that is disabled, runs of a judge and of a suite.

    All scores of one model are stale, one trial of the other has failed; one test is disabled, one
    has a group, one is pending.
    """
    folder = with_results(files, n_tests=30)
    results = json.loads((folder / "results.json").read_text())["results"]
    asked = {"prompt": "as asked before", "request_fingerprint": "0" * 16}
    results[BAD] = [result | asked for result in results[BAD]]
    results[GOOD][9] |= {"score": 0.0, "details": "", "response": "[API ERROR] no answer"}
    write_results(folder, results)
    files.tests[20]["enabled"] = False
    files.tests[21]["group"] = "alike"
    files.add_tests(1)
    files.add_llm("resting", ["4"], enabled=False)
    files.write()
    judge_run(folder, 20, 4.0, 4.2)
    judge_run(folder, 21, 4.1, 4.3)
    suite_run(folder, "echo", "every_other")
    return folder
