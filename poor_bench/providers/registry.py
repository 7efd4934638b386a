"""From a configured LLM to the provider that asks it, or to a curl command that does.

What a run needs is imported, no more. A curl command can be pasted into a shell; keys stay in the
environment.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from poor_bench.errors import ConfigError
from poor_bench.models.completion import ChatRequest
from poor_bench.models.llm import LLM
from poor_bench.ports import Provider
from poor_bench.providers.api_keys import find_key_variable
from poor_bench.providers.catalog import ProviderServices, WireFormat, find_entry
from poor_bench.providers.endpoint import resolve_endpoint

if TYPE_CHECKING:
    from poor_bench.providers.chat_wire import ChatWire


def create_provider(llm: LLM, services: ProviderServices) -> Provider:
    """Create the provider of one LLM; nothing is asked yet.

    Raises:
        ConfigError: If the provider is unknown, or the endpoint or script of the LLM unusable.
        MissingExtraError: If the provider needs a package that is not installed.
    """
    match find_entry(llm).wire:
        case WireFormat.OLLAMA:
            from poor_bench.providers.ollama import OllamaProvider

            return OllamaProvider(llm, services)
        case WireFormat.OPENAI:
            from poor_bench.providers.http_providers import OpenAIProvider

            return OpenAIProvider(llm, services)
        case WireFormat.ANTHROPIC:
            from poor_bench.providers.http_providers import AnthropicProvider

            return AnthropicProvider(llm, services)
        case WireFormat.EMBEDDED:
            from poor_bench.providers.embedded import EmbeddedProvider

            return EmbeddedProvider(llm, services)
        case WireFormat.SCRIPTED:
            from poor_bench.providers.scripted import ScriptedProvider

            return ScriptedProvider(llm, services)


_KEY = "KEY-OF-THE-REQUEST"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def write_curl(llm: LLM, request: ChatRequest, environ: Mapping[str, str]) -> str:
    r"""Write the command that sends a request.

    Whatever a prompt holds, the command is printable ASCII on three lines: the body is JSON in
    single quotes, in which quotes, exclamation marks and all other characters are escaped.

    Args:
        llm: The model.
        request: What it is sent.
        environ: Where its endpoint may be named; keys are not read.

    Raises:
        ConfigError: If the model is not asked over HTTP in a format known here, or its endpoint
                cannot be used.
    """
    wire = _create_wire(llm)
    url = resolve_endpoint(llm, environ)
    if find_entry(llm).wire is WireFormat.OLLAMA:
        url = url.removesuffix("/v1")
    body = json.dumps(wire.body(request, frozenset()), default=str)
    quoted = body.replace("'", "\\u0027").replace("!", "\\u0021").replace("\x7f", "\\u007f")
    headers = " ".join(_write_headers(llm, wire, environ))
    return f"curl {shlex.quote(url + wire.path)} \\\n  {headers} \\\n  --data-binary '{quoted}'"


def _write_headers(llm: LLM, wire: ChatWire, environ: Mapping[str, str]) -> Iterable[str]:
    variable = find_key_variable(llm, environ)
    if variable is not None and not _VARIABLE.fullmatch(variable):
        raise ConfigError(f"{llm.id}: {variable!r} is not the name of an environment variable")
    for name, value in wire.headers(_KEY if variable else None).items():
        header = f"{name}: {value}"
        if _KEY in header:
            yield f'-H "{header.replace(_KEY, f"${variable}")}"'
        else:
            yield f"-H {shlex.quote(header)}"


def _create_wire(llm: LLM) -> ChatWire:
    wire = find_entry(llm).wire
    match wire:
        case WireFormat.OLLAMA:
            from poor_bench.providers.ollama_wire import OllamaWire

            return OllamaWire(llm.name)
        case WireFormat.OPENAI:
            from poor_bench.providers.openai_wire import OpenAIWire, find_dialect

            return OpenAIWire(llm.name, find_dialect(llm.provider))
        case WireFormat.ANTHROPIC:
            from poor_bench.providers.anthropic_wire import AnthropicWire

            return AnthropicWire(llm.name)
        case _:
            raise ConfigError(f"no curl command exists for requests to {llm.id}")
