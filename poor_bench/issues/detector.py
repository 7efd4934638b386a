"""Issues, facts about tests and trials, and the definition of a detector."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from poor_bench.extraction.found import Extracted
from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.thinking import ThinkingSplit, split_thinking
from poor_bench.models.result import Result
from poor_bench.scoring.verdict import AnswerFormat
from poor_bench.statistics.trials import TextCodes, TextColumns, TrialColumns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class IssueSeverity(StrEnum):
    """How much an issue matters."""

    HIGH = "high"
    """Tests failed, or figures are not reliable."""
    MEDIUM = "medium"
    """Costs score."""
    LOW = "low"
    """Worth knowing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """One detector's finding about one trial."""

    detector_id: str
    llm_id: str
    test_id: str
    trial: int
    evidence: str
    """Evidence as plain text of about 200 characters; may quote the model."""
    lost_score: float
    """Lost score for this cause, 0.0 to 1.0; charged to one issue only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueGroup:
    """All findings of one detector."""

    detector_id: str
    title: str
    severity: IssueSeverity
    meaning: str
    advice: str
    n_trials: int
    n_by_llm: dict[str, int]
    """Most affected LLM first."""
    lost_score: float
    """Lost score of all trials for this cause."""
    lost_share: float
    """Share of all lost score, 0.0 to 1.0; the shares of all groups add up to one."""
    examples: tuple[Issue, ...]
    """A few findings, of different LLMs as far as possible."""


def read_group(stored: Mapping[str, Any]) -> IssueGroup:
    """Build a group of the values of its fields, as JSON has them."""
    examples = tuple(Issue(**each) for each in stored["examples"])
    severity = IssueSeverity(stored["severity"])
    return IssueGroup(**{**stored, "severity": severity, "examples": examples})


RANKS = {severity: rank for rank, severity in enumerate(IssueSeverity)}


def sort_by_severity(groups: Iterable[IssueGroup]) -> list[IssueGroup]:
    """Sort groups by severity, then as they are: what makes figures unreliable comes first."""
    return sorted(groups, key=lambda group: RANKS[group.severity])


@dataclass(frozen=True, slots=True, kw_only=True)
class TestFacts:
    """Known requirements of a test."""

    class_id: str = ""
    wanted: AnswerFormat | None = None
    """Format that its evaluator wants."""
    n_items: int | None = None
    """Length of the requested list."""
    function_name: str = ""
    """Function that the code must define."""


_FAR = 0.5


@dataclass(frozen=True, slots=True)
class PeopleScore:
    """Score that people give an answer."""

    test_id: str
    mean: float
    """0.0 to 1.0."""
    n_people: int

    def disagrees_with(self, score: float | None) -> bool:
        """True if an evaluator's score is at least 0.5 away; a failure has no score."""
        return score is not None and abs(self.mean - score) >= _FAR


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueContext:
    """Context beyond the results; a detector without its facts finds nothing."""

    facts: Mapping[str, TestFacts] = field(default_factory=dict)
    """By test id."""
    temperatures: Mapping[str, float] = field(default_factory=dict)
    """Sampling temperature by LLM id."""
    previous_scores: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Mean score of the run to compare with, by LLM and test id."""
    suspicious_tests: Mapping[str, str] = field(default_factory=dict)
    """Test id to what item analysis says against the test."""
    people: Mapping[str, PeopleScore] = field(default_factory=dict)
    """`Result.answer_id` to the score that people give the answer."""
    pass_score: float = 1.0
    """Lowest score that passes a trial."""


T = TypeVar("T")
K = TypeVar("K", bound=StrEnum)
NO_FACTS = TestFacts()


class Trial:
    """A result as detectors see it.

    Attributes:
        result: The stored record.
        facts: What the test asks for, as far as it is known.
        lost_score: What is missing to a full score, 0.0 to 1.0; a failure loses nothing.
        is_lost: Whether the trial was scored, and not with a full score.
        is_zero: Whether the trial was scored with nothing.
        is_cut_off: Whether the token limit ended the response.
    """

    def __init__(self, result: Result, facts: TestFacts) -> None:
        self.result = result
        self.facts = facts
        self.lost_score = 0.0 if result.score is None else 1.0 - result.score
        self.is_lost = self.lost_score > 0.0
        self.is_zero = result.score == 0.0
        self.is_cut_off = result.finish_reason == "length"
        self._judged: dict[Callable[[Trial], Any], Any] = {}

    def once(self, judge: Callable[[Trial], T]) -> T:
        """Compute `judge(self)` once for all detectors."""
        if judge not in self._judged:
            self._judged[judge] = judge(self)
        verdict: T = self._judged[judge]
        return verdict

    @cached_property
    def split(self) -> ThinkingSplit:
        """Thinking and answer of the raw response."""
        return split_thinking(self.result.response)

    @property
    def answer(self) -> str:
        """The response without thinking."""
        return self.split.answer

    @cached_property
    def json(self) -> Extracted[Any] | None:
        """The JSON value in the answer and how it was found, or None."""
        return extract_json(self.answer, lambda _: True)


def shorten_quote(text: str, limit: int = 80) -> str:
    """Shorten model text to one line, for use as evidence."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


Check = Callable[[Trial], str | None]
"""Checks one trial; returns evidence, or None."""


FAILED = "detector_failed"
"""Id of the cause that reports users' detectors that could not be loaded or crashed."""
SEPARATOR = "\n"
"""Stands between the findings of a trial."""
EXPLAINS = "+"
"""Stands behind a finding that explains the lost score of its trial."""
_BLOCK_ENTRIES = 1 << 19


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialTable:
    """Trials in columns, one entry each."""

    trials: TrialColumns
    texts: TextColumns
    """What the reader of `build_reader` made of the same trials."""
    facts: Mapping[str, TestFacts]
    """By test id."""
    read: Callable[[NDArray[np.int64]], Iterable[Result]]
    """Reads some trials with their texts."""
    release: Callable[[], None] = lambda: None
    """Gives back what was read of columns that are in files."""

    def find(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Find the entries in which a check found something, and where that explains the loss."""
        import numpy as np

        codes = self.texts.columns["findings"]
        written = [text.split(SEPARATOR) for text in self.texts.values["findings"]]
        explained = np.array([*(name + EXPLAINS in names for names in written), False])
        found = explained | np.array([*(name in names for names in written), False])
        entries = np.flatnonzero(found[codes]) if found.any() else np.zeros(0, np.int64)
        return entries, explained[codes[entries]]

    def split(self) -> Iterator[tuple[int, TrialTable]]:
        """Yield the first entry of each block of whole models, and a table of the block.

        No detector compares models. What is looked for block by block takes no memory in proportion
        to the entries. If those of a model do not stand together, all are one block.
        """
        import numpy as np

        llms = self.trials.columns["llm_id"]
        starts = np.flatnonzero(llms[1:] != llms[:-1]) + 1
        if len(np.unique(llms[starts])) < len(starts) or np.any(llms[starts] == llms[:1]):
            starts = starts[:0]
        first = 0
        for end in [*starts.tolist(), len(llms)]:
            if end == len(llms) or end - first >= _BLOCK_ENTRIES:
                yield first, self._slice(first, end)
                self.release()
                first = end

    def _slice(self, first: int, end: int) -> TrialTable:
        if end - first == len(self.trials):
            return self
        entries = slice(first, end)
        return replace(
            self,
            trials=self.trials.pick(entries),
            texts=self.texts.pick(entries),
            read=lambda some: self.read(some + first),
        )

    def look(self, entries: NDArray[np.int64]) -> Iterable[Trial]:
        """Read some trials with their texts."""
        for result in self.read(entries):
            yield Trial(result, self.facts.get(result.test_id, NO_FACTS))

    def number_classes(self) -> NDArray[np.int64]:
        """Give each entry a number of its model and test class."""
        import numpy as np

        classes = TextCodes()
        of_test = [
            classes[self.facts.get(name, NO_FACTS).class_id]
            for name in self.trials.values["test_id"]
        ]
        codes = np.array(of_test, dtype=np.int64)[self.trials.columns["test_id"]]
        llms = self.trials.columns["llm_id"].astype(np.int64)
        numbers: NDArray[np.int64] = llms * max(1, len(classes)) + codes
        return numbers

    def number_tests(self) -> NDArray[np.int64]:
        """Give each entry a number of its model and test."""
        n_tests = max(1, len(self.trials.values["test_id"]))
        llms = self.trials.columns["llm_id"].astype("int64")
        numbers: NDArray[np.int64] = llms * n_tests + self.trials.columns["test_id"]
        return numbers


class Affected(NamedTuple):
    """Trials that a detector finds by looking at all of them."""

    entries: NDArray[np.int64]
    tell: Callable[[int, Trial], str]
    """Writes the evidence about one of them, by its place in `entries`."""


class Kind(NamedTuple):
    """One of several kinds of a fault, of which a trial has one at most."""

    find: Callable[[Trial], StrEnum | None]
    """Finds which of them a trial has."""
    value: StrEnum


Across = Callable[[TrialTable, IssueContext], Affected]
"""Checks all trials together."""


def always(_: Trial) -> bool:
    """The issue explains the lost score."""
    return True


def never(_: Trial) -> bool:
    """The issue costs no score by itself."""
    return False


class Among(StrEnum):
    """Trials that a detector receives; the fewer, the faster."""

    ALL = "all"
    LOST = "lost"
    """Scored below full score."""
    FAILED = "failed"
    """Failed to run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """One kind of issue and how it is found."""

    id: str
    """Stable short name, also for filters and URLs."""
    title: str
    severity: IssueSeverity
    meaning: str
    """Meaning in one sentence."""
    advice: str
    """Fix in one sentence."""
    check: Check | None = None
    """Looks at one trial, and at nothing else: what it finds is kept beside the stored results."""
    across: Across | None = None
    """Looks at all trials together, instead; such an issue costs no score by itself."""
    marks: Mapping[str, Check] = field(default_factory=dict)
    """Checks of single trials that `across` builds on, by names of their own."""
    kind: Kind | None = None
    """What `check` quotes, if it only does that: all kinds of a fault are looked for at once."""
    among: Among = Among.ALL
    """Which trials `check` is given."""
    explains_loss: Callable[[Trial], bool] = always
    """True if a trial's lost score is charged to it, where `check` finds something."""
    version: str = ""
    """Changes with code that is not part of this package."""


def build_detectors(
    texts: Mapping[K, tuple[str, str, str]],
    find: Callable[[Trial], K | None],
    quote: Callable[[Trial], str],
    *,
    severity: IssueSeverity = IssueSeverity.MEDIUM,
    among: Among = Among.ALL,
    explains_loss: Callable[[Trial], bool] = always,
    prefix: str = "",
) -> tuple[Detector, ...]:
    """Build one detector for each kind of a fault.

    Args:
        texts: Kind to title, meaning and advice.
        find: Finds which kind a trial has.
        quote: Gives the evidence for it.
        severity: Of all of them, as the other arguments.
        among: As in `Detector`.
        explains_loss: As in `Detector`.
        prefix: Of the ids, which are else the values of the kinds.
    """

    def check(kind: K, trial: Trial) -> str | None:
        return quote(trial) if trial.once(find) is kind else None

    return tuple(
        Detector(
            id=f"{prefix}{kind.value}",
            title=title,
            severity=severity,
            meaning=meaning,
            advice=advice,
            check=partial(check, kind),
            kind=Kind(find, kind),
            among=among,
            explains_loss=explains_loss,
        )
        for kind, (title, meaning, advice) in texts.items()
    )
