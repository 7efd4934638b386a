"""Find the judge's own preference in its reply, not a quoted one; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from poor_bench.extraction.thinking import without_thinking
from poor_bench.judge.pairwise.duel import Place
from poor_bench.judge.reply_objects import Object, ObjectSearch, is_signed

_PLACES = {place.value: place for place in Place}
_PREFERENCES = ObjectSearch(
    is_wanted=lambda value: str(value.get("winner")) in _PLACES,
    key=re.compile(r"\bwinner\W{0,3}:"),
)


class Preference(NamedTuple):
    """Preference of a judge, with its reason."""

    place: Place
    reason: str


def find_preference(reply: str, nonce: str, shown: Iterable[str]) -> Preference | None:
    """Find the preference in a reply; None if unclear.

    An object that repeats the code of the request was written by the judge; of several the last
    one counts. Without one, the only different preference counts that stands in nothing of what
    the judge was shown.

    Args:
        reply: What the judge's LLM returned.
        nonce: The code of the request.
        shown: What the judge was shown as evidence.
    """
    answer = without_thinking(reply)
    found = _PREFERENCES.objects_in(answer)
    signed = [value for value in found if is_signed(value, nonce)]
    if signed:
        return _preference(signed[0])
    own = _PREFERENCES.own_objects(answer, shown)
    return _preference(own[0]) if len(own) == 1 else None


def _preference(value: Object) -> Preference:
    return Preference(_PLACES[str(value["winner"])], str(value.get("reason") or ""))
