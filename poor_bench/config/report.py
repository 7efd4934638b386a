"""Collect the valid entries of one file and all of its problems, with the place of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from poor_bench.models.problem import Problem, Severity

Place = tuple[str | int, ...]
"""Where something stands in a file: keys and list positions, from the outside in."""


def place_to_text(place: Place) -> str:
    """Return a place as users read it.

    Example:
        >>> place_to_text(("tests", 12, "evaluation_module", "name"))
        'tests[12].evaluation_module.name'
        >>> place_to_text(("overrides", "ollama:gemma3:1b"))
        'overrides["ollama:gemma3:1b"]'
    """
    text = ""
    for part in place:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part.isidentifier() or part.startswith("$"):
            text += f".{part}" if text else part
        else:
            text += f'["{part}"]'
    return text


def parse_place(text: str) -> Place:
    """Return the place that `place_to_text` wrote.

    Example:
        >>> parse_place('tests[12].fields["a b"]')
        ('tests', 12, 'fields', 'a b')
    """
    parts = re.findall(r'\["([^"]{0,300})"\]|\[(\d+)\]|([^.\[\]]+)', text)
    return tuple(quoted or name or int(index) for quoted, index, name in parts)


class Report:
    """The problems of one file.

    Attributes:
        file: Path of the file as the user would write it.
        problems: What was found so far.
    """

    def __init__(self, file: str, line_of: Callable[[Place], int | None] | None = None) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self._line_of = line_of or (lambda _place: None)

    def error(
        self, place: Place, message: str, *, hint: str = "", code: str = "", line: int | None = None
    ) -> None:
        """Note an error that must be fixed before anything can run."""
        self._add(Severity.ERROR, place, message, hint, code, line)

    def warning(
        self, place: Place, message: str, *, hint: str = "", code: str = "", line: int | None = None
    ) -> None:
        """Note something that is probably not what was meant."""
        self._add(Severity.WARNING, place, message, hint, code, line)

    def _add(
        self,
        severity: Severity,
        place: Place,
        message: str,
        hint: str,
        code: str,
        line: int | None,
    ) -> None:
        problem = Problem(
            file=self.file,
            place=place_to_text(place),
            message=message,
            hint=hint,
            severity=severity,
            line=self._line_of(place) if line is None else line,
            code=code,
        )
        self.problems.append(problem)


Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Loaded(Generic[Item]):
    """What one file holds; where an id stands twice, the first one."""

    report: Report
    by_id: dict[str, Item]
    places: dict[str, Place]
    written_ids: frozenset[str] = frozenset()
    """Ids of all entries, valid or not."""

    @property
    def items(self) -> tuple[Item, ...]:
        """The entries in the order of the file."""
        return tuple(self.by_id.values())


def collect(
    entries: Iterable[tuple[Place, Item]],
    id_of: Callable[[Item], str],
    report: Report,
    *,
    written_ids: frozenset[str] = frozenset(),
    hint: str = "give one of them another id",
) -> Loaded[Item]:
    """Return the entries by id; the report takes ids that stand twice."""
    loaded: Loaded[Item] = Loaded(report, {}, {}, written_ids)
    for place, item in entries:
        item_id = id_of(item)
        if item_id in loaded.by_id:
            first = place_to_text(loaded.places[item_id])
            message = f"the id `{item_id}` is already used by {first}"
            report.error(place, message, hint=hint, code="duplicate-id")
        else:
            loaded.by_id[item_id] = item
            loaded.places[item_id] = place
    return loaded
