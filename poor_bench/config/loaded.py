"""The valid entries of one file, with where each stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from poor_bench.config.report import Place, Report, place_to_text

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
