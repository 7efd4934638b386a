"""Check the body of a callback before Dash works with it: it is whatever a client sends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poor_bench.messages import write_count

if TYPE_CHECKING:
    from collections.abc import Mapping

_PARTS = ("inputs", "state")
_MAX_DEPTH = 100


def callback_fault(body: object, callbacks: Mapping[str, Any]) -> str:
    """Say why a body is not one that a page of ours sends; empty where it may be.

    Callbacks that are not known pass: the answer to them tells an old tab to reload.

    Args:
        body: The request's JSON, parsed; None where it is not JSON.
        callbacks: Output to callback, as in `Dash.callback_map`.
    """
    if not isinstance(body, dict) or not isinstance(body.get("output"), str):
        return "The request does not name a callback."
    if _is_deep(body):
        return "The request is nested too deeply."
    callback = callbacks.get(body["output"])
    if callback is None:
        return ""
    changed = body.get("changedPropIds", [])
    if not isinstance(changed, list) or not all(isinstance(name, str) for name in changed):
        return "`changedPropIds` must be a list of texts."
    if any("." not in name for name in changed):
        return "`changedPropIds` must name properties."
    faults = (_part_fault(part, body.get(part, []), callback[part]) for part in _PARTS)
    fault = next((fault for fault in faults if fault), "")
    return fault or _outputs_fault(body["output"], body.get("outputs"))


def _part_fault(part: str, given: object, expected: list[Mapping[str, Any]]) -> str:
    """Compare inputs or states with those that the callback was registered with."""
    if not isinstance(given, list) or len(given) != len(expected):
        return f"`{part}` must hold {write_count(len(expected), 'entry')}."
    for entry, wanted in zip(given, expected, strict=True):
        is_group = str(wanted["id"]).startswith("{")
        entries = entry if is_group and isinstance(entry, list) else [entry]
        if not all(_is_property(one, wanted["property"]) for one in entries):
            return f"An entry of `{part}` does not name `{wanted['property']}` of an element."
        if not is_group and entry["id"] != wanted["id"]:
            return f"An entry of `{part}` is not `{wanted['id']}`."
    return ""


def _is_property(entry: object, name: str) -> bool:
    return isinstance(entry, dict) and entry.get("property") == name and _is_id(entry.get("id"))


def _is_id(given: object) -> bool:
    return isinstance(given, str) or (
        isinstance(given, dict)
        and all(isinstance(value, str | int | float | bool) for value in given.values())
    )


def _outputs_fault(output: str, given: object) -> str:
    """Compare the outputs with their names, `..a.children...b.data@1f..` where there are several.

    What follows `@` tells callbacks apart that write the same property.
    """
    if output.startswith(".."):
        names, entries = output.strip(".").split("..."), given
    else:
        names, entries = [output], [given]
    is_right = (
        isinstance(entries, list)
        and len(entries) == len(names)
        and all(_is_output(name, entry) for name, entry in zip(names, entries, strict=True))
    )
    return "" if is_right else "`outputs` must name the callback's own."


def _is_output(name: str, entry: object) -> bool:
    element, wanted = name.rsplit(".", 1)
    is_group = element.startswith("{")
    for one in entry if is_group and isinstance(entry, list) else [entry]:
        if not isinstance(one, dict) or not _is_id(one.get("id")):
            return False
        if not is_group and one["id"] != element:
            return False
        if str(one.get("property")).partition("@")[0] != wanted.partition("@")[0]:
            return False
    return True


def _is_deep(body: object) -> bool:
    """True if lists and mappings stand in each other beyond any depth that a page needs."""
    level: list[object] = [body]
    for _ in range(_MAX_DEPTH):
        inner: list[object] = []
        for one in level:
            inner += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        if not inner:
            return False
        level = inner
    return True
