"""From the names that an endpoint serves, or the failure to get them, to a Reachability."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from poor_bench.errors import ProviderError
from poor_bench.models.failure import FailureKind
from poor_bench.models.llm import Timeouts
from poor_bench.ports import CallControl, Reachability
from poor_bench.providers.reply_parts import mappings_at, text_at

CHECKING = CallControl(timeouts=Timeouts(connect_s=3.0, first_token_s=10.0, total_s=10.0))
"""How long finding out may take."""

_NOBODY_THERE = frozenset({FailureKind.CONNECTION, FailureKind.TIMEOUT})


def reachability(model: str, fetch_names: Callable[[], Iterable[str]]) -> Reachability:
    """Return whether `model` can be asked; `fetch_names` asks the endpoint what it serves."""
    try:
        names = tuple(fetch_names())
    except ProviderError as error:
        message = f"{error} ({error.hint})" if error.hint else str(error)
        answered = error.kind not in _NOBODY_THERE
        return Reachability(reachable=answered, refused=answered, message=message)
    present = model in names or f"{model}:latest" in names if names else None
    message = "" if present in {True, None} else f"the endpoint does not list {model}"
    return Reachability(reachable=True, model_present=present, message=message, models=names)


def names_in(reply: Mapping[str, Any], list_key: str, name_key: str) -> list[str]:
    """Return the names in a server's list of models."""
    names = (text_at(model, name_key) for model in mappings_at(reply, list_key))
    return [name for name in names if name]
