"""What the batches of several providers have in common: ids, and the way through their lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from poor_bench.errors import ProviderError
from poor_bench.models.completion import ChatRequest
from poor_bench.models.failure import FailureKind
from poor_bench.providers.chat_wire import mappings_at, text_at

_ID = re.compile(r"[\w-]{1,128}")
_MOST_PAGES = 50
PAGE = 100
"""Batches that one reply lists."""


def in_one_piece(request: ChatRequest) -> ChatRequest:
    """Return a request without streaming, as batches want it."""
    return replace(request, parameters={**request.parameters, "stream": False})


def id_in(value: Mapping[str, Any], key: str = "id") -> str:
    """Return an id that a server gave, safe to stand in a path.

    Raises:
        ProviderError: If it is missing or is not an id.
    """
    found = text_at(value, key)
    if not _ID.fullmatch(found):
        raise ProviderError(f"the reply has no usable {key}", kind=FailureKind.MALFORMED_REPLY)
    return found


def walk(
    fetch: Callable[[str], Mapping[str, Any]], cursor: str, until: str
) -> Iterator[Mapping[str, Any]]:
    """Yield the batches of an account, the newest first.

    Args:
        fetch: Returns the page under a query.
        cursor: Name of the query parameter that takes the last id of a page.
        until: Id to stop at; empty for no such id.
    """
    query = f"?limit={PAGE}"
    for _ in range(_MOST_PAGES):
        page = fetch(query)
        batches = mappings_at(page, "data")
        for batch in batches:
            if text_at(batch, "id") == until and until:
                return
            yield batch
        if not batches or page.get("has_more") is not True:
            return
        query = f"?limit={PAGE}&{cursor}={id_in(batches[-1])}"
