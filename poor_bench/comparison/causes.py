"""What changed between two runs of one model, as single factors: prompt hunks, parameters, ...

Prompts are taken as they were sent, from the results themselves: no template needs to be kept. The
text of the test in them is one piece, so that the same edit of a template is the same hunk in all
tests of a class.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import chain
from typing import Any, NamedTuple

from poor_bench.comparison.result_set import ResultSet, RunFacts, group_by_test, list_scores
from poor_bench.comparison.side_rows import describe_machine, find_machine_problem
from poor_bench.messages import cut_text
from poor_bench.models.result import Result
from poor_bench.models.test import Test

NOT_SET = object()
"""Value of a parameter that a side does not set."""
_ABSENT = "(not set)"
_SHOWN = 60
_TEXT = "\0text\0"
"""Stands for the text of the test while prompts are compared."""


class Factor(NamedTuple):
    """One change that re-runs can make or take back."""

    kind: str
    """`prompt` or `parameter`."""
    name: str
    """What it is, such as `temperature`, or `prompt of class math, hunk 2 of 3`."""
    change: str
    """What happened to it, such as `0 -> 0.7`."""

    @property
    def text(self) -> str:
        """Text for screens."""
        return f"{self.name} ({self.change})"


class Segment(NamedTuple):
    """Lines of a prompt; both sides are the same where `factor` is None."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    factor: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TestBothWays:
    """One test with a score in both runs, and its prompts in pieces."""

    __test__ = False

    test: Test
    scores_before: tuple[float, ...]
    """Of each trial, at least one; 0.0 to 1.0."""
    scores_after: tuple[float, ...]
    system: tuple[Segment, ...]
    user: tuple[Segment, ...]

    @property
    def before(self) -> float:
        """Mean score over trials, 0.0 to 1.0."""
        return sum(self.scores_before) / len(self.scores_before)

    @property
    def after(self) -> float:
        """As `before`."""
        return sum(self.scores_after) / len(self.scores_after)

    @property
    def factors(self) -> set[int]:
        """Hunks in its prompts."""
        return {part.factor for part in (*self.system, *self.user) if part.factor is not None}

    def prompts(self, states: Sequence[bool]) -> tuple[str, str]:
        """Build system prompt and user message; a factor in state True is as it is after."""
        return _join(self.system, states), _join(self.user, states)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFacts:
    """All that changed between two runs of one model."""

    llm_id: str
    tests: tuple[TestBothWays, ...]
    factors: tuple[Factor, ...]
    """What re-runs can change: hunks first, then parameters."""
    parameters: tuple[Mapping[str, Any], ...] = ()
    """All parameters before and after; empty if they are not known."""
    parameter_names: Mapping[int, str] = field(default_factory=dict)
    """Factor to the parameter that it is."""
    fixed: tuple[str, ...] = ()
    """What re-runs cannot take back: model digest, server, machine, facts that are not recorded."""
    digests_after: frozenset[str] = frozenset()
    """Model digests of the later run; empty if unknown."""
    remarks: tuple[str, ...] = ()
    """Tests that are left out, and why."""

    def concerns(self, test: TestBothWays) -> tuple[bool, ...]:
        """Tell for each factor whether it concerns a test."""
        return tuple(
            factor in self.parameter_names or factor in test.factors
            for factor in range(len(self.factors))
        )

    def choose_parameters(self, states: Sequence[bool]) -> dict[str, Any]:
        """Build the parameters with some of them as they are after (True), others as before."""
        before, after = self.parameters
        reverted = {name for factor, name in self.parameter_names.items() if not states[factor]}
        kept = {name: value for name, value in after.items() if name not in reverted}
        return kept | {name: value for name, value in before.items() if name in reverted}


def find_changed_facts(
    before: ResultSet,
    after: ResultSet,
    llm_id: str,
    tests: Mapping[str, Test],
    known_parameters: Mapping[str, Mapping[str, Any]],
) -> ChangedFacts:
    r"""List what changed between two runs of one model, on the tests that both have scored.

    Args:
        before: The earlier run.
        after: The later run.
        llm_id: The model.
        tests: Tests of the workspace by id; results of others are left out.
        known_parameters: Fingerprint of model and parameters to the parameters, for runs that
            recorded the fingerprint only.

    Example:
        >>> test = Test(test_id="t", class_id="c", level=1, text="1+1")
        >>> def side(name: str, prompt: str) -> ResultSet:
        ...     result = Result(llm_id="a", test_id="t", score=1.0, prompt=prompt)
        ...     return ResultSet(name=name, results=(result,))
        >>> facts = find_changed_facts(
        ...     side("old", "Solve 1+1\nBe brief."), side("new", "Solve 1+1"), "a", {"t": test}, {}
        ... )
        >>> [factor.text for factor in facts.factors]
        ["prompt of class c, hunk 1 of 1 ('Be brief.' removed)"]
    """
    runs = {**before.runs, **after.runs}
    sides = [_select_scored(side, llm_id) for side in (before, after)]
    common = [test_id for test_id in sides[1] if test_id in sides[0] and test_id in tests]
    usual, left_out = _select_most_usual(common, sides, runs, llm_id)
    old, new = ([result for test_id in usual for result in side[test_id]] for side in sides)
    parameters = [_find_parameters(side, runs, llm_id, known_parameters) for side in (old, new)]
    hunks = _Hunks()
    both = tuple(hunks.add(tests[t], sides[0][t], sides[1][t]) for t in usual)
    factors = hunks.name_factors()
    told = [each for each in parameters if each is not None]
    names = _list_changed(told) if len(told) == 2 else []
    numbers = dict(enumerate(names, len(factors)))
    factors += [Factor("parameter", name, _describe_parameter_change(told, name)) for name in names]
    return ChangedFacts(
        llm_id=llm_id,
        tests=hunks.settle(both),
        factors=tuple(factors),
        parameters=tuple(told) if len(told) == 2 else (),
        parameter_names=numbers,
        fixed=tuple(_find_fixed(old, new, runs, llm_id, parameters, n_unknown=hunks.n_unknown)),
        digests_after=frozenset(result.model_digest for result in new if result.model_digest),
        remarks=tuple(left_out),
    )


def list_changed_facts(
    before: ResultSet, after: ResultSet, llm_id: str, tests: Mapping[str, Test]
) -> tuple[str, ...]:
    """List what changed between two result sets of one model, each in a few words."""
    facts = find_changed_facts(before, after, llm_id, tests, {})
    return (*(factor.text for factor in facts.factors), *facts.fixed, *facts.remarks)


def _select_scored(side: ResultSet, llm_id: str) -> dict[str, list[Result]]:
    return group_by_test([r for r in side.results if r.llm_id == llm_id and r.score is not None])


def _select_most_usual(
    common: Sequence[str],
    sides: Sequence[Mapping[str, Sequence[Result]]],
    runs: Mapping[str, RunFacts],
    llm_id: str,
) -> tuple[list[str], list[str]]:
    """Select the tests with the most frequent pair of settings, and say how many are left out."""
    prints = {run_id: facts.llm_fingerprints.get(llm_id, "") for run_id, facts in runs.items()}

    def settings(test_id: str) -> tuple[frozenset[str], ...]:
        return tuple(
            frozenset(prints.get(result.run_id, "") for result in side[test_id]) for side in sides
        )

    found = {test_id: settings(test_id) for test_id in common}
    counts = Counter(found.values())
    if len(counts) < 2:
        return list(common), []
    usual = counts.most_common(1)[0][0]
    kept = [test_id for test_id in common if found[test_id] == usual]
    n_left = len(common) - len(kept)
    return kept, [f"{n_left} tests were run with other parameters than the rest, and are left out"]


def _find_parameters(
    results: Sequence[Result],
    runs: Mapping[str, RunFacts],
    llm_id: str,
    known: Mapping[str, Mapping[str, Any]],
) -> Mapping[str, Any] | None:
    """Find the parameters of the newest run of a side; None if they are not known."""
    for run_id in sorted({result.run_id for result in results} & runs.keys(), reverse=True):
        facts = runs[run_id]
        if llm_id in facts.parameters:
            return facts.parameters[llm_id]
        if facts.llm_fingerprints.get(llm_id) in known:
            return known[facts.llm_fingerprints[llm_id]]
    return None


def _list_changed(parameters: Sequence[Mapping[str, Any]]) -> list[str]:
    before, after = parameters
    names = sorted({*before, *after})
    return [name for name in names if before.get(name, NOT_SET) != after.get(name, NOT_SET)]


def _describe_parameter_change(parameters: Sequence[Mapping[str, Any]], name: str) -> str:
    texts = (
        cut_text(json.dumps(each[name], default=str), _SHOWN) if name in each else _ABSENT
        for each in parameters
    )
    return " -> ".join(texts)


def _find_fixed(
    old: Sequence[Result],
    new: Sequence[Result],
    runs: Mapping[str, RunFacts],
    llm_id: str,
    parameters: Sequence[Mapping[str, Any] | None],
    *,
    n_unknown: int,
) -> list[str]:
    """List what differs and cannot be taken back by re-runs."""
    sides = (old, new)
    facts = [[runs[i] for i in {r.run_id for r in side} if i in runs] for side in sides]
    found = []
    digests = [{r.model_digest for r in side if r.model_digest} for side in sides]
    if all(digests) and digests[0] != digests[1]:
        found.append(f"model digest {_list(digests[0], 12)} -> {_list(digests[1], 12)}")
    servers = [{f.servers[llm_id] for f in side if f.servers.get(llm_id)} for side in facts]
    if all(servers) and servers[0] != servers[1]:
        found.append(f"server {_list(servers[0])} -> {_list(servers[1])}")
    machines = [[machine for f in side for machine in f.measured_on] for side in facts]
    if all(machines) and find_machine_problem([machines[0][0], machines[1][0]]):
        found.append(
            f"machine {describe_machine(machines[0][0])} -> {describe_machine(machines[1][0])}"
        )
    versions = [{f.program for f in side if f.program} for side in facts]
    if all(versions) and versions[0] != versions[1]:
        found.append(f"poor_bench {_list(versions[0])} -> {_list(versions[1])}")
    prints = [{f.llm_fingerprints.get(llm_id, "") for f in side} - {""} for side in facts]
    if None in parameters and all(prints) and prints[0] != prints[1]:
        found.append("parameters (an older run recorded only that they changed)")
    if n_unknown:
        found.append(f"prompt of {n_unknown} tests (an older run did not record it)")
    return found


def _list(values: set[str], length: int = _SHOWN) -> str:
    return ", ".join(sorted(cut_text(value, length) for value in values))


_Key = tuple[str, str, str, str]
"""Class (empty for system prompts), part, lines before, lines after."""


class _Hunks:
    """Hunks of all prompts; equal ones of a class are one."""

    def __init__(self) -> None:
        self._keys: dict[_Key, int] = {}
        self._n_tests: Counter[_Key] = Counter()
        self._places: dict[int, int] = {}
        self.n_unknown = 0

    def add(self, test: Test, before: Sequence[Result], after: Sequence[Result]) -> TestBothWays:
        old, new = before[0], after[0]
        self.n_unknown += bool(old.prompt) != bool(new.prompt)
        is_known = bool(old.prompt and new.prompt)
        old, new = (old, new) if is_known else (new, new)
        return TestBothWays(
            test=test,
            scores_before=list_scores(before),
            scores_after=list_scores(after),
            system=self._split("", "system", test, old.system_prompt, new.system_prompt),
            user=self._split(test.class_id, "user", test, old.prompt, new.prompt),
        )

    def _split(
        self, class_id: str, part: str, test: Test, before: str, after: str
    ) -> tuple[Segment, ...]:
        if before == after:
            return (Segment((before,), (after,), None),)
        content = test.text or (
            json.dumps(list(test.texts), ensure_ascii=False) if test.texts else ""
        )
        old, new = (
            (text.replace(content, _TEXT) if content else text).split("\n")
            for text in (before, after)
        )
        segments = []
        for left, right, is_equal in _align(old, new):
            key = class_id, part, "\n".join(left), "\n".join(right)
            factor = None if is_equal else self._number(key)
            filled = [
                tuple(line.replace(_TEXT, content) for line in lines) for lines in (left, right)
            ]
            segments.append(Segment(filled[0], filled[1], factor))
        return tuple(segments)

    def _number(self, key: _Key) -> int:
        self._n_tests[key] += 1
        return self._keys.setdefault(key, len(self._keys))

    def name_factors(self) -> list[Factor]:
        """Name the hunks; those of single tests of a class become one factor."""
        groups: dict[tuple[str, str, bool], list[_Key]] = {}
        for key in self._keys:
            groups.setdefault((key[0], key[1], self._is_own(key)), []).append(key)
        factors: list[Factor] = []
        for (class_id, part, is_own), keys in groups.items():
            subject = "system prompt" if part == "system" else f"prompt of class {class_id}"
            if is_own:
                self._places |= {self._keys[key]: len(factors) for key in keys}
                factors.append(Factor("prompt", f"{subject}, edits of single tests", "edited"))
                continue
            for number, key in enumerate(keys, 1):
                self._places[self._keys[key]] = len(factors)
                name = f"{subject}, hunk {number} of {len(keys)}"
                factors.append(Factor("prompt", name, _describe_edit(key[2], key[3])))
        return factors

    def settle(self, tests: Sequence[TestBothWays]) -> tuple[TestBothWays, ...]:
        """Give the segments the numbers of the factors."""

        def renumber(parts: tuple[Segment, ...]) -> tuple[Segment, ...]:
            return tuple(
                part if part.factor is None else part._replace(factor=self._places[part.factor])
                for part in parts
            )

        return tuple(
            replace(test, system=renumber(test.system), user=renumber(test.user)) for test in tests
        )

    def _is_own(self, key: _Key) -> bool:
        """True if a hunk is of a single test, while others of its class changed, too."""
        n_alike = [n for other, n in self._n_tests.items() if other[:2] == key[:2]]
        return self._n_tests[key] == 1 and len(n_alike) > 1 and _TEXT not in key[2] + key[3]


def _align(
    old: Sequence[str], new: Sequence[str]
) -> Iterator[tuple[Sequence[str], Sequence[str], bool]]:
    """Yield pieces of two lists of lines, and whether they are equal; edits line by line."""
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "replace" and i2 - i1 == j2 - j1:
            for left, right in zip(old[i1:i2], new[j1:j2], strict=True):
                yield (left,), (right,), False
        else:
            yield old[i1:i2], new[j1:j2], tag == "equal"


def _describe_edit(before: str, after: str) -> str:
    old, new = (
        repr(cut_text(" ".join(text.replace(_TEXT, "{text}").split()), _SHOWN))
        for text in (before, after)
    )
    if not before.strip():
        return f"{new} added" if after.strip() else "blank lines changed"
    return f"{old} -> {new}" if after.strip() else f"{old} removed"


def _join(segments: Sequence[Segment], states: Sequence[bool]) -> str:
    is_after = [part.factor is None or states[part.factor] for part in segments]
    chosen = (
        part.after if after else part.before for part, after in zip(segments, is_after, strict=True)
    )
    return "\n".join(chain.from_iterable(chosen))
