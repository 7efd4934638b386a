"""JSON objects in a judge's reply, without those it quotes; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from poor_bench.extraction.json_value import extract_json

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ObjectSearch:
    """Looks for objects of one kind in texts."""

    is_wanted: Callable[[Object], bool]
    key: re.Pattern[str]
    """Matches the key that every such object has."""

    def objects_in(self, text: str) -> list[Object]:
        """Find distinct objects, last first; broken ones only if no other exists.

        Repairing could mend a broken object with pieces of another, so it needs a text with one.
        """
        may_repair = len(self.key.findall(text)) <= 1
        for lenient in (False, True) if may_repair else (False,):
            found: list[Object] = []

            def note(value: Any, found: list[Object] = found) -> bool:
                if isinstance(value, dict) and value not in found and self.is_wanted(value):
                    found.append(value)
                return False

            extract_json(text, note, lenient=lenient)
            if found:
                return found
        return []

    def own_objects(self, reply: str, shown: Iterable[str]) -> list[Object]:
        """Find the objects of a reply that do not occur in the evidence."""
        quoted = [value for text in shown for value in self.objects_in(text)]
        return [value for value in self.objects_in(reply) if value not in quoted]


def is_signed(value: Object, nonce: str) -> bool:
    """True if an object repeats the code of the request.

    Then the judge wrote it: what it judges cannot know the code.
    """
    return value.get("verdict_id") == nonce
