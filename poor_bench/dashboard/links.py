"""Addresses of pages with their state in the query, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import parse_qs, urlencode

Search = Mapping[str, list[str]]
"""Names of a query to their values."""
_MOST_FIELDS = 500


def model_link(
    llm_id: str,
    *,
    classes: Iterable[str] = (),
    levels: Iterable[int] = (),
    **further: str,
) -> str:
    """Return the address of the results of an LLM.

    Example:
        >>> model_link("ollama:gemma3:1b", classes=["math"], levels=[1])
        '/model?llm=ollama%3Agemma3%3A1b&class=math&level=1'
    """
    query = [("llm", llm_id), *(("class", name) for name in classes)]
    query += [("level", str(level)) for level in levels]
    query += [(name, value) for name, value in further.items() if value]
    return f"/model?{urlencode(query)}"


def read_search(search: str | None) -> Search:
    """Return the names and values of a query such as `?llm=a&class=b&class=c`.

    A query of absurd length counts as an empty one.

    Example:
        >>> read_search("?llm=a%3Ab&class=c&class=d")
        {'llm': ['a:b'], 'class': ['c', 'd']}
    """
    try:
        return parse_qs((search or "").removeprefix("?"), max_num_fields=_MOST_FIELDS)
    except ValueError:
        return {}


def write_search(search: Mapping[str, Iterable[str]]) -> str:
    """Return names and values as a query; `read_search` reads it back.

    Example:
        >>> write_search({"llm": ["a:b"], "class": ["c", "d"], "level": []})
        '?llm=a%3Ab&class=c&class=d'
    """
    query = urlencode([(name, value) for name, values in search.items() for value in values])
    return f"?{query}" if query else ""
