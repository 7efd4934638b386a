"""Edits of prompts by rule, without requests, and the order of the sources of prompts.

Source:
    Worked examples out of the training cases: DSPy's bootstrapped demonstrations, Khattab et al.
    2023, arXiv:2310.03714. Deleting and moving parts: GrIPS, Prasad et al. 2022, arXiv:2203.07281.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum

from poor_bench.prompts import hash_text, list_placeholders, with_only_placeholders
from poor_bench.tuning.prompt.cases import Attempt, Idea, Ideas, Solved, TuningSubject


def add_example(text: str, solved: Solved, placeholders: Sequence[str]) -> str:
    r"""Insert a worked example before the input.

    The example looks as the input will look: its line is that of the placeholder, filled in. A
    prompt with several placeholders, or with none, gets it in words at its beginning.

    Example:
        >>> print(add_example("Solve: {problem}", Solved("x", "1 + 1", "2"), ["problem"]))
        Solve: 1 + 1
        2
        <BLANKLINE>
        Solve: {problem}
    """
    if len(placeholders) != 1:
        shown = f"Example: {solved.given}\nAnswer: {solved.answer}"
        return f"{_write_literal(shown, placeholders)}\n\n{text}"
    lines = text.split("\n")
    place = _find_place(lines, placeholders[0])
    line = lines[place].replace(f"{{{placeholders[0]}}}", solved.given)
    shown = f"{line}\n{solved.answer}"
    return "\n".join([*lines[:place], _write_literal(shown, placeholders), "", *lines[place:]])


def state_form(text: str, solved: Solved, placeholders: Sequence[str]) -> str:
    """State the answer format at the start of a prompt."""
    return f"{_write_literal(f'Answer in this form: {solved.answer}', placeholders)}\n\n{text}"


def move_input_last(text: str, placeholders: Sequence[str]) -> str:
    r"""Move the input to the end of a prompt.

    Example:
        >>> move_input_last("Solve: {problem}\n\nReply with a number.", ["problem"])
        'Reply with a number.\n\nSolve: {problem}'
    """
    if len(placeholders) != 1:
        return text
    lines = text.rstrip("\n").split("\n")
    place = _find_place(lines, placeholders[0])
    if place == len(lines) - 1:
        return text
    line = lines.pop(place)
    before = "\n".join(lines).strip("\n")
    return f"{before}\n\n{line}"


def shorten_prompt(text: str, placeholders: Sequence[str]) -> list[str]:
    r"""Build the prompts without one line; lines with placeholders stay.

    Example:
        >>> shorten_prompt("Be brief.\nSolve: {problem}", ["problem"])
        ['Solve: {problem}']
    """
    lines = text.split("\n")
    filled = [place for place, line in enumerate(lines) if line.strip()]
    if len(filled) < 2:
        return []
    names = set(placeholders)
    optional = [place for place in filled if names.isdisjoint(list_placeholders(lines[place]))]
    return ["\n".join([*lines[:place], *lines[place + 1 :]]).strip("\n") for place in optional]


def _find_place(lines: Sequence[str], name: str) -> int:
    """Find the last line with a placeholder; earlier ones may describe it."""
    return max(place for place, line in enumerate(lines) if name in list_placeholders(line))


def _write_literal(shown: str, placeholders: Sequence[str]) -> str:
    """Escape braces for a template; other prompts need no escape."""
    return with_only_placeholders(shown, ()) if placeholders else shown


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

    def __init__(self, subject: TuningSubject, train: Sequence[str]) -> None:
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
            for edited in self._list_edits(kind, text, tried_on):
                if edited not in self._proposed:
                    self._proposed.add(edited)
                    return Idea(edited, kind)
        return None

    def _list_edits(self, kind: str, text: str, tried_on: Collection[str]) -> Iterator[str]:
        names = self._subject.placeholders
        if kind == "input last":
            yield move_input_last(text, names)
        elif kind == "shorter":
            yield from shorten_prompt(text, names)
        elif kind == "form":
            yield from (state_form(text, item, names) for item in self._find_solved(text, tried_on))
        elif len(text) < LONGEST:
            yield from (
                add_example(text, item, names) for item in self._find_solved(text, tried_on)
            )

    def _find_solved(self, text: str, tried_on: Collection[str]) -> Iterator[Solved]:
        """Yield training cases with right answers, in an order of each prompt's own."""
        candidates = [case_id for case_id in self._train if case_id not in tried_on]
        for case_id in sorted(candidates, key=lambda case_id: hash_text(f"{text}\0{case_id}")):
            solved = self._subject.find_solved(case_id, self._answers.get(case_id, ()))
            if solved is not None and solved.given not in text:
                yield solved


class IdeaSource(StrEnum):
    """Where new prompts come from."""

    WRITER = "writer"
    """An LLM writes them."""
    EDITS = "edits"
    """Edits by rule, without requests."""
    BOTH = "both"
    """By turns."""


class TakingTurns:
    """Asks several sources by turns; one that has no idea leaves its turn to the next."""

    def __init__(self, sources: Sequence[Ideas]) -> None:
        self._sources = sources
        self._turn = 0

    def propose(self, text: str, attempts: Sequence[Attempt]) -> Idea | None:
        """First idea of any source, or None."""
        first = self._turn % len(self._sources)
        self._turn += 1
        for source in (*self._sources[first:], *self._sources[:first]):
            idea = source.propose(text, attempts)
            if idea is not None:
                return idea
        return None
