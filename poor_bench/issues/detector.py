"""Issues, facts about tests and trials, and the definition of a detector."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeVar

from poor_bench.extraction.found import Extracted
from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.thinking import ThinkingSplit, split_thinking
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.models.test import EvaluatorSpec, Test, TestClass, merge_specs
from poor_bench.scoring.older_results import guess_format
from poor_bench.scoring.verdict import AnswerFormat


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


Wants = Callable[[EvaluatorSpec], AnswerFormat | None]
"""Asks an evaluator which answer format it wants; None where it is silent."""


def _is_silent(_: EvaluatorSpec) -> AnswerFormat | None:
    return None


def build_context(
    tests: Mapping[str, Test],
    test_classes: Mapping[str, TestClass],
    llms: Mapping[str, LLM],
    wants: Wants = _is_silent,
) -> IssueContext:
    """Collect the context of a workspace; add more with `dataclasses.replace`.

    Args:
        tests: By test id; those whose class or evaluator is unknown are left out.
        test_classes: By class id.
        llms: By LLM id.
        wants: Asks evaluators for the format that they want.
    """
    facts = {}
    for test_id, test in tests.items():
        test_class = test_classes.get(test.class_id)
        if test_class is not None and (test.evaluator or test_class.evaluator):
            spec = merge_specs(test_class.evaluator, test.evaluator)
            facts[test_id] = describe_test(test.class_id, spec, wants)
    temperatures = {
        llm_id: float(llm.parameters["temperature"])
        for llm_id, llm in llms.items()
        if isinstance(llm.parameters.get("temperature"), int | float)
    }
    return IssueContext(facts=facts, temperatures=temperatures)


def describe_test(class_id: str, evaluator: EvaluatorSpec, wants: Wants = _is_silent) -> TestFacts:
    """Derive the requirements of a test from its evaluator.

    Args:
        class_id: The test's class.
        evaluator: Name and merged parameters, see `merge_specs`.
        wants: Asks the evaluator for the format that it wants.

    Example:
        >>> spec = EvaluatorSpec("sentiment_evaluator", {"expected_sentiments": ["good", "bad"]})
        >>> describe_test("mood", spec).n_items
        2
    """
    parameters = evaluator.parameters
    function_name = parameters.get("function_name")
    expected = next(
        (
            value
            for key, value in parameters.items()
            if key.startswith("expected") and isinstance(value, list)
        ),
        None,
    )
    return TestFacts(
        class_id=class_id,
        wanted=wants(evaluator) or guess_format(parameters),
        n_items=None if expected is None else len(expected),
        function_name=function_name if isinstance(function_name, str) else "",
    )


T = TypeVar("T")


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


Check = Callable[[Trial, IssueContext], str | None]
"""Checks one trial; returns evidence, or None."""

Find = Callable[[Sequence[Trial], IssueContext], Iterable[tuple[Trial, str]]]
"""Checks all trials together; yields affected ones with evidence."""


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

    def includes(self, trial: Trial) -> bool:
        """True if a trial belongs to these."""
        if self is Among.LOST:
            return trial.is_lost
        return self is Among.ALL or trial.result.score is None


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
    find: Find
    among: Among = Among.ALL
    """Which trials `find` is given."""
    explains_loss: Callable[[Trial], bool] = always
    """True if a trial's lost score is charged to it."""


def each(check: Check) -> Find:
    """Build the finder that applies `check` to every trial."""

    def find(trials: Sequence[Trial], context: IssueContext) -> Iterable[tuple[Trial, str]]:
        for trial in trials:
            evidence = check(trial, context)
            if evidence is not None:
                yield trial, evidence

    return find
