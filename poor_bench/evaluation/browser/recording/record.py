"""From the steps of a successful trial to a playbook that does the same without an LLM; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from poor_bench.errors import ConfigError
from poor_bench.evaluation.agent import Step
from poor_bench.evaluation.browser.playbook.playbook import SERVER

_LEFT_AS_IT_IS = frozenset({"open", "press", "scroll", "back"})
_SHORTEST_VALUE = 2
_NAMES = frozenset({"role", "css", "frame", "key", "credential"})
"""Fields without text of the page, which therefore contain no parameter."""


def record_playbook(
    steps: Sequence[Step], *, name: str, description: str, params: Mapping[str, Any]
) -> str:
    """A playbook file, as YAML.

    Steps that failed are left out. Values of parameters become placeholders wherever they stand,
    so that the playbook also works with others. Data that the agent returned are extracted from
    where they stood on the last page; those that stood nowhere are not in the playbook.

    Args:
        steps: Of one successful trial, in their order.
        name: Of the playbook.
        description: What it is for, such as the directive of the case.
        params: The `playbook_params` of the trial, with `server` where it had one.

    Raises:
        ConfigError: If a step cannot be repeated without an LLM, such as one in a frame of a frame.
    """
    import yaml

    recorded = [entry for step in steps if not step.error for entry in _recorded(step)]
    if not recorded:
        raise ConfigError("nothing to record: no step of the trial succeeded")
    defaults = {key: str(value) for key, value in params.items() if key != SERVER}
    playbook = {
        "version": "1.0",
        "name": name,
        "description": description,
        **({"params": defaults} if defaults else {}),
        "steps": _with_placeholders(recorded, {key: str(value) for key, value in params.items()}),
    }
    return yaml.safe_dump(playbook, sort_keys=False, allow_unicode=True, width=100)


def _recorded(step: Step) -> Iterator[dict[str, Any]]:
    action = {key: value for key, value in step.action.items() if key != "action"}
    kind = str(step.action.get("action", ""))
    if step.part == "playbook":
        yield from _of_playbook(kind, action)
    elif kind == "done":
        yield from _of_done(action)
    elif kind in _LEFT_AS_IT_IS:
        yield {kind: next(iter(action.values()), True)}
    elif kind == "wait":
        yield {"wait": _wait(action)}
    elif kind:
        yield {kind: _with_target(step, kind, action)}


def _of_playbook(kind: str, action: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a step as it was done, with its placeholders filled."""
    if kind not in {"when", "for_each", "capture", "done"}:
        yield {kind: action["value"] if kind in _LEFT_AS_IT_IS else action}


def _of_done(action: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key, target in action.get("found", {}).items():
        yield {"extract": {"key": key, **target}}
    yield {"done": {"summary": str(action.get("summary", ""))}}


def _wait(action: dict[str, Any]) -> dict[str, Any]:
    text = action.get("text")
    if text:
        return {"text": text, "exact": False, "nth": 1}
    return {"seconds": action.get("seconds", 1.0)}


def _with_target(step: Step, kind: str, action: dict[str, Any]) -> dict[str, Any]:
    target = action.get("target")
    if target is None and "ref" in action:
        raise ConfigError(
            f"step {step.number} cannot be recorded: {step.text}",
            hint="its element cannot be found again: it was gone, or is in a frame inside a frame",
        )
    kept = {key: action[key] for key in ("key", "option", "credential") if action.get(key)}
    if kind == "type" and "credential" not in kept:
        kept["value"] = action.get("text", "")
    if action.get("submit"):
        kept["submit"] = True
    return {**(target or {}), **kept}


def _with_placeholders(value: Any, params: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for name, text in sorted(params.items(), key=lambda item: -len(item[1])):
            if len(text) >= _SHORTEST_VALUE:
                value = value.replace(text, f"{{{name}}}")
        return value
    if isinstance(value, Mapping):
        return {
            key: item if key in _NAMES else _with_placeholders(item, params)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_with_placeholders(item, params) for item in value]
    return value
