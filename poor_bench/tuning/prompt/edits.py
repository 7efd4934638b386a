"""Edits of prompts by rule; pure.

Source:
    Worked examples out of the training cases: DSPy's bootstrapped demonstrations, Khattab et al.
    2023, arXiv:2310.03714. Deleting and moving parts: GrIPS, Prasad et al. 2022, arXiv:2203.07281.
"""

from __future__ import annotations

from collections.abc import Sequence

from poor_bench.prompts.render import placeholders_of, with_only_placeholders
from poor_bench.tuning.prompt.cases import Solved


def with_example(text: str, solved: Solved, placeholders: Sequence[str]) -> str:
    r"""Insert a worked example before the input.

    The example looks as the input will look: its line is that of the placeholder, filled in. A
    prompt with several placeholders, or with none, gets it in words at its beginning.

    Example:
        >>> print(with_example("Solve: {problem}", Solved("x", "1 + 1", "2"), ["problem"]))
        Solve: 1 + 1
        2
        <BLANKLINE>
        Solve: {problem}
    """
    if len(placeholders) != 1:
        shown = f"Example: {solved.given}\nAnswer: {solved.answer}"
        return f"{_literal(shown, placeholders)}\n\n{text}"
    lines = text.split("\n")
    place = _place_of(lines, placeholders[0])
    line = lines[place].replace(f"{{{placeholders[0]}}}", solved.given)
    shown = f"{line}\n{solved.answer}"
    return "\n".join([*lines[:place], _literal(shown, placeholders), "", *lines[place:]])


def with_form(text: str, solved: Solved, placeholders: Sequence[str]) -> str:
    """State the answer format at the start of a prompt."""
    return f"{_literal(f'Answer in this form: {solved.answer}', placeholders)}\n\n{text}"


def with_input_last(text: str, placeholders: Sequence[str]) -> str:
    r"""Move the input to the end of a prompt.

    Example:
        >>> with_input_last("Solve: {problem}\n\nReply with a number.", ["problem"])
        'Reply with a number.\n\nSolve: {problem}'
    """
    if len(placeholders) != 1:
        return text
    lines = text.rstrip("\n").split("\n")
    place = _place_of(lines, placeholders[0])
    if place == len(lines) - 1:
        return text
    line = lines.pop(place)
    before = "\n".join(lines).strip("\n")
    return f"{before}\n\n{line}"


def shortened(text: str, placeholders: Sequence[str]) -> list[str]:
    r"""Build the prompts without one line; lines with placeholders stay.

    Example:
        >>> shortened("Be brief.\nSolve: {problem}", ["problem"])
        ['Solve: {problem}']
    """
    lines = text.split("\n")
    filled = [place for place, line in enumerate(lines) if line.strip()]
    if len(filled) < 2:
        return []
    names = set(placeholders)
    optional = [place for place in filled if names.isdisjoint(placeholders_of(lines[place]))]
    return ["\n".join([*lines[:place], *lines[place + 1 :]]).strip("\n") for place in optional]


def _place_of(lines: Sequence[str], name: str) -> int:
    """Find the last line with a placeholder; earlier ones may describe it."""
    return max(place for place, line in enumerate(lines) if name in placeholders_of(line))


def _literal(shown: str, placeholders: Sequence[str]) -> str:
    """Escape braces for a template; other prompts need no escape."""
    return with_only_placeholders(shown, ()) if placeholders else shown
