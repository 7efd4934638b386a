"""Workspaces for journeys."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import scored, write_results

GOOD, BAD = "scripted:good", "scripted:bad"
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
