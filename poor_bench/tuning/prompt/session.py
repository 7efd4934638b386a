"""Tune a prompt: search from the current prompt, then test the best one on held-out cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from poor_bench.errors import ConfigError, CostLimitError, RunCancelledError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from poor_bench.runs.history import new_run_id
from poor_bench.tuning.prompt.attempts import Attempts
from poor_bench.tuning.prompt.cases import (
    CaseFailedError,
    Ideas,
    Shares,
    Split,
    Subject,
    kept_split,
    proof_calls,
    split_cases,
)
from poor_bench.tuning.prompt.edits import Editor, IdeaSource, TakingTurns
from poor_bench.tuning.prompt.report import PromptReport, kept_report, spent
from poor_bench.tuning.prompt.search import (
    Candidate,
    Effort,
    GepaAdapter,
    PromptSearch,
    SearchEnd,
    require_gepa,
)
from poor_bench.tuning.prompt.writer import Proposer
from poor_bench.tuning.searches import (
    KeptSearch,
    SearchStoppedError,
    StopReason,
    TuningFile,
    read_search,
    tuning_folder,
)
from poor_bench.tuning.spending import Limits, Spending, limit_money


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

    subject: Subject
    llm: LLM
    """The model that the prompt is for."""
    reflection_llm: LLM
    """The model that writes prompts, if any."""
    ideas: IdeaSource = IdeaSource.BOTH
    limits: Limits
    effort: Effort = field(default_factory=Effort)
    shares: Shares = field(default_factory=Shares)

    @property
    def asked(self) -> tuple[LLM, ...]:
        """Everybody whom the search may ask."""
        writes = self.ideas is not IdeaSource.EDITS
        return (*self.subject.llms, *((self.reflection_llm,) if writes else ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Components of a search."""

    manager: LLMManager
    cancelled: Callable[[], bool] = lambda: False
    """Asked again and again; true ends the search."""
    tell: Callable[[PromptProgress], None] = lambda _progress: None


def header_of(task: PromptTask, split: Split) -> dict[str, Any]:
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


class PromptSession:
    """One search with everything that belongs to it."""

    def __init__(
        self,
        surroundings: Surroundings,
        task: PromptTask,
        file: TuningFile,
        split: Split,
        known: KeptSearch | None = None,
    ) -> None:
        """Prepare a search.

        Args:
            surroundings: What it works with.
            task: What it is to do.
            file: Where everything is kept that happens.
            split: The cases of each part.
            known: The same search so far, if it goes on.
        """
        self._tell_listener = surroundings.tell
        self._budget = surroundings.manager.budget
        self._n_replies_before = self._budget.n_replies if self._budget else 0
        self._spent_usd_before = self._budget.spent_usd if self._budget else 0.0
        self._task = task
        self._file = file
        self._split = split
        self._spending = Spending(task.limits, **(spent(known) if known else {}))
        self._counted_before = self._spending.n_calls, self._spending.cost_usd
        self._spending.reserve = proof_calls(split, task.subject.n_calls_per_case)
        self._found: dict[str, Candidate] = {}
        self._attempts = Attempts(
            task.subject,
            file,
            self._spending,
            n_at_once=surroundings.manager.concurrency(task.llm),
            cancelled=surroundings.cancelled,
            tell=self._tell,
        )
        self._proposer = Proposer(
            task.subject,
            task.reflection_llm,
            surroundings.manager,
            file,
            self._spending,
            surroundings.cancelled,
            tell_writing=lambda: self._tell(is_writing=True),
        )
        self._editor = Editor(task.subject, split.train)
        for lines in [known.lines] if known else []:
            self._attempts.recall(lines)
            self._proposer.recall(lines)

    def run(self) -> None:
        """Search, then try the best on the held-out cases; all that happens is in the file.

        Raises:
            StoreError: If something could not be kept.
            MissingExtraError: If GEPA is not installed.
        """
        self._hold_money()
        adapter = GepaAdapter(self._attempts, self._ideas(), self._editor.learn)
        search = PromptSearch(adapter, self._split, self._task.effort, self._note)
        end = search.run(self._task.subject.base_text)
        message = end.message
        if end.reason is StopReason.COST:
            message += f"; {MONEY_FOR_PROOF:.0%} of the money is reserved for the final test"
        if end.reason is not StopReason.CANCELLED:
            message = self._prove(end) or message
        self._file.append("end", {"reason": end.reason.value, "message": message, **self._lost()})

    def _lost(self) -> dict[str, Any]:
        """Cost that belongs to no stored attempt or reply.

        Known only where money is limited: then an attempt may break off in the middle.
        """
        if self._budget is None:
            return {}
        n_calls, cost_usd = self._counted_before
        n_replies = self._budget.n_replies - self._n_replies_before
        paid_usd = self._budget.spent_usd - self._spent_usd_before
        return {
            "n_lost_calls": max(0, n_replies - (self._spending.n_calls - n_calls)),
            "lost_usd": max(0.0, paid_usd - (self._spending.cost_usd - cost_usd)),
        }

    def _ideas(self) -> Ideas:
        sources: dict[IdeaSource, list[Ideas]] = {
            IdeaSource.WRITER: [self._proposer],
            IdeaSource.EDITS: [self._editor],
            IdeaSource.BOTH: [self._proposer, self._editor],
        }
        return TakingTurns(sources[self._task.ideas])

    def _note(self, candidate: Candidate) -> None:
        self._found[candidate.key] = candidate
        self._file.append("candidate", candidate.as_record())
        self._tell()

    def _prove(self, end: SearchEnd) -> str:
        """Try old and new prompt on the held-out cases; return what was in the way."""
        base, best = end.base, end.best
        if base is None or best is None or best is base:
            return ""
        self._spending.reserve = 0
        self._release_money()
        problem = ""
        for text in (base.text, best.text):
            try:
                self._attempts.of(text, self._split.held_out)
            except (CaseFailedError, SearchStoppedError, CostLimitError) as error:
                problem = f"some held-out tests failed to run: {error}"
            except RunCancelledError:
                return "stopped before the final test"
        base_scores = self._attempts.scores(base.text, self._split.held_out)
        new_scores = self._attempts.scores(best.text, self._split.held_out)
        if base_scores.keys() & new_scores.keys():
            self._file.append("proof", {"base": base_scores, "new": new_scores, "key": best.key})
        return problem

    def _hold_money(self) -> None:
        """Reserve money for the final test."""
        if self._budget is not None:
            self._budget.limit_usd *= 1 - MONEY_FOR_PROOF

    def _release_money(self) -> None:
        if self._budget is not None:
            self._budget.limit_usd /= 1 - MONEY_FOR_PROOF

    def _tell(self, *, is_writing: bool = False) -> None:
        scores = [candidate.score for candidate in self._found.values()]
        self._tell_listener(
            PromptProgress(
                n_calls=self._spending.n_calls,
                n_candidates=max(0, len(scores) - 1),
                base_score=scores[0] if scores else None,
                best_score=max(scores, default=None),
                is_writing=is_writing,
            )
        )


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
