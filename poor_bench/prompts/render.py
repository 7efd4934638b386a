"""Fill the placeholders of a template with what a test gives.

A placeholder is a name in single braces. All other braces survive as they stand, in templates and
in what is filled in, since prompts are full of JSON and code; `{{name}}` stands for a literal
`{name}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

from poor_bench.models.test import Test

CONTENT_PLACEHOLDERS = frozenset({"problem", "task", "text", "texts"})
"""Placeholders that always stand for the test's text or texts."""

_PLACEHOLDER = re.compile(r"\{(\{[A-Za-z_]\w*\})\}|\{([A-Za-z_]\w*)\}")


@lru_cache(maxsize=256)
def list_placeholders(template: str) -> tuple[str, ...]:
    """Return the names of the placeholders of `template`, each once, in order of appearance.

    Example:
        >>> list_placeholders('Return {"answer": 1} for {problem}, not {{answer}}.')
        ('problem',)
    """
    names = (match[2] for match in _PLACEHOLDER.finditer(template))
    return tuple(dict.fromkeys(name for name in names if name))


def count_fixed_start(template: str) -> int:
    """Count the characters before the first placeholder, as they stand in a rendered prompt.

    Example:
        >>> count_fixed_start("Say {{x}}: {problem}")
        9
    """
    n_hidden = 0
    for match in _PLACEHOLDER.finditer(template):
        if match[2]:
            return match.start() - n_hidden
        n_hidden += len(match[0]) - len(match[1])
    return len(template) - n_hidden


def with_only_placeholders(template: str, names: Collection[str]) -> str:
    """Return `template` with all placeholders but some made literal.

    Example:
        >>> with_only_placeholders("Write {answer} for {problem}.", ["problem"])
        'Write {{answer}} for {problem}.'
    """

    def keep(match: re.Match[str]) -> str:
        escaped, name = match.groups()
        return match[0] if escaped or name in names else f"{{{match[0]}}}"

    return _PLACEHOLDER.sub(keep, template)


def list_unfilled_placeholders(template: str, fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the placeholders of `template` that a test with these `fields` leaves as they are.

    Example:
        >>> list_unfilled_placeholders("{text} in {language}", fields={})
        ('language',)
    """
    names = list_placeholders(template)
    if len(names) == 1:
        return ()
    return tuple(name for name in names if name not in CONTENT_PLACEHOLDERS and name not in fields)


def render_prompt(template: str, test: Test) -> str:
    """Return `template` with its placeholders filled, in one pass.

    A field of the test fills the placeholder of its name. `{problem}`, `{task}`, `{text}` and
    `{texts}` stand for the test's text, or for its texts as a JSON list; so does the placeholder
    of a template that has no other one, whatever its name.

    Returns:
        The prompt. Braces that came in through a text or a field are never expanded, and names
        that nothing fills stay as they are.
    """
    values = _values_for(template, test)

    def fill(match: re.Match[str]) -> str:
        escaped, name = match.groups()
        return escaped or values.get(name, match[0])

    return _PLACEHOLDER.sub(fill, template)


def list_inserted(test: Test) -> list[str]:
    """List what a test puts into the placeholders of a template, the longest first.

    Example:
        >>> list_inserted(Test(test_id="t", class_id="c", level=1, texts=("Good", "Bad")))
        ['["Good", "Bad"]']
    """
    values = [_read_content(test), *map(_as_text, test.fields.values())]
    return sorted(filter(None, values), key=len, reverse=True)


def _read_content(test: Test) -> str:
    return test.text if test.text is not None else _as_json(test.texts)


def _values_for(template: str, test: Test) -> dict[str, str]:
    names = list_placeholders(template)
    content = _read_content(test)
    filled_by_content = names if len(names) == 1 else CONTENT_PLACEHOLDERS
    values = dict.fromkeys(filled_by_content, content)
    values.update((name, _as_text(value)) for name, value in test.fields.items())
    return values


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else _as_json(value)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
