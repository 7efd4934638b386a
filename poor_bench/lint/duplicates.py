"""Find tests that ask the same, or nearly the same, twice, without comparing each with each."""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from poor_bench.lint.subject import EvaluatorFacts, Finding, LintSubject
from poor_bench.messages import join_names, write_share
from poor_bench.models.problem import Severity

_SHINGLE = 5
"""Characters in a row that are compared as one."""


def find_similar_pairs(texts: Sequence[str], threshold: float) -> Iterator[tuple[int, int, float]]:
    """Yield the pairs of texts that share at least `threshold` of their shingles.

    Every text is indexed only by its rarest shingles, just so many that two texts that are
    similar enough share one of them; so few pairs are ever compared, and none is missed.

    Args:
        texts: Any number of texts.
        threshold: Jaccard similarity of the sets of shingles, above 0 and up to 1.

    Yields:
        Index of the earlier text, index of the later one, similarity.

    Source:
        Bayardo, Ma, Srikant 2007, "Scaling Up All Pairs Similarity Search" (prefix filtering).
    """
    shingles = [_split_shingles(text) for text in texts]
    frequency = Counter(shingle for members in shingles for shingle in members)
    holders: dict[str, list[int]] = defaultdict(list)
    for index, members in enumerate(shingles):
        rarest_first = sorted(members, key=lambda shingle: (frequency[shingle], shingle))
        prefix = rarest_first[: len(members) - math.ceil(threshold * len(members)) + 1]
        candidates = {other for shingle in prefix for other in holders[shingle]}
        for other in sorted(candidates):
            similarity = _compute_jaccard(shingles[other], members)
            if similarity >= threshold:
                yield other, index, similarity
        for shingle in prefix:
            holders[shingle].append(index)


def _split_shingles(text: str) -> frozenset[str]:
    return frozenset(text[start : start + _SHINGLE] for start in range(len(text) - _SHINGLE + 1))


def _compute_jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared) if shared else 0.0


_SIMILARITY = 0.9
_SPACES_AT_SIGNS = re.compile(r"(?<!\w)\s+|\s+(?!\w)")
_MIN_LENGTH = 40
"""Characters below which texts of different tests are alike by nature."""


def check_duplicates(subjects: Sequence[LintSubject], facts: EvaluatorFacts) -> Iterator[Finding]:
    """Find tests of one class with the same text, and long ones that hardly differ.

    Texts with other numbers in them are other tests. Tests that ask the same and expect something
    else contradict each other.
    """
    groups: dict[tuple[str, str], list[LintSubject]] = defaultdict(list)
    for subject in subjects:
        groups[subject.test.class_id, _write_key(subject)].append(subject)
    for first, *others in groups.values():
        for other in others:
            yield _report_duplicate(other, first, facts)
    different = [first for first, *_ in groups.values()]
    yield from _find_near_duplicates(different)
    yield from _find_templates(different)


def _report_duplicate(subject: LintSubject, first: LintSubject, facts: EvaluatorFacts) -> Finding:
    if _describe_expectation(subject, facts) == _describe_expectation(first, facts):
        return subject.finding(
            "duplicate-test",
            (),
            f"this is the same question as `{first.test.test_id}`",
            hint="remove one of them: the question counts twice",
        )
    return subject.finding(
        "contradicting-tests",
        (),
        f"this is the same question as `{first.test.test_id}`, but expects something else",
        hint="correct one of them: no response can pass both",
        severity=Severity.ERROR,
    )


def _find_near_duplicates(subjects: Sequence[LintSubject]) -> Iterator[Finding]:
    of_class: dict[tuple[str, tuple[str, ...]], list[LintSubject]] = defaultdict(list)
    for subject in subjects:
        if len(subject.content) >= _MIN_LENGTH:
            numbers = tuple(re.findall(r"\d+", subject.content))
            of_class[subject.test.class_id, numbers].append(subject)
    for members in of_class.values():
        texts = [_normalise(member.content) for member in members]
        for first, second, similarity in find_similar_pairs(texts, _SIMILARITY):
            if members[first].test.group is not None and (
                members[first].test.group == members[second].test.group
            ):
                continue
            yield members[second].finding(
                "near-duplicate",
                (),
                f"this is nearly the same as `{members[first].test.test_id}` "
                f"({write_share(similarity)} alike)",
                hint="keep one of them, or give both the same `group`: they are not independent",
            )


def _find_templates(subjects: Sequence[LintSubject]) -> Iterator[Finding]:
    """Find long texts that differ only in numbers, without a group; once for each template."""
    of_template: dict[tuple[str, str], list[LintSubject]] = defaultdict(list)
    for subject in subjects:
        text = re.sub(r"\d+", "0", _normalise(subject.content))
        if len(text) >= _MIN_LENGTH and subject.test.group is None:
            of_template[subject.test.class_id, text].append(subject)
    for first, *others in of_template.values():
        if others:
            yield first.finding(
                "shared-template",
                (),
                f"it differs from {join_names([other.test.test_id for other in others], limit=5)} "
                "only in numbers",
                hint="give them the same `group`: confidence intervals then count them as one",
            )


def _write_key(subject: LintSubject) -> str:
    fields = json.dumps(dict(subject.test.fields), sort_keys=True, default=str)
    return f"{_normalise(subject.content)}\n{fields}"


def _normalise(text: str) -> str:
    """Remove differences of case, and spaces that part no words."""
    return _SPACES_AT_SIGNS.sub("", re.sub(r"\s+", " ", text)).casefold()


def _describe_expectation(subject: LintSubject, facts: EvaluatorFacts) -> str:
    """Build a key that two tests share if the same answers are right."""
    spec = subject.spec
    right = facts.reference(spec)
    return right or json.dumps([spec.name, dict(spec.parameters)], sort_keys=True, default=str)
