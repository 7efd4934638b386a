"""Cheats: answers that need no model, and what they score.

A test that a cheat passes measures nothing. Each cheat answers every test of a class without
understanding it: with one constant, with the prompt itself, with all options at once, and so on.
What they scored is kept beside the index of results; deleting the file loses nothing else.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from statistics import fmean, stdev

from poor_bench.config.document import write_atomically
from poor_bench.errors import PoorBenchError
from poor_bench.lint import CHEATS_FILE
from poor_bench.lint.subject import EvaluatorFacts, LintSubject, find_right_answer
from poor_bench.messages import write_count
from poor_bench.safe_files import load_json_text
from poor_bench.scoring.verdict import AnswerFormat
from poor_bench.statistics.summary import FloorRow


class Cheat(StrEnum):
    """An answer that needs no model."""

    CONSTANT = "constant"
    FREQUENT = "most frequent answer"
    ECHO = "echo of the prompt"
    RANDOM = "random answer"
    HEDGE = "all options at once"
    LONGEST = "longest answer"
    REFUSAL = "refusal"
    PROMPT_NUMBER = "number in the prompt"


MEANINGS: Mapping[Cheat, str] = {
    Cheat.CONSTANT: "the same short answer to every test",
    Cheat.FREQUENT: "the right answer of most other tests of the class",
    Cheat.ECHO: "the prompt itself",
    Cheat.RANDOM: "the right answer of a random other test of the class",
    Cheat.HEDGE: "all right answers of the class in one answer",
    Cheat.LONGEST: "the choice with the longest text, or the longest right answer of the class",
    Cheat.REFUSAL: "a polite refusal",
    Cheat.PROMPT_NUMBER: "the last number of the prompt",
}
_NEVER_RIGHT = (Cheat.ECHO, Cheat.REFUSAL)
"""Cheats that no sound test rewards; the others are right by chance now and then."""
_REFUSAL = "I'm sorry, but I can't help with that."
_CONSTANTS = {
    AnswerFormat.NUMBER: "1",
    AnswerFormat.JSON_OBJECT: "{}",
    AnswerFormat.JSON_LIST: "[]",
    AnswerFormat.JSON: "{}",
    AnswerFormat.LIST: "1, 2, 3",
    AnswerFormat.EXPRESSION: "x",
    AnswerFormat.CODE: "```python\npass\n```",
}
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:[.,]\d+)*(?!\w)")
_RANDOM_DRAWS = 5
_MOST_OPTIONS = 60
_LEAST_TESTS = 4
"""Tests of a class below which only single tests are judged."""
_Z_99 = 2.326
_LEAST_GAIN = 0.15
_CHANCE_OF_TWO = 0.5
_REWARDED = 0.5


@dataclass(frozen=True, slots=True)
class CheatScore:
    """What a cheat scored on a test, 0.0 to 1.0; None where it could not be scored."""

    test_id: str
    cheat: Cheat
    score: float | None


@dataclass(frozen=True, slots=True)
class Weakness:
    """A class or a test that a cheat passes."""

    class_id: str
    cheat: Cheat
    score: float
    """Mean over the tests that are named, 0.0 to 1.0."""
    test_ids: tuple[str, ...]
    """The tests that reward the cheat."""
    of_class: bool
    """True if the class as a whole is passed."""

    @property
    def text(self) -> str:
        """What is wrong, in one sentence."""
        tests = write_count(len(self.test_ids), "test")
        where = "the whole class" if self.of_class else tests
        return f"{MEANINGS[self.cheat]} scores {self.score:.2f} in {where}"


def score_cheats(
    subjects: Sequence[LintSubject],
    facts: EvaluatorFacts,
    *,
    seed: int = 0,
    on_test: Callable[[], None] = lambda: None,
) -> Iterator[CheatScore]:
    """Score every cheat on every test; tests that a model judges are left out, as they cost money.

    Args:
        subjects: The tests.
        facts: Scores answers.
        seed: Of the random answers.
        on_test: Called after each test.
    """
    of_class: dict[str, list[LintSubject]] = defaultdict(list)
    for subject in subjects:
        of_class[subject.test.class_id].append(subject)
    for members in of_class.values():
        keys = [find_right_answer(subject, facts) for subject in members]
        for place, subject in enumerate(members):
            others = [key for key in (*keys[:place], *keys[place + 1 :]) if key]
            if not facts.is_judged(subject.spec):
                yield from _score_test(subject, others, facts, seed)
            on_test()


def _score_test(
    subject: LintSubject, others: Sequence[str], facts: EvaluatorFacts, seed: int
) -> Iterator[CheatScore]:
    for cheat, answers in build_answers(subject, others, facts, seed=seed).items():
        scores = [_score(subject, answer, facts) for answer in answers]
        known = [score for score in scores if score is not None]
        yield CheatScore(subject.test.test_id, cheat, fmean(known) if known else None)


def _score(subject: LintSubject, answer: str, facts: EvaluatorFacts) -> float | None:
    try:
        return facts.score(subject.spec, answer)
    except PoorBenchError:
        return None


def build_answers(
    subject: LintSubject, others: Sequence[str], facts: EvaluatorFacts, *, seed: int = 0
) -> dict[Cheat, tuple[str, ...]]:
    """Build what each cheat answers to a test; where it has several answers, their mean counts.

    Args:
        subject: The test.
        others: Right answers of the other tests of its class.
        facts: Says the wanted format.
        seed: Of the random answers.
    """
    labels = subject.labels
    texts = [str(text) for text in subject.parameters.get("choices") or ()]
    options = list(dict.fromkeys(labels or others))[:_MOST_OPTIONS]
    prompt = subject.prompts[0].text if subject.prompts else subject.content
    numbers = _NUMBER.findall(subject.content)
    answers: dict[Cheat, tuple[str, ...]] = {
        Cheat.CONSTANT: (labels[0] if labels else _write_constant(subject, facts),),
        Cheat.ECHO: (prompt,),
        Cheat.REFUSAL: (_REFUSAL,),
    }
    if others:
        answers[Cheat.FREQUENT] = (Counter(others).most_common(1)[0][0],)
    if options:
        rng = random.Random(f"{seed} {subject.test.test_id}")
        pool = labels or list(others)
        answers[Cheat.RANDOM] = tuple(rng.choice(pool) for _ in range(_RANDOM_DRAWS))
        answers[Cheat.HEDGE] = (_hedge(options),) if len(options) > 1 else ()
        longest = labels[texts.index(max(texts, key=len))] if texts else max(options, key=len)
        answers[Cheat.LONGEST] = (longest,)
    if numbers:
        answers[Cheat.PROMPT_NUMBER] = (numbers[-1],)
    return {cheat: texts for cheat, texts in answers.items() if texts}


def _write_constant(subject: LintSubject, facts: EvaluatorFacts) -> str:
    try:
        wanted = facts.wants(subject.spec)
    except PoorBenchError:
        wanted = None
    return _CONSTANTS.get(wanted, "yes") if wanted else "yes"


def _hedge(options: Sequence[str]) -> str:
    values = [_parse(option) for option in options]
    lists = [value for value in values if isinstance(value, list)]
    if len(lists) < len(options):
        return " or ".join(options)
    items = {json.dumps(item, sort_keys=True): item for value in lists for item in value}
    return json.dumps(list(items.values()), ensure_ascii=False)


def _parse(text: str) -> object:
    try:
        return load_json_text(text)
    except ValueError:
        return None


def build_floor(scores: Iterable[CheatScore], test_ids: Container[str]) -> list[FloorRow]:
    """Build the rows under a leaderboard: the mean score of each cheat, the best first.

    A test that a cheat has no answer to counts as 0.

    Args:
        scores: Of `score_cheats`.
        test_ids: The tests that count.
    """
    known = [item for item in scores if item.score is not None and item.test_id in test_ids]
    n_tests = len({item.test_id for item in known})
    totals: dict[Cheat, float] = defaultdict(float)
    for item in known:
        totals[item.cheat] += item.score or 0.0
    rows = [
        FloorRow(cheat.value, MEANINGS[cheat], total / n_tests, n_tests)
        for cheat, total in totals.items()
    ]
    return sorted(rows, key=lambda row: -row.score)


def find_weaknesses(
    scores: Iterable[CheatScore], class_of: Mapping[str, str]
) -> Iterator[Weakness]:
    """Yield what the scores of cheats say against classes and tests.

    A class is weak if a cheat scores more than random answers by 0.15 and significantly so (99 %),
    or random answers score significantly more than one half. An echo or a refusal that a single
    test rewards says that the test is weak, since no sound test does.

    Args:
        scores: Of `score_cheats`.
        class_of: Test id to class id; tests that it does not name are left out.

    Simulated by `benchmarks/statistics/cheats.py`.
    """
    table: dict[str, dict[Cheat, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for item in scores:
        if item.score is not None and item.test_id in class_of:
            table[class_of[item.test_id]][item.cheat][item.test_id] = item.score
    for class_id, by_cheat in table.items():
        chance = by_cheat.get(Cheat.RANDOM, {})
        for cheat, of_test in by_cheat.items():
            yield from _judge_cheat(class_id, cheat, of_test, chance)


def _judge_cheat(
    class_id: str, cheat: Cheat, of_test: Mapping[str, float], chance: Mapping[str, float]
) -> Iterator[Weakness]:
    rewarding = tuple(test_id for test_id, score in of_test.items() if score >= _REWARDED)
    mean = fmean(of_test.values())
    if len(of_test) >= _LEAST_TESTS and _is_passed(cheat, of_test, chance):
        yield Weakness(class_id, cheat, mean, rewarding, of_class=True)
    elif cheat in _NEVER_RIGHT and rewarding:
        of_rewarding = fmean(of_test[test_id] for test_id in rewarding)
        yield Weakness(class_id, cheat, of_rewarding, rewarding, of_class=False)


def _is_passed(cheat: Cheat, of_test: Mapping[str, float], chance: Mapping[str, float]) -> bool:
    if cheat is Cheat.RANDOM:
        return _lower_limit([score - _CHANCE_OF_TWO for score in of_test.values()]) > 0
    gains = [score - chance.get(test_id, 0.0) for test_id, score in of_test.items()]
    return _lower_limit(gains) > 0 and fmean(gains) >= _LEAST_GAIN


def _lower_limit(values: Sequence[float]) -> float:
    """Bound the mean from below with 99 % confidence; two values are added for small samples."""
    padded = [*values, -_CHANCE_OF_TWO, _CHANCE_OF_TWO]
    return fmean(padded) - _Z_99 * stdev(padded) / math.sqrt(len(padded))


_VERSION = 1


def identify_tests(subjects: Iterable[LintSubject], facts: EvaluatorFacts) -> str:
    """Compute what changes whenever a test, a prompt or an evaluator does, in hexadecimal."""
    total = hashlib.sha256()
    for subject in subjects:
        test, spec = subject.test, subject.spec
        prompts = [prompt.text for prompt in subject.prompts[:1]]
        parts = [test.test_id, test.class_id, test.reference_response, subject.content, prompts]
        own = [spec.name, dict(spec.parameters), facts.code_digest(spec)]
        total.update(json.dumps([parts, own], default=str).encode())
    return total.hexdigest()


def read_measuring_time(data_dir: Path) -> int | None:
    """Read when cheats were last scored, in nanoseconds; None if they were not."""
    try:
        return CheatFile(data_dir).path.stat().st_mtime_ns
    except OSError:
        return None


class CheatFile:
    """The file `CHEATS_FILE` of a workspace.

    Args:
        data_dir: Folder of the workspace.
    """

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / CHEATS_FILE

    def save(self, identity: str, scores: Iterable[CheatScore]) -> None:
        """Replace the file.

        Raises:
            ConfigError: If it cannot be written; the old file stays.
        """
        rows = [[item.test_id, item.cheat.value, item.score] for item in scores]
        document = {"version": _VERSION, "tests": identity, "scores": rows}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, json.dumps(document))

    def load(self, identity: str) -> Sequence[CheatScore]:
        """Read the scores; empty without the file, or if the tests have changed since."""
        try:
            document = load_json_text(self.path.read_text(encoding="utf-8"))
            if document["version"] != _VERSION or document["tests"] != identity:
                return ()
            return tuple(
                CheatScore(str(test_id), Cheat(cheat), None if score is None else float(score))
                for test_id, cheat, score in document["scores"]
            )
        except (OSError, ValueError, TypeError, KeyError, PoorBenchError):
            return ()
