"""`tests show`: what each LLM is told for a test, and what is expected of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.output import harmless, json_option, print_json
from poor_bench.config.nearest_name import name_hint
from poor_bench.errors import ConfigError

if TYPE_CHECKING:
    from poor_bench.config.workspace import Workspace
    from poor_bench.models.completion import Message
    from poor_bench.models.test import Test


@click.command()
@click.argument("test_id")
@click.option("--llm", "llms", multiple=True, metavar="ID", help="Model id, label or glob.")
@json_option
@pass_app
def show(app: AppContext, /, test_id: str, llms: tuple[str, ...], as_json: bool) -> int:
    """Show a test: its prompt for each model, and what its evaluator expects."""
    workspace = app.workspace
    test = workspace.tests_by_id.get(test_id)
    if test is None:
        hint = name_hint(test_id, workspace.tests_by_id)
        raise ConfigError(f"unknown test {test_id!r}", hint=hint)
    facts = _facts(test, workspace)
    prompts = _prompts(test, workspace, llms)
    if as_json:
        print_json(facts | {"prompts": [_to_json(*prompt) for prompt in prompts]})
        return 0
    for name, value in facts.items():
        if value not in ("", None, []):
            click.echo(f"{click.style(name, bold=True)}: {harmless(_as_text(value))}")
    for messages, llm_ids in prompts:
        click.echo(click.style(f"\nPrompt for {', '.join(llm_ids)}", bold=True))
        for message in messages:
            click.echo(click.style(f"[{message.role}]", dim=True))
            click.echo(harmless(message.content))
    return 0


def _facts(test: Test, workspace: Workspace) -> dict[str, Any]:
    from poor_bench.models.test import merge_specs

    test_class = workspace.test_classes[test.class_id]
    spec = merge_specs(test_class.evaluator, test.evaluator)
    return {
        "test": test.test_id,
        "class": test.class_id,
        "level": test.level,
        "tags": [*test.tags, *test_class.tags],
        "evaluator": spec.name,
        "parameters": dict(spec.parameters),
        "reference_response": test.reference_response,
    }


def _prompts(
    test: Test, workspace: Workspace, patterns: tuple[str, ...]
) -> list[tuple[tuple[Message, ...], list[str]]]:
    """Return the different conversations, each with the LLMs that get it."""
    from poor_bench.prompts.request import build_messages
    from poor_bench.runner.selection import Selection, select

    chosen = select(workspace, Selection(llms=patterns)).llms or workspace.llms
    llm_ids: dict[tuple[Message, ...], list[str]] = {}
    for llm in chosen:
        messages = build_messages(llm, workspace.test_classes[test.class_id], test)
        llm_ids.setdefault(messages, []).append(llm.id)
    return list(llm_ids.items())


def _to_json(messages: tuple[Message, ...], llm_ids: list[str]) -> dict[str, Any]:
    sent = [{"role": message.role, "content": message.content} for message in messages]
    return {"llm_ids": llm_ids, "messages": sent}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
