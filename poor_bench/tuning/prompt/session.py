"""One search: from the current prompt to the final test of a better one."""

from __future__ import annotations

from typing import Any

from poor_bench.errors import CostLimitError, RunCancelledError
from poor_bench.tuning.kept_searches import KeptSearch
from poor_bench.tuning.prompt.attempts import Attempts
from poor_bench.tuning.prompt.cases import CaseFailedError, Ideas
from poor_bench.tuning.prompt.editor import Editor
from poor_bench.tuning.prompt.gepa_adapter import GepaAdapter
from poor_bench.tuning.prompt.ideas import IdeaSource, TakingTurns
from poor_bench.tuning.prompt.proposer import Proposer
from poor_bench.tuning.prompt.report import spent
from poor_bench.tuning.prompt.search import Candidate, PromptSearch, SearchEnd
from poor_bench.tuning.prompt.split import Split, proof_calls
from poor_bench.tuning.prompt.task import PromptProgress, PromptTask, Surroundings
from poor_bench.tuning.spending import Spending
from poor_bench.tuning.stopping import SearchStoppedError, StopReason
from poor_bench.tuning.tuning_file import TuningFile

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
