"""What the tests of prompt tuning share: LLMs whose scores depend on the prompt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from poor_bench.llm_manager import LLMManager
from poor_bench.tuning.prompt.search import Effort
from poor_bench.tuning.prompt.session import PromptTask, PromptTuner, Surroundings
from poor_bench.tuning.prompt.subjects import ClassPrompt
from poor_bench.tuning.spending import Limits
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles
from tests.providers.fake_clock import FakeClock

BETTER = "Be exact: {problem}"


def marked(text: str) -> str:
    return f"Here it is.\n<new_prompt>\n{text}\n</new_prompt>"


def write_workspace(files: WorkspaceFiles, n_tests: int = 20, **llms: Any) -> Path:
    """Write a workspace in which `small` is right where its prompt says "Be exact"."""
    files.add_tests(n_tests)
    files.add_llm("small", llms.get("small", {"Be exact": "4", "Solve": "no idea"}))
    files.add_llm("writer", llms.get("writer", [marked(BETTER)]))
    return files.write()


def open_search(
    folder: Path,
    *,
    limits: Limits | None = None,
    effort: Effort | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    tell: Callable[[Any], None] = lambda _progress: None,
) -> tuple[PromptTuner, PromptTask]:
    config = WorkspaceFolder(folder)
    manager = LLMManager(folder, clock=FakeClock())
    llms = config.workspace.llms_by_id
    task = PromptTask(
        subject=ClassPrompt(config, manager, llms["scripted:small"], "sums"),
        llm=llms["scripted:small"],
        reflection_llm=llms["scripted:writer"],
        limits=limits or Limits(),
        effort=effort or Effort(patience=4),
    )
    surroundings = Surroundings(manager=manager, cancelled=cancelled, tell=tell)
    return PromptTuner(surroundings, folder), task
