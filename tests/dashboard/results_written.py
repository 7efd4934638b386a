"""Workspaces with results, as pages find them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from poor_bench.dashboard.services.services import Services
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles


def services_of(folder: Path) -> Services:
    return Services(lambda: WorkspaceFolder(folder))


def write_results(folder: Path, results: dict[str, list[dict[str, Any]]]) -> None:
    content = {"version": "1.0", "results": results}
    (folder / "results.json").write_text(json.dumps(content))


def scored(test_id: str, score: float, response: str = "4", **further: Any) -> dict[str, Any]:
    return {
        "test_id": test_id,
        "score": score,
        "details": "looked for 4",
        "response": response,
        "timestamp": "2026-01-02T03:04:05Z",
        "execution_time_ms": 1200.0,
    } | further


def services_with(
    files: WorkspaceFiles, scores: dict[str, Iterable[float]], n_tests: int = 3
) -> Services:
    """Return services over a workspace in which each LLM scored so on the first tests."""
    files.add_tests(n_tests)
    for name in scores:
        files.add_llm(name, ["4"])
    folder = files.write()
    write_results(
        folder,
        {
            f"scripted:{name}": [
                scored(test["test_id"], score, response="4" if score else "I say 5")
                for test, score in zip(files.tests, values, strict=False)
            ]
            for name, values in scores.items()
        },
    )
    return services_of(folder)
