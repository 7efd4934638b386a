"""The accessibility tree of a page as text: shorter, without what fields hide; pure.

One element a line, indented by two spaces per level, such as `- button "Search" [ref=e12]`. It is
the format of Playwright's `aria_snapshot(mode="ai")`; elements in frames have refs like `f1e2`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection

REF = re.compile(r"^(f[0-9]+)?e[0-9]+$")
"""Also stands in JSON Schemas, so in the few signs that all servers understand."""
_ELEMENT = re.compile(
    r"^(?P<indent> *)- (?P<what>.*?) \[ref=(?P<ref>(?:f[0-9]+)?e[0-9]+)\](?P<rest>.*)$"
)
_WRAPPER = re.compile(r"^ *- generic( \[active\])? \[ref=(f[0-9]+)?e[0-9]+\]:$")
_STATE = re.compile(r' \[(?!ref=)[a-z]+(=[^\[\]]*)?\]')  # fmt: skip
_HIDDEN = "[hidden]"


def compacted(tree: str) -> str:
    """Remove elements that only contain others; these move up."""
    lines: list[str] = []
    left_out: list[int] = []
    for line in tree.splitlines():
        indent = len(line) - len(line.lstrip(" "))
        while left_out and left_out[-1] >= indent:
            left_out.pop()
        if _WRAPPER.match(line):
            left_out.append(indent)
        else:
            lines.append(line[2 * len(left_out) :])
    return "\n".join(lines)


def without_passwords(tree: str, passwords: Collection[str]) -> str:
    """Hide what was typed into password fields from the text fields of a tree."""
    hidden = {shown for value in passwords if value for shown in (value, json.dumps(value))}
    return "\n".join(_without_password(line, hidden) for line in tree.splitlines())


def _without_password(line: str, hidden: Collection[str]) -> str:
    before, separator, value = line.partition("]: ")
    is_field = before.lstrip(" -").startswith(("textbox", "searchbox"))
    return f"{before}{separator}{_HIDDEN}" if is_field and value in hidden else line


def shortened(tree: str, most_characters: int) -> tuple[str, int]:
    """Start of a tree, and the number of omitted lines."""
    if len(tree) <= most_characters:
        return tree, 0
    kept: list[str] = []
    lines, length = tree.splitlines(), 0
    for line in lines:
        length += len(line) + 1
        if length > most_characters:
            break
        kept.append(line)
    if not kept:
        return lines[0][:most_characters], len(lines) - 1
    return "\n".join(kept), len(lines) - len(kept)


def refs_in(tree: str) -> list[str]:
    """The references of all elements, in the order of the page."""
    found = (_ELEMENT.match(line) for line in tree.splitlines())
    return [match["ref"] for match in found if match is not None]


def described(tree: str, ref: str) -> str | None:
    """An element in words, such as `button "Search"`; None for an unknown ref.

    Example:
        >>> described('- button "Search" [ref=e12] [cursor=pointer]', "e12")
        'button "Search"'
    """
    for line in tree.splitlines():
        found = _ELEMENT.match(line)
        if found is not None and found["ref"] == ref:
            what = _STATE.sub("", found["what"])
            text = "" if '"' in what else found["rest"].partition(": ")[2]
            return f"{_unquoted(what)} {text[:60]}".rstrip()
    return None


def _unquoted(what: str) -> str:
    """An element without the quotes of YAML, which begin before its role."""
    return what[1:].replace("''", "'") if what.startswith("'") else what
