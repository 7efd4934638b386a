"""Find the judge's preference in its reply, and none that it only quotes; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.thinking import without_thinking
from poor_bench.judge.pairwise.duel import Place

_WINNER_KEY = re.compile(r"\bwinner\W{0,3}:")
_PLACES = {place.value: place for place in Place}


class Preference(NamedTuple):
    """What a judge prefers, and why."""

    place: Place
    reason: str


def find_preference(reply: str, nonce: str, shown: Iterable[str]) -> Preference | None:
    """Return the preference in a reply; None where it cannot be told.

    An object that repeats the code of the request was written by the judge; of several the last
    one counts. Without one, the only different preference counts that stands in nothing of what
    the judge was shown.

    Args:
        reply: What the judge's LLM returned.
        nonce: The code of the request.
        shown: What the judge was shown as evidence.
    """
    found = _preferences_in(without_thinking(reply))
    signed = [value for value in found if value.get("verdict_id") == nonce]
    if signed:
        return _preference(signed[0])
    quoted = [value for text in shown for value in _preferences_in(text)]
    own = [value for value in found if value not in quoted]
    return _preference(own[0]) if len(own) == 1 else None


def _preferences_in(text: str) -> list[Mapping[str, Any]]:
    """Return the different objects with a winner, the last one first; broken ones only if need be.

    Repairing could mend a broken object with pieces of another one, so it needs a text with one.
    """
    may_repair = len(_WINNER_KEY.findall(text)) <= 1
    for lenient in (False, True) if may_repair else (False,):
        found: list[Mapping[str, Any]] = []

        def note(value: Any, found: list[Mapping[str, Any]] = found) -> bool:
            is_new = isinstance(value, dict) and value not in found
            if is_new and str(value.get("winner")) in _PLACES:
                found.append(value)
            return False

        extract_json(text, note, lenient=lenient)
        if found:
            return found
    return []


def _preference(value: Mapping[str, Any]) -> Preference:
    return Preference(_PLACES[str(value["winner"])], str(value.get("reason") or ""))
