"""Reading and changing the state of a page that stands in its address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from poor_bench.dashboard.links import write_search


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
