"""Tune a prompt: search from the current prompt, then test the best one on held-out cases."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from poor_bench.calls.budget import SpendingLimits
from poor_bench.errors import CallLimitError, ConfigError, CostLimitError, RunCancelledError
from poor_bench.llm_manager import LLMManager
from poor_bench.messages import write_share
from poor_bench.models.llm import LLM
from poor_bench.pool.control import RunControl
from poor_bench.tuning.prompt.cases import (
    Attempts,
    CaseFailedError,
    Ideas,
    Shares,
    Split,
    TuningSubject,
    count_proof_calls,
    read_split,
    split_cases,
)
from poor_bench.tuning.prompt.edits import Editor, IdeaSource, TakingTurns
from poor_bench.tuning.prompt.report import PromptReport, Spent, count_spent, read_report
from poor_bench.tuning.prompt.search import (
    Candidate,
    PromptSearch,
    SearchEffort,
    SearchEnd,
    require_gepa,
)
from poor_bench.tuning.prompt.writer import PromptWriter
from poor_bench.tuning.searches import (
    KeptSearch,
    SearchStoppedError,
    SearchTools,
    StopReason,
    TuningFile,
    open_budget,
    read_search,
    start_file,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptProgress:
    """Progress of a search."""

    n_calls: int
    n_candidates: int
    base_score: float | None
    """Mean of the prompt in use on the validation cases; None until it is known."""
    best_score: float | None
    is_writing: bool = False
    """True while a prompt is being written, which may take minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTask:
    """Subject, models and limits of a search."""

    subject: TuningSubject
    llm: LLM
    """The model that the prompt is for."""
    reflection_llm: LLM
    """The model that writes prompts, if any."""
    ideas: IdeaSource = IdeaSource.BOTH
    limits: SpendingLimits
    effort: SearchEffort = field(default_factory=SearchEffort)
    shares: Shares = field(default_factory=Shares)

    @property
    def asked(self) -> tuple[LLM, ...]:
        """All models that the search may ask, each once."""
        writes = self.ideas is not IdeaSource.EDITS
        asked = (*self.subject.llms, *((self.reflection_llm,) if writes else ()))
        return tuple({llm.id: llm for llm in asked}.values())


def make_header(task: PromptTask, split: Split) -> dict[str, Any]:
    """Build the header of a search's file."""
    subject = task.subject
    return {
        "kind": "prompt",
        "name": subject.name,
        "subject": subject.reference,
        "llm": task.llm.id,
        "reflection_llm": task.reflection_llm.id,
        "ideas": task.ideas.value,
        "base_text": subject.base_text,
        "fingerprint": subject.fingerprint,
        "n_calls_per_case": subject.n_calls_per_case,
        "effort": asdict(task.effort),
        "limits": asdict(task.limits),
        "split": {part: list(ids) for part, ids in asdict(split).items()},
    }


MONEY_FOR_PROOF = 0.3
"""Share of the money that is kept for trying the best prompt on the held-out cases."""

Tell = Callable[[PromptProgress], None]


def tune_prompt(
    task: PromptTask,
    data_dir: Path,
    manager: LLMManager,
    control: RunControl,
    tell: Tell = lambda _progress: None,
    resumed: KeptSearch | None = None,
) -> PromptReport:
    """Run a search; blocks until it ends. All that happens is in a file of the workspace.

    A resumed search reuses the stored answers.

    Args:
        task: What is tuned.
        data_dir: Folder of the workspace.
        manager: Asks the models.
        control: Stops the search.
        tell: Hears of the progress.
        resumed: A stored search to go on with.

    Raises:
        ConfigError: If there are too few tests or calls, a limit cannot be kept, or the workspace
            changed since the resumed search, so that scores would not compare.
        ProviderError: If the LLM cannot be loaded.
        StoreError: If the search cannot be kept.
        MissingExtraError: If GEPA is not installed.
    """
    require_gepa()
    if resumed is not None:
        _require_unchanged(task, resumed)
    spent = count_spent(resumed) if resumed else Spent(0, 0.0, is_priced=False)
    budget = open_budget(
        task.limits, manager, task.asked, spent_usd=spent.spent_usd, n_calls=spent.n_calls
    )
    manager.preload(task.llm, control.cancelled)
    split = read_split(resumed.header) if resumed else split_task(task)
    with closing(_open_file(task, split, data_dir, manager, resumed)) as file:
        tools = SearchTools(manager=manager, budget=budget, file=file, control=control)
        session = PromptSession(task, split, tools, tell)
        if resumed is not None:
            session.recall(resumed)
        session.run()
    return read_report(read_search(file.path))


def _require_unchanged(task: PromptTask, search: KeptSearch) -> None:
    now = task.subject.base_text, task.subject.fingerprint
    if now != (search.header.get("base_text"), search.header.get("fingerprint")):
        raise ConfigError(
            f"cannot resume {search.run_id}: its prompt, tests, evaluators or model changed",
            hint="Start a new search without --resume.",
        )


def _open_file(
    task: PromptTask,
    split: Split,
    data_dir: Path,
    manager: LLMManager,
    resumed: KeptSearch | None,
) -> TuningFile:
    if resumed is not None:
        return TuningFile(resumed.path)
    _require_calls(task, split)
    return start_file(data_dir, manager.clock.now_iso(), make_header(task, split))


class PromptSession:
    """One search: candidates first, then the final test of the best one."""

    def __init__(self, task: PromptTask, split: Split, tools: SearchTools, tell: Tell) -> None:
        self._task = task
        self._split = split
        self._tools = tools
        self._tell_listener = tell
        self._n_calls_before = tools.budget.n_calls
        self._found: dict[str, Candidate] = {}
        concurrency = tools.manager.concurrency(task.llm)
        self._attempts = Attempts(task.subject, tools, concurrency, self._tell)
        self._writer = PromptWriter(
            task.subject, task.reflection_llm, tools, lambda: self._tell(is_writing=True)
        )
        self._editor = Editor(task.subject, split.train)

    def recall(self, search: KeptSearch) -> None:
        """Take up what the search has tried and written so far."""
        self._attempts.recall(search.lines)
        self._writer.recall(search.lines)

    def run(self) -> None:
        """Search, then try the best on the held-out cases; all that happens is in the file.

        Raises:
            StoreError: If something could not be kept.
        """
        n_calls = count_proof_calls(self._split, self._task.subject.n_calls_per_case)
        with self._tools.budget.reserve(n_calls, MONEY_FOR_PROOF):
            end = self._search()
        message = end.message
        if end.reason is StopReason.COST:
            message += (
                f"; {write_share(MONEY_FOR_PROOF)} of the money is reserved for the final test"
            )
        if end.reason is not StopReason.CANCELLED:
            message = self._prove(end) or message
        n_failed = len(self._attempts.failed)
        record = {"reason": end.reason.value, "message": message, "n_failed": n_failed}
        self._tools.file.append("end", {**record, **self._count_lost()})

    def _search(self) -> SearchEnd:
        sources: dict[IdeaSource, list[Ideas]] = {
            IdeaSource.WRITER: [self._writer],
            IdeaSource.EDITS: [self._editor],
            IdeaSource.BOTH: [self._writer, self._editor],
        }
        ideas = TakingTurns(sources[self._task.ideas])
        search = PromptSearch(
            self._attempts,
            ideas,
            self._split,
            self._task.effort,
            learn=self._editor.learn,
            found=self._note,
        )
        return search.run(self._task.subject.base_text)

    def _note(self, candidate: Candidate) -> None:
        self._found[candidate.key] = candidate
        self._tools.file.append("candidate", asdict(candidate))
        self._tell()

    def _prove(self, end: SearchEnd) -> str:
        """Try old and new prompt on the held-out cases; return what was in the way."""
        base, best = end.base, end.best
        if base is None or best is None or best is base:
            return ""
        held_out = self._split.held_out
        problem = ""
        for text in (base.text, best.text):
            try:
                self._attempts.run(text, held_out)
            except (CaseFailedError, SearchStoppedError, CallLimitError, CostLimitError) as error:
                problem = f"some held-out tests failed to run: {error}"
            except RunCancelledError:
                return "stopped before the final test"
        base_scores = self._attempts.scores(base.text, held_out)
        new_scores = self._attempts.scores(best.text, held_out)
        if base_scores.keys() & new_scores.keys():
            groups = {case.id: case.group for case in self._task.subject.cases if case.group}
            record = {"base": base_scores, "new": new_scores, "key": best.key, "groups": groups}
            self._tools.file.append("proof", record)
        return problem

    def _count_lost(self) -> dict[str, Any]:
        """Count calls and money that belong to no stored attempt or reply.

        Only a limit of money makes an attempt break off after some of its calls.
        """
        budget = self._tools.budget
        if not budget.is_limited:
            return {}
        stored = count_spent(read_search(self._tools.file.path))
        n_stored_calls = budget.n_calls - self._n_calls_before
        return {
            "n_lost_calls": max(0, budget.n_replies - n_stored_calls),
            "lost_usd": max(0.0, budget.spent_usd - stored.spent_usd),
        }

    def _tell(self, *, is_writing: bool = False) -> None:
        scores = [candidate.score for candidate in self._found.values()]
        self._tell_listener(
            PromptProgress(
                n_calls=self._tools.budget.n_calls,
                n_candidates=max(0, len(scores) - 1),
                base_score=scores[0] if scores else None,
                best_score=max(scores, default=None),
                is_writing=is_writing,
            )
        )


def split_task(task: PromptTask) -> Split:
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
    n_first, n_proof = len(split.validation) * per_case, count_proof_calls(split, per_case)
    most = task.limits.n_calls
    if most is not None and most < n_first + n_proof:
        raise ConfigError(
            f"{most} calls are too few: the current prompt needs {n_first}, "
            f"the final test {n_proof}",
            hint=f"Give --budget-calls {3 * n_first + n_proof} or more, or use fewer tests.",
        )
