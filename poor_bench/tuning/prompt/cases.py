"""Cases of prompt tuning, how they are split, and the attempts of prompts on them.

Each pair of prompt and case is tried once, several at a time, and every attempt is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Protocol

from poor_bench.errors import CostLimitError, RunCancelledError, StoreError
from poor_bench.models.failure import Failure, FailureScope
from poor_bench.models.llm import LLM
from poor_bench.pool.events import JobDone
from poor_bench.pool.pool import JobResult, Pool
from poor_bench.pool.queues import Work
from poor_bench.prompts import hash_text
from poor_bench.tuning.searches import SearchStoppedError, SearchTools, StopReason, TuningLine


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to try a prompt on: a test of a class, or a test case of an agent."""

    id: str
    level: int = 1
    """Declared difficulty; the parts of a split get the same mix of levels."""
    group: str | None = None
    """As `Test.group`; cases of one group count together in the final proof."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One prompt tried on one case."""

    case_id: str
    score: float
    """0.0 to 1.0."""
    given: str
    """Input beside the prompt."""
    answer: str
    feedback: str
    """Feedback of the evaluator or judge."""
    cost_usd: float | None = None
    time_ms: float | None = None
    n_calls: int | None = None
    """Calls of LLMs that it took; None where that is as many as the subject says."""


def read_attempt(record: Mapping[str, Any]) -> Attempt:
    """Read an attempt from its record."""
    return Attempt(**{name: record[name] for name in Attempt.__slots__ if name in record})


class Solved(NamedTuple):
    """A case with an answer that gets full marks."""

    case_id: str
    given: str
    answer: str


class Idea(NamedTuple):
    """A text that is worth a try, and where it comes from."""

    text: str
    made_by: str
    """Such as `writer` or `example`."""


class Ideas(Protocol):
    """Has ideas for better texts."""

    def propose(self, text: str, attempts: Sequence[Attempt]) -> Idea | None:
        """Propose another text, or None.

        Args:
            text: The text to be made better.
            attempts: How it did on the training cases that the new one is tried on next.

        Raises:
            SearchStoppedError: If an LLM cannot be asked.
            RunCancelledError: If the limits do not allow it, or the user stopped it.
        """


class CaseFailedError(Exception):
    """A case failed to run; this is not a score of the prompt.

    Attributes:
        case_id: Which case.
        failure: Why.
    """

    def __init__(self, case_id: str, failure: Failure) -> None:
        super().__init__(f"{case_id}: {failure.message}")
        self.case_id = case_id
        self.failure = failure


class TuningSubject(Protocol):
    """A prompt text, and the cases that score it."""

    name: str
    """Such as `prompt template of class math_problems`."""
    what: str
    """Such as `prompt template`."""
    reference: Mapping[str, str]
    """Kind and names that identify the subject."""
    base_text: str
    """The current text of the workspace."""
    placeholders: tuple[str, ...]
    """Names that must stay in the text in braces; empty where braces mean nothing in it."""
    cases: Sequence[Case]
    llms: Sequence[LLM]
    """All models that an attempt asks."""
    n_calls_per_case: int
    """Calls of LLMs that one attempt takes at most."""

    def estimate_cost_usd(self) -> float | None:
        """Estimate the cost of an attempt without requests; None where a price is unknown."""

    @property
    def fingerprint(self) -> str:
        """Hash of models, parameters and scoring, without the text."""

    def find_solved(self, case_id: str, answers: Sequence[str]) -> Solved | None:
        """Find a correct answer to a case, or None.

        Sends no request.

        Args:
            case_id: Which case.
            answers: What LLMs answered, the best first.
        """

    def attempt(self, text: str, case_id: str, cancelled: Callable[[], bool]) -> Attempt:
        """Try a text on a case.

        Raises:
            CaseFailedError: If it could not be tried or scored.
            RunCancelledError: If `cancelled()` turned true.
        """


LEAST_CASES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Shares of the cases, each above 0; what both leave over is held out."""

    train: float = 0.35
    validation: float = 0.3

    @property
    def held_out(self) -> float:
        """The share that no candidate sees before the end."""
        return 1 - self.train - self.validation


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Ids of the cases of each part."""

    train: tuple[str, ...]
    """Their answers and feedback are shown to the LLM that writes new prompts."""
    validation: tuple[str, ...]
    """Their scores choose among candidates."""
    held_out: tuple[str, ...]
    """Used only for the final test."""


def count_proof_calls(split: Split, n_calls_per_case: int) -> int:
    """Calls of the final test: two prompts on all held-out cases."""
    return 2 * len(split.held_out) * n_calls_per_case


def read_split(header: Mapping[str, Any]) -> Split:
    """Read the split from a search's header.

    Raises:
        StoreError: If the header is not readable.
    """
    split = header.get("split")
    if not isinstance(split, dict):
        raise StoreError("the search has no readable header: `split` is missing")
    return Split(**{part: tuple(ids) for part, ids in split.items()})


def split_cases(cases: Sequence[Case], shares: Shares, seed: int) -> Split:
    """Divide cases so that every part has about the same mix of levels.

    Cases are sorted by level and, within a level, by a hash of seed and id; then each goes to the
    part that lacks most of its share so far. The same seed gives the same parts on every machine,
    in whatever order the tests stand.

    Raises:
        ValueError: If a share is too small, or there are fewer than `LEAST_CASES` cases.

    Example:
        >>> split = split_cases([Case(str(n)) for n in range(10)], Shares(), seed=0)
        >>> len(split.train), len(split.validation), len(split.held_out)
        (3, 3, 4)
    """
    wanted = {
        "train": shares.train,
        "validation": shares.validation,
        "held_out": shares.held_out,
    }
    if min(wanted.values()) < 0.01:
        raise ValueError(
            "training, validation and held-out tests each need a share of at least 1 %"
        )
    if len(cases) < LEAST_CASES:
        raise ValueError(
            f"{len(cases)} tests are too few to split; at least {LEAST_CASES} are required"
        )
    parts: dict[str, list[str]] = {name: [] for name in wanted}
    for number, case in enumerate(sorted(cases, key=lambda case: _place(case, seed)), start=1):
        parts[_find_most_owed(parts, wanted, number)].append(case.id)
    empty = [name.replace("_", "-") for name, part in parts.items() if not part]
    if empty:
        raise ValueError(f"no test is left for {empty[0]}: increase its share")
    return Split(**{name: tuple(part) for name, part in parts.items()})


def _place(case: Case, seed: int) -> tuple[int, str]:
    return case.level, hash_text(f"{seed} {case.id}")


def _find_most_owed(
    parts: Mapping[str, Sequence[str]], wanted: Mapping[str, float], number: int
) -> str:
    return max(wanted, key=lambda name: wanted[name] * number - len(parts[name]))


MOST_FAILED_IN_A_ROW = 3
"""Batches in a row in which a case could not be tried, before the search is given up."""

_Tried = Attempt | CaseFailedError | CostLimitError


def hash_candidate(text: str) -> str:
    """Key of a text in the file: 12 hexadecimal digits."""
    return hash_text(text, 12)


class Attempts:
    """All attempts of one search.

    Attributes:
        failed: Key of the prompt and id of the case of what failed to run and was not tried again.
    """

    def __init__(
        self,
        subject: TuningSubject,
        tools: SearchTools,
        concurrency: int = 1,
        tell: Callable[[], None] = lambda: None,
    ) -> None:
        """Start with no attempt.

        Args:
            subject: What is tried.
            tools: Counts calls, keeps attempts, cancels.
            concurrency: Cases that are tried at once.
            tell: Called after every attempt.
        """
        self._subject = subject
        self._tools = tools
        self._concurrency = concurrency
        self._tell = tell
        self._known: dict[tuple[str, str], Attempt] = {}
        self.failed: set[tuple[str, str]] = set()
        self._n_failed_in_a_row = 0
        self._gone: CaseFailedError | None = None

    def recall(self, lines: Sequence[TuningLine]) -> None:
        """Take up the attempts that a file holds already."""
        for kind, content in lines:
            if kind == "attempt":
                self._known[content["text"], content["case_id"]] = read_attempt(content)

    def run(self, text: str, case_ids: Sequence[str]) -> list[Attempt]:
        """Run each case; known attempts are reused.

        Raises:
            CaseFailedError: If a case could not be tried; the attempts that could are kept.
            SearchStoppedError: If the search must end: an LLM that is gone, many failures.
            CallLimitError: If too few calls are left.
            CostLimitError: If too little money is left.
            RunCancelledError: If the user stopped it.
        """
        key = hash_candidate(text)
        missing = [
            case_id for case_id in dict.fromkeys(case_ids) if (key, case_id) not in self._known
        ]
        self._tools.budget.require_calls(len(missing) * self._subject.n_calls_per_case)
        failed = self._try(text, key, missing)
        if failed is not None:
            self._give_up_if_hopeless(failed)
            raise failed
        if missing:
            self._n_failed_in_a_row = 0
        return [self._known[key, case_id] for case_id in case_ids]

    def scores(self, text: str, case_ids: Sequence[str]) -> dict[str, float]:
        """Scores of known attempts, by case."""
        key = hash_candidate(text)
        known = ((case_id, self._known.get((key, case_id))) for case_id in case_ids)
        return {case_id: attempt.score for case_id, attempt in known if attempt is not None}

    def _try(self, text: str, key: str, case_ids: Sequence[str]) -> CaseFailedError | None:
        """Run the missing attempts until the model is gone; return the first failure."""
        control = self._tools.control
        work = Work(items=case_ids, n_items=len(case_ids), concurrency=self._concurrency)
        failures: list[CaseFailedError] = []
        refused: CostLimitError | None = None

        def do(case_id: str) -> JobResult[_Tried]:
            if self._gone is not None:
                return JobResult(self._gone)
            try:
                return JobResult(self._subject.attempt(text, case_id, control.cancelled))
            except (CaseFailedError, CostLimitError) as error:
                return JobResult(error)

        with closing(Pool(self._tools.manager, control).run([work], do)) as events:
            for event in events:
                tried = event.value if isinstance(event, JobDone) else None
                if isinstance(tried, Attempt):
                    self._keep(key, tried)
                elif isinstance(tried, CaseFailedError):
                    failures.append(tried)
                    self._note_failed(key, tried)
                elif isinstance(tried, CostLimitError):
                    refused = tried
        if refused is not None:
            raise refused
        if control.cancelled():
            raise RunCancelledError("the search was stopped")
        return failures[0] if failures else None

    def _keep(self, key: str, attempt: Attempt) -> None:
        self._tools.budget.count_calls(attempt.n_calls or self._subject.n_calls_per_case)
        self._tools.file.append("attempt", {"text": key, **asdict(attempt)})
        self._known[key, attempt.case_id] = attempt
        self.failed.discard((key, attempt.case_id))
        self._tell()

    def _note_failed(self, key: str, error: CaseFailedError) -> None:
        if error is self._gone:
            return
        self._tools.budget.count_calls(1)
        failure = error.failure
        if failure.kind.scope is not FailureScope.REQUEST:
            self._gone = error
        record = {"text": key, "case_id": error.case_id, "message": failure.message}
        self._tools.file.append("failed", record)
        self.failed.add((key, error.case_id))

    def _give_up_if_hopeless(self, error: CaseFailedError) -> None:
        self._n_failed_in_a_row += 1
        if self._gone is not None or self._n_failed_in_a_row >= MOST_FAILED_IN_A_ROW:
            raise SearchStoppedError(StopReason.LLM_FAILED, str(error)) from error
