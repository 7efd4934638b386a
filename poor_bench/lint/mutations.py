"""Mutations: right answers slightly broken, and wrong answers dressed as right ones.

An evaluator that gives a broken answer the score of the right one does not see the difference; one
that gives a wrong answer a score because it mentions the right one can be talked round.
"""

from __future__ import annotations

import ast
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from poor_bench.errors import PoorBenchError
from poor_bench.extraction.fences import find_fenced_blocks
from poor_bench.lint.subject import EvaluatorFacts, LintSubject, find_right_answer
from poor_bench.safe_files import load_json_text


class Mutation(StrEnum):
    """How a right answer was changed so that it is wrong."""

    NUMBER = "number off by one"
    SIGN = "sign turned round"
    LABEL = "another label"
    VALUE = "one value changed"
    MISSING = "one part missing"
    ORDER = "order turned round"
    WORD = "one word changed"
    CODE = "one operator or constant changed"
    OTHER = "right answer of another test"
    ANNOUNCED = "wrong answer, announced as right"
    DENIED = "wrong answer after the right one, denied"


DRESSED = (Mutation.ANNOUNCED, Mutation.DENIED)
"""Wrong answers that look like right ones; the others are right answers that were broken."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_WORD = re.compile(r"[^\W\d_]{2,}")
_CHANGED_LINE = re.compile(r"(?<=\n[-+])(?![-+]{2} )[^\n]*\S")
_OPERATORS: Mapping[type[ast.AST], Callable[[], Any]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult, ast.Mod: ast.Mult, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
    ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
_MOST_CODE_MUTANTS = 4
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong answer made of a right one."""

    mutation: Mutation
    text: str
    undressed: str = ""
    """The same wrong answer by itself, of a dressed one."""
    change: str = ""
    """The changed line of code."""


@dataclass(frozen=True, slots=True)
class MutantScore:
    """What a mutant scored, and what it is held against, both 0.0 to 1.0."""

    test_id: str
    class_id: str
    mutation: Mutation
    text: str
    change: str
    """The changed line of code; empty for other answers."""
    score: float
    other_score: float
    """Of the right answer; of the same wrong answer by itself where the mutant dresses it."""

    @property
    def survives(self) -> bool:
        """True if a broken answer loses nothing, or a dressed one gains."""
        if self.mutation in DRESSED:
            return self.score > self.other_score + _ROUNDING
        return self.score >= self.other_score - _ROUNDING


@dataclass(frozen=True, slots=True)
class Survival:
    """How many mutants of a class survive."""

    class_id: str
    mutation: Mutation
    n_mutants: int
    survivors: tuple[MutantScore, ...]


def score_mutants(
    subjects: Sequence[LintSubject],
    facts: EvaluatorFacts,
    *,
    on_test: Callable[[], None] = lambda: None,
) -> Iterator[MutantScore]:
    """Score mutants of the right answers; tests without one, or that a model judges, are left out.

    Args:
        subjects: The tests.
        facts: Scores answers.
        on_test: Called after each test.
    """
    right = {subject.test.test_id: find_right_answer(subject, facts) for subject in subjects}
    by_class: dict[str, list[str]] = defaultdict(list)
    for subject in subjects:
        if answer := right[subject.test.test_id]:
            by_class[subject.test.class_id].append(answer)
    for subject in subjects:
        answer = right[subject.test.test_id]
        if answer and not facts.is_judged(subject.spec):
            others = [each for each in by_class[subject.test.class_id] if each != answer]
            rng = random.Random(f"0 {subject.test.test_id}")
            yield from _score_all(
                subject, answer, build_mutants(subject, answer, others, rng), facts
            )
        on_test()


def _score_all(
    subject: LintSubject, answer: str, mutants: Iterable[Mutant], facts: EvaluatorFacts
) -> Iterator[MutantScore]:
    test = subject.test
    try:
        right_score = facts.score(subject.spec, answer)
        if right_score <= _ROUNDING:
            return
        scores = {"": right_score}
        for mutant in mutants:
            score = scores[mutant.text] = facts.score(subject.spec, mutant.text)
            yield MutantScore(
                test.test_id,
                test.class_id,
                mutant.mutation,
                mutant.text,
                mutant.change,
                score,
                scores[mutant.undressed],
            )
    except PoorBenchError:
        return


def build_mutants(
    subject: LintSubject, answer: str, others: Sequence[str], rng: random.Random
) -> list[Mutant]:
    """Build wrong answers out of a right one; none is the right one again.

    Args:
        subject: The test.
        answer: Its right answer.
        others: Right answers of other tests of the class that differ from it.
        rng: Draws words and other tests.
    """
    broken = list(_break(answer, subject.labels, rng))
    if subject.parameters.get("compare") == "set":
        broken = [mutant for mutant in broken if mutant.mutation is not Mutation.ORDER]
    if others:
        broken.append(Mutant(Mutation.OTHER, rng.choice(others)))
    short = [mutant for mutant in broken if "\n" not in mutant.text and len(mutant.text) < 200]
    if short and "\n" not in answer:
        wrong = short[0].text
        denied = f"It is not {answer.strip()}. The answer is {wrong}."
        broken.append(Mutant(Mutation.ANNOUNCED, f"The answer is {wrong}.", wrong))
        broken.append(Mutant(Mutation.DENIED, denied, wrong))
    return [mutant for mutant in broken if mutant.text.strip() != answer.strip()]


def _break(answer: str, labels: Sequence[str], rng: random.Random) -> Iterator[Mutant]:
    stripped = answer.strip()
    if stripped in labels:
        others = [label for label in labels if label != stripped]
        yield Mutant(Mutation.LABEL, rng.choice(others))
        return
    if _NUMBER.fullmatch(stripped):
        yield Mutant(Mutation.NUMBER, _shift_by_one(stripped))
        yield Mutant(Mutation.SIGN, stripped[1:] if stripped[0] == "-" else f"-{stripped}")
        return
    value = _load(stripped)
    if isinstance(value, dict | list):
        yield from _break_json(value, rng)
        return
    code = _find_code(stripped)
    if code is not None:
        yield from _break_code(*code)
        return
    # Context and line numbers of a diff do not count: a mutant of those is right.
    changed = list(_CHANGED_LINE.finditer(stripped)) if "\n@@ " in stripped else []
    start, end = changed[-1].span() if changed else (0, len(stripped))
    for mutant in _break_text(stripped[start:end], rng):
        yield replace(mutant, text=f"{stripped[:start]}{mutant.text}{stripped[end:]}")


def _shift_by_one(number: str) -> str:
    """Add one to the last digit, whatever its place: 1.25 becomes 1.26."""
    places = len(number.partition(".")[2])
    return f"{float(number) + 10**-places:.{places}f}"


def _load(text: str) -> Any:
    try:
        return load_json_text(text)
    except (ValueError, PoorBenchError):
        return None


def _break_json(value: dict[str, Any] | list[Any], rng: random.Random) -> Iterator[Mutant]:
    places: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not places:
        return
    place = rng.choice(places)
    changed: Any = value.copy()
    changed[place] = _choose_other_value(changed[place], list(_find_items(value)))
    yield Mutant(Mutation.VALUE, _dump(changed))
    if len(places) > 1:
        rest: Any = value.copy()
        del rest[place]
        yield Mutant(Mutation.MISSING, _dump(rest))
    if isinstance(value, list) and value != value[::-1]:
        yield Mutant(Mutation.ORDER, _dump(value[::-1]))


def _find_items(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _choose_other_value(value: Any, known: Sequence[Any]) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, dict | list):
        return type(value)()
    others = [item for item in known if isinstance(item, str) and item != value]
    return others[0] if others else f"not {value}"


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _find_code(text: str) -> tuple[str, str, str] | None:
    """Find Python code: what stands before it, the code, what stands behind it."""
    blocks = find_fenced_blocks(text)
    body = blocks[-1].body if blocks else text
    try:
        tree = ast.parse(body)
    except (SyntaxError, ValueError, RecursionError):
        return None
    if not any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in tree.body):
        return None
    before, _, after = text.partition(body)
    return before, body, after


def _break_code(before: str, code: str, after: str) -> Iterator[Mutant]:
    original = ast.parse(code)
    lines = ast.unparse(original).splitlines()
    n_places = sum(1 for node in ast.walk(original) if _is_breakable(node))
    for place in range(min(n_places, _MOST_CODE_MUTANTS)):
        tree = ast.parse(code)
        node = [node for node in ast.walk(tree) if _is_breakable(node)][place]
        _break_node(node)
        changed = ast.unparse(tree)
        pairs = zip(lines, changed.splitlines(), strict=False)
        change = next((f"{a.strip()} -> {b.strip()}" for a, b in pairs if a != b), "")
        yield Mutant(Mutation.CODE, f"{before}{changed}\n{after}", change=change)


def _is_breakable(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp | ast.BoolOp):
        return type(node.op) in _OPERATORS
    if isinstance(node, ast.Compare):
        return type(node.ops[0]) in _OPERATORS
    return isinstance(node, ast.Return) and node.value is not None


def _break_node(node: Any) -> None:
    if isinstance(node, ast.Compare):
        node.ops[0] = _OPERATORS[type(node.ops[0])]()
    elif isinstance(node, ast.Return):
        node.value = ast.Constant(None)
    else:
        node.op = _OPERATORS[type(node.op)]()


def _break_text(text: str, rng: random.Random) -> Iterator[Mutant]:
    numbers = list(_NUMBER.finditer(text))
    if numbers:
        found = numbers[-1]
        wrong = f"{text[: found.start()]}{_shift_by_one(found[0])}{text[found.end() :]}"
        yield Mutant(Mutation.NUMBER, wrong)
    words = list(_WORD.finditer(text))
    if words:
        found = rng.choice(words)
        yield Mutant(Mutation.WORD, f"{text[: found.start()]}zebra{text[found.end() :]}")
    if len(words) > 1:
        yield Mutant(Mutation.MISSING, " ".join(text.split()[:-1]))


def count_survivors(scores: Iterable[MutantScore]) -> list[Survival]:
    """Count the survivors of each class and mutation, in the order of their first appearance."""
    totals: Counter[tuple[str, Mutation]] = Counter()
    survivors: dict[tuple[str, Mutation], list[MutantScore]] = defaultdict(list)
    for item in scores:
        key = item.class_id, item.mutation
        totals[key] += 1
        if item.survives:
            survivors[key].append(item)
    return [
        Survival(class_id, mutation, total, tuple(survivors[class_id, mutation]))
        for (class_id, mutation), total in totals.items()
    ]
