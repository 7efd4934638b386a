"""What the tests of prompt tuning share: LLMs whose scores depend on the prompt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poor_bench.calls.budget import SpendingLimits
from poor_bench.llm_manager import LLMManager
from poor_bench.pool.control import RunControl
from poor_bench.tuning.prompt.report import PromptReport
from poor_bench.tuning.prompt.search import SearchEffort
from poor_bench.tuning.prompt.session import PromptTask, tune_prompt
from poor_bench.tuning.prompt.subjects import ClassPromptSubject
from poor_bench.tuning.searches import KeptSearch
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


@dataclass
class PromptTuner:
    folder: Path
    manager: LLMManager
    control: RunControl
    tell: Callable[[Any], None]

    def run(self, task: PromptTask) -> PromptReport:
        return tune_prompt(task, self.folder, self.manager, self.control, self.tell)

    def resume(self, task: PromptTask, search: KeptSearch) -> PromptReport:
        return tune_prompt(task, self.folder, self.manager, self.control, self.tell, resumed=search)


def open_search(
    folder: Path,
    *,
    limits: SpendingLimits | None = None,
    effort: SearchEffort | None = None,
    control: RunControl | None = None,
    tell: Callable[[Any], None] = lambda _progress: None,
) -> tuple[PromptTuner, PromptTask]:
    config = WorkspaceFolder(folder)
    manager = LLMManager(folder, clock=FakeClock())
    llms = config.workspace.llms_by_id
    task = PromptTask(
        subject=ClassPromptSubject(config, manager, llms["scripted:small"], "sums"),
        llm=llms["scripted:small"],
        reflection_llm=llms["scripted:writer"],
        limits=limits or SpendingLimits(),
        effort=effort or SearchEffort(patience=4),
    )
    return PromptTuner(folder, manager, control or RunControl(), tell), task
