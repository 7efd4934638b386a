"""From the options of `gate`, and from gates.yaml, to gates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poor_bench.errors import ConfigError

if TYPE_CHECKING:
    from poor_bench.config.workspace import Workspace
    from poor_bench.gates.gate import Gate, GateKind

_BY_CLASS = {
    "min_score": 1.0,
    "min_pass_rate": 1.0,
    "max_p95_ms": float("inf"),
    "max_cost_usd": float("inf"),
    "min_scored_share": 1.0,
}
"""Options that take a limit, or a class and its limit; and the highest limit."""
_FLAGS = ("no_regression", "up_to_date")


def gates_from(
    workspace: Workspace, options: dict[str, Any], file: Path | None, baseline: str | None
) -> list[Gate]:
    """Return the gates of the options and of the workspace's gates.yaml.

    Args:
        workspace: Its classes and LLMs are what gates may name.
        options: Values of the options that make gates, by name.
        file: Another gates.yaml.
        baseline: What gates without a baseline of their own compare with.

    Raises:
        ConfigError: If a gate is wrong, needs a baseline, or there is none.
    """
    from poor_bench.config.gate_entries import GATES_FILE, load_gates

    path = file or workspace.data_dir / GATES_FILE
    gates = [*_option_gates(workspace, options)]
    if file is not None or path.is_file():
        gates += load_gates(path, workspace)
    if not gates:
        raise ConfigError(
            "no gate is given", hint=f"give options such as --min-score 0.8, or write {path}"
        )
    return [_with_baseline(gate, baseline) for gate in gates]


def _option_gates(workspace: Workspace, options: dict[str, Any]) -> Iterator[Gate]:
    from poor_bench.gates.gate import Gate, GateKind

    for name, highest in _BY_CLASS.items():
        for text in options[name]:
            yield _limit_gate(GateKind(name), text, highest, workspace)
    for name in _FLAGS:
        if options[name]:
            yield Gate(kind=GateKind(name))


def _limit_gate(kind: GateKind, text: str, highest: float, workspace: Workspace) -> Gate:
    from poor_bench.config.nearest_name import name_hint
    from poor_bench.gates.gate import Gate

    option = f"--{kind.value.replace('_', '-')}"
    pattern, _, number = text.rpartition("=")
    try:
        limit = float(number)
    except ValueError:
        limit = float("nan")
    if not 0 <= limit <= highest:
        range_text = "from 0 to 1" if highest == 1.0 else "of at least 0"
        raise click.UsageError(f"{option} {text!r}: give a number {range_text}, or CLASS=NUMBER")
    gate = Gate(kind=kind, limit=limit, class_pattern=pattern or None)
    if pattern and not any(gate.is_about_class(name) for name in workspace.test_classes):
        hint = name_hint(pattern, workspace.test_classes)
        raise ConfigError(f"{option} {pattern!r} matches no test class", hint=hint)
    return gate


def _with_baseline(gate: Gate, baseline: str | None) -> Gate:
    from poor_bench.gates.gate import GateKind

    if gate.kind is not GateKind.NO_REGRESSION or gate.baseline:
        return gate
    if not baseline:
        raise ConfigError(
            "no regression against what?",
            hint="give --baseline FILE, a run, or `previous`; or `baseline` in gates.yaml",
        )
    return replace(gate, baseline=baseline)


def limit_options() -> Sequence[Any]:
    """Return the click options that make gates."""
    helps = {
        "min_score": "Lowest mean score.",
        "min_pass_rate": "Lowest share of passed tests.",
        "max_p95_ms": "Milliseconds within which 95 % of the trials end.",
        "max_cost_usd": "Highest cost of all results.",
        "min_scored_share": "Lowest share of trials that ended with a score.",
    }
    return [
        click.option(f"--{name.replace('_', '-')}", multiple=True, metavar="[CLASS=]X", help=text)
        for name, text in helps.items()
    ]
