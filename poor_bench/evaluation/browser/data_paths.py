"""Values at dotted paths of nested mappings; pure."""

from __future__ import annotations

from typing import Any


def put(data: dict[str, Any], path: str, value: Any) -> None:
    """Set the value at a dotted path; what stands in the way is replaced.

    Example:
        >>> data = {"order": {"id": 7}}
        >>> put(data, "order.status", "open")
        >>> data
        {'order': {'id': 7, 'status': 'open'}}
    """
    *folders, last = path.split(".")
    for name in folders:
        inner = data.get(name)
        if not isinstance(inner, dict):
            inner = data[name] = {}
        data = inner
    data[last] = value
