"""Proposes changes of a prompt that no LLM has to write, each once."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from poor_bench.tuning.prompt.cases import Attempt, Idea, Solved, Subject
from poor_bench.tuning.prompt.edits import shortened, with_example, with_form, with_input_last

LONGEST = 4000
"""Characters from which on a prompt gets no further examples: small models have small contexts."""
_ORDER = ("example", "form", "example", "input last", "example", "shorter")
"""Order of the edits; examples gain most, so they are tried most often."""


class Editor:
    """Edits prompts by rule with training cases, without requests.

    A worked example has an answer of the LLM itself that got full marks, or else the reference of
    its test. It is never one of the cases that the new prompt is tried on next: a prompt that
    holds their answers would only seem better.
    """

    def __init__(self, subject: Subject, train: Sequence[str]) -> None:
        self._subject = subject
        self._train = tuple(train)
        self._answers: dict[str, list[str]] = {}
        self._proposed: set[str] = {subject.base_text}
        self._n_edits: Counter[str] = Counter()

    def learn(self, attempts: Iterable[Attempt]) -> None:
        """Take up answers that got full marks; only those on training cases are of use."""
        for attempt in attempts:
            if attempt.score == 1.0 and attempt.case_id in self._train:
                known = self._answers.setdefault(attempt.case_id, [])
                if attempt.answer not in known:
                    known.append(attempt.answer)

    def propose(self, text: str, attempts: Sequence[Attempt]) -> Idea | None:
        """Propose a new edit, or None if none is left."""
        tried_on = {attempt.case_id for attempt in attempts}
        first = self._n_edits[text] % len(_ORDER)
        self._n_edits[text] += 1
        for kind in dict.fromkeys([*_ORDER[first:], *_ORDER]):
            for edited in self._edits(kind, text, tried_on):
                if edited not in self._proposed:
                    self._proposed.add(edited)
                    return Idea(edited, kind)
        return None

    def _edits(self, kind: str, text: str, tried_on: Collection[str]) -> Iterator[str]:
        names = self._subject.placeholders
        if kind == "input last":
            yield with_input_last(text, names)
        elif kind == "shorter":
            yield from shortened(text, names)
        elif kind == "form":
            yield from (with_form(text, item, names) for item in self._solved(text, tried_on))
        elif len(text) < LONGEST:
            yield from (with_example(text, item, names) for item in self._solved(text, tried_on))

    def _solved(self, text: str, tried_on: Collection[str]) -> Iterator[Solved]:
        """Yield training cases with right answers, in an order of each prompt's own."""
        candidates = [case_id for case_id in self._train if case_id not in tried_on]
        for case_id in sorted(candidates, key=lambda case_id: _draw(text, case_id)):
            solved = self._subject.solved(case_id, self._answers.get(case_id, ()))
            if solved is not None and solved.given not in text:
                yield solved


def _draw(text: str, case_id: str) -> str:
    return hashlib.sha256(f"{text}\0{case_id}".encode("utf-8", "surrogatepass")).hexdigest()
