"""Tune a prompt: start or continue a search."""

from __future__ import annotations

from pathlib import Path

from poor_bench.errors import ConfigError
from poor_bench.runs.history import new_run_id
from poor_bench.tuning.kept_searches import KeptSearch, read_search
from poor_bench.tuning.prompt.report import PromptReport, kept_report, spent
from poor_bench.tuning.prompt.search import require_gepa
from poor_bench.tuning.prompt.session import PromptSession
from poor_bench.tuning.prompt.split import Split, kept_split, proof_calls, split_cases
from poor_bench.tuning.prompt.task import PromptTask, Surroundings, header_of
from poor_bench.tuning.spending import limit_money
from poor_bench.tuning.tuning_file import TuningFile, tuning_folder


class PromptTuner:
    """Runs one search and stores it in a file of the workspace."""

    def __init__(self, surroundings: Surroundings, data_dir: Path) -> None:
        self._surroundings = surroundings
        self._data_dir = data_dir

    def run(self, task: PromptTask) -> PromptReport:
        """Start a search; blocks until it ends.

        Raises:
            ConfigError: If there are too few tests or calls, or a limit cannot be kept.
            ProviderError: If the LLM cannot be loaded.
            StoreError: If the search cannot be kept.
            MissingExtraError: If GEPA is not installed.
        """
        self._check(task)
        started = self._surroundings.manager.clock.now_iso()
        run_id = new_run_id(started)
        split = split_of(task)
        _require_calls(task, split)
        header = {"run_id": run_id, "started": started, **header_of(task, split)}
        path = tuning_folder(self._data_dir) / f"{run_id}.jsonl"
        return self._search(task, TuningFile(path, header), split)

    def resume(self, task: PromptTask, search: KeptSearch) -> PromptReport:
        """Continue a search; stored answers are reused.

        Raises:
            ConfigError: If the workspace changed since, so that scores would not compare.
            ProviderError: If the LLM cannot be loaded.
            StoreError: If the search cannot be kept.
            MissingExtraError: If GEPA is not installed.
        """
        self._check(task, spent(search)["cost_usd"])
        header = search.header
        now = task.subject.base_text, task.subject.fingerprint
        if now != (header.get("base_text"), header.get("fingerprint")):
            raise ConfigError(
                f"cannot resume {search.run_id}: its prompt, tests, evaluators or model changed",
                hint="Start a new search without --resume.",
            )
        return self._search(task, TuningFile(search.path), kept_split(header), search)

    def _check(self, task: PromptTask, spent_usd: float = 0.0) -> None:
        require_gepa()
        manager = self._surroundings.manager
        limit_money(task.limits, manager, task.asked, spent_usd)
        manager.preload(task.llm, self._surroundings.cancelled)

    def _search(
        self, task: PromptTask, file: TuningFile, split: Split, known: KeptSearch | None = None
    ) -> PromptReport:
        try:
            PromptSession(self._surroundings, task, file, split, known).run()
        finally:
            file.close()
        return kept_report(read_search(file.path))


def split_of(task: PromptTask) -> Split:
    """Split the cases of a new search.

    Raises:
        ConfigError: If there are too few cases, or a share is too small.
    """
    try:
        return split_cases(task.subject.cases, task.shares, task.effort.seed)
    except ValueError as error:
        raise ConfigError(f"{task.subject.name}: {error}") from error


def _require_calls(task: PromptTask, split: Split) -> None:
    """Refuse a budget too small for the current prompt and the final test."""
    per_case = task.subject.n_calls_per_case
    n_first, n_proof = len(split.validation) * per_case, proof_calls(split, per_case)
    most = task.limits.n_calls
    if most is not None and most < n_first + n_proof:
        raise ConfigError(
            f"{most} calls are too few: the current prompt needs {n_first}, "
            f"the final test {n_proof}",
            hint=f"Give --budget-calls {3 * n_first + n_proof} or more, or use fewer tests.",
        )
