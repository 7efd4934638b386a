"""The state of a page in the query of its address."""

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


def search_of(**values: Iterable[str]) -> str:
    """Return the query part of an address; empty values are left out.

    Args:
        values: Name to values; a name may end in `_` where Python keeps it for itself.

    Example:
        >>> search_of(llm=["a:b", "c"], text=[""], class_=[])
        '?llm=a%3Ab&llm=c'
    """
    return write_search(
        {name.rstrip("_"): [value for value in of if value] for name, of in values.items()}
    )


def first(query: Mapping[str, list[str]], name: str, default: str = "") -> str:
    """Return the first value of a name of a query that `links.read_search` has read.

    Example:
        >>> first({"test": ["t1", "t2"]}, "test"), first({}, "order", "file")
        ('t1', 'file')
    """
    return query.get(name, [default])[0]


def toggled(values: Iterable[str], value: str) -> tuple[str, ...]:
    """Return `values` with `value` added, or without it where it stands there already.

    Example:
        >>> toggled(("a", "b"), "a"), toggled(("a",), "c")
        (('b',), ('a', 'c'))
    """
    present = tuple(values)
    if value in present:
        return tuple(other for other in present if other != value)
    return (*present, value)
