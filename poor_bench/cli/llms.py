"""`llms`: list, add, discover, try and probe LLMs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from poor_bench.cli.context import AppContext, pass_app
from poor_bench.cli.llms_probe import probe_llm, probe_to_json
from poor_bench.cli.options import read_parameters
from poor_bench.cli.output import (
    json_option,
    print_json,
    print_problems,
    print_table,
    say,
    shorten,
    show_status,
)
from poor_bench.command_line import next_command, write_examples
from poor_bench.messages import harmless, write_count

if TYPE_CHECKING:
    from poor_bench.models.completion import Completion
    from poor_bench.models.llm import LLM
    from poor_bench.ports import Reachability
    from poor_bench.probe.report import ProbeReport

_EPILOG = write_examples(
    """
  {program} llms                             configured models, and whether they are reachable
  {program} llms discover                    models of the local Ollama
  {program} llms discover --add              add them to llms.json
  {program} llms add ollama qwen3:1.7b --set temperature=0 --set think=false
  {program} llms test embedded:smollm2-135m "What is 2 + 2?"
  {program} llms probe embedded:smollm2-135m     settings that the server ignores
"""
)


@click.group(invoke_without_command=True, epilog=_EPILOG)
@click.option("--no-check", is_flag=True, help="Skip the check that endpoints are reachable.")
@json_option
@click.pass_context
def command(ctx: click.Context, no_check: bool, as_json: bool) -> int:
    """List, add, discover, try and probe models."""
    if ctx.invoked_subcommand is not None:
        return 0
    from poor_bench.probe.storage import load_probes

    app: AppContext = ctx.obj
    llms = app.workspace.llms
    checks = {} if no_check else _check_all(app, llms)
    probes = load_probes(app.data_dir)
    current = app.config.load_current_probes()
    if as_json:
        print_json(
            {
                "llms": [
                    _llm_to_json(llm, checks.get(llm.id))
                    | {"probe": _probe_to_json(llm.id, probes, current)}
                    for llm in llms
                ]
            }
        )
        return 0
    print_table(
        {
            "Model": llm.id,
            "Label": llm.label,
            "": "" if llm.enabled else "off",
            ">Size": f"{llm.size:g} B" if llm.size else "",
            "Parameters": shorten(", ".join(f"{k}={v}" for k, v in llm.parameters.items()), 60),
            "Reachable": _describe_check(checks.get(llm.id)),
            "Probe": _describe_probe(llm.id, probes, current),
        }
        for llm in llms
    )
    return 0


@command.command("test")
@click.argument("llm_id")
@click.argument("prompt", default="Say hello in one short sentence.")
@json_option
@pass_app
def try_llm(app: AppContext, /, llm_id: str, prompt: str, as_json: bool) -> int:
    """Send one prompt to a model and show its response."""
    from poor_bench.llm_manager import LLMManager
    from poor_bench.models.completion import Message

    llm = app.find_llm(llm_id)
    system = [Message("system", llm.base_system_prompt)] if llm.base_system_prompt else []
    manager = LLMManager(app.data_dir)
    try:
        with show_status(f"Asking {llm.id}"):
            manager.preload(llm)
            completion = manager.complete(llm, (*system, Message("user", prompt)))
    finally:
        manager.close()
    _print_completion(completion, as_json=as_json)
    return 0


@command.command()
@click.option("--endpoint", default=None, metavar="URL", help="Server; default: the local Ollama.")
@click.option("--add", "adds", is_flag=True, help="Add new models to llms.json.")
@json_option
@pass_app
def discover(app: AppContext, /, endpoint: str | None, adds: bool, as_json: bool) -> int:
    """List the models of an Ollama server."""
    from poor_bench.config.load import find_llms_file
    from poor_bench.llm_manager import LLMManager

    with show_status("Asking Ollama"):
        entries = LLMManager(app.data_dir).discover(endpoint or "")
    known = {(llm.provider, llm.name) for llm in app.workspace.llms}
    new = [entry for entry in entries if ("ollama", entry["name"]) not in known]
    if adds and new:
        app.config.add_llms(new)
    if as_json:
        print_json({"found": entries, "new": [entry["name"] for entry in new], "added": adds})
        return 0
    print_table(
        {
            "Model": str(entry["name"]),
            ">Size": f"{entry.get('size') or '?'} B",
            "": "new" if entry in new else "listed",
        }
        for entry in entries
    )
    if adds:
        click.echo(f"Added {write_count(len(new), 'model')} to {find_llms_file(app.data_dir)}")
    elif new:
        server = ("--endpoint", endpoint) if endpoint else ()
        click.echo(f"Next: {next_command('llms discover --add', *server)}")
    return 0


@command.command()
@click.argument("provider")
@click.argument("name")
@click.option("--endpoint", metavar="URL", help="Base URL of the server.")
@click.option("--api-key-env", metavar="NAME", help="Environment variable that holds the key.")
@click.option("--size", type=float, help="Size in billions of parameters.")
@click.option("--label", help="Name on screens.")
@click.option("--id", "llm_id", help="Id; needed if the same model is listed twice.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="A parameter, such as temperature=0; repeatable.",
)
@pass_app
def add(
    app: AppContext,
    /,
    provider: str,
    name: str,
    settings: tuple[str, ...],
    llm_id: str | None,
    **fields: Any,
) -> int:
    """Add a model to llms.json."""
    from poor_bench.config.load import find_llms_file

    known = set(app.workspace.problems)
    given = {"provider": provider, "name": name, "id": llm_id or None, **fields}
    entry = {key: value for key, value in given.items() if value is not None}
    entry["parameters"] = read_parameters(settings, "--set")
    app.config.add_llms([entry])
    click.echo(f"Added {provider}:{name} to {find_llms_file(app.data_dir)}")
    problems = [problem for problem in app.config.workspace.problems if problem not in known]
    print_problems(problems)
    return 0


def _check_all(app: AppContext, llms: tuple[LLM, ...]) -> dict[str, Reachability]:
    from poor_bench.llm_manager import LLMManager
    from poor_bench.pool.pool import check_llms

    manager = LLMManager(app.data_dir)
    try:
        with show_status("Checking the endpoints"):
            return check_llms(manager, llms)
    finally:
        manager.close()


def _llm_to_json(llm: LLM, check: Reachability | None) -> dict[str, Any]:
    return {
        "llm_id": llm.id,
        "label": llm.label,
        "provider": llm.provider,
        "name": llm.name,
        "endpoint": llm.endpoint,
        "enabled": llm.enabled,
        "size": llm.size,
        "parameters": dict(llm.parameters),
        "reachable": None if check is None else check.reachable,
        "model_present": None if check is None else check.model_present,
        "state": "" if check is None else check.state,
        "message": "" if check is None else check.message,
    }


def _describe_check(check: Reachability | None) -> str:
    if check is None:
        return ""
    return "yes" if check.state == "ready" else f"{check.state}: {check.message}"


def _probe_to_json(
    llm_id: str, probes: Mapping[str, ProbeReport], current: Mapping[str, ProbeReport]
) -> dict[str, Any] | None:
    probe = probes.get(llm_id)
    return probe_to_json(llm_id, probe, is_current=llm_id in current) if probe else None


def _describe_probe(
    llm_id: str, probes: Mapping[str, ProbeReport], current: Mapping[str, ProbeReport]
) -> str:
    if llm_id not in current:
        return "stale" if llm_id in probes else ""
    probe = current[llm_id]
    found = ", ".join(probe.notes) or ("nothing ignored" if probe.is_clean else "")
    load = f"concurrency {probe.load.recommended} recommended" if probe.load else ""
    return "; ".join(part for part in (found, load) if part)


def _print_completion(completion: Completion, *, as_json: bool) -> None:

    from poor_bench.metrics import time_text

    if as_json:
        print_json(asdict(completion))
        return
    if completion.thinking:
        click.echo(click.style(f"[thinking] {harmless(completion.thinking)}", dim=True))
    say(completion.text)
    usage, timing = completion.usage, completion.timing
    click.echo(
        f"[{completion.finish_reason}; {usage.prompt_tokens} prompt and "
        f"{write_count(usage.completion_tokens or 0, 'completion token')}; "
        f"{time_text(timing.total_ms)}]",
        err=True,
    )


command.add_command(probe_llm)
