"""Judge single responses on behalf of evaluators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from poor_bench.judge.judge_door import JudgeDoor
from poor_bench.judge.workspace_judges import WorkspaceJudges
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM, base_llm_id
from poor_bench.models.result import Result


class ResponseJudging:
    """The judges of one workspace; thread-safe.

    Attributes:
        judges: Who judges, by what.
    """

    def __init__(self, folder: Path, llms: Sequence[LLM], manager: LLMManager) -> None:
        """Prepare without reading files or sending requests.

        Args:
            folder: The workspace: its config.yaml and files of rubrics.
            llms: Its LLMs, any of which can judge.
            manager: Asks the LLMs.
        """
        self.judges = WorkspaceJudges(folder, llms)
        self._manager = manager
        self._models = {llm.id: base_llm_id(llm.provider, llm.name) for llm in llms}

    def door(self, result: Result, cancelled: Callable[[], bool]) -> JudgeDoor:
        """Build the questions of an evaluator about a result."""
        writer = self._models.get(result.llm_id, result.llm_id)
        return JudgeDoor(self.judges, self._manager, result, writer, cancelled)
