"""Where an LLM is asked: its base URL, whether that is local, who shares it, what it serves."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import SplitResult, urlsplit

from poor_bench.errors import ConfigError
from poor_bench.models.llm import LLM
from poor_bench.providers.catalog import ProviderEntry, WireFormat, find_entry

WORKER_LOCAL = "worker-local"
"""Endpoint of an LLM that each worker of a cluster asks on its own machine, at the provider's
default address; without a cluster, this machine is the only worker."""
_OLLAMA_PORT = 11434
_PATHS_OF_CALLS = ("/chat/completions", "/v1/messages", "/api/chat", "/api/generate", "/api")


def resolve_endpoint(llm: LLM, environ: Mapping[str, str] = os.environ) -> str:
    """Find the base URL that an LLM is asked at, without a slash at its end.

    Slips with one meaning are corrected: a missing scheme, the path of a single call, a
    missing `/v1` of an OpenAI-compatible server.

    Returns:
        Such as `http://127.0.0.1:11434`; an empty string for LLMs that have no endpoint.

    Raises:
        ConfigError: If the endpoint is not a usable URL, or the provider is unknown.
    """
    entry = find_entry(llm)
    if not entry.wire.has_endpoint:
        return ""
    url = _choose_endpoint(llm, entry, environ)
    parts = _split(url, llm.id)
    path = _trim_path(parts.path)
    if entry.wire is WireFormat.OPENAI and not path:
        path = "/v1"
    if entry.wire is WireFormat.ANTHROPIC:
        path = path.removesuffix("/v1")
    return f"{parts.scheme}://{parts.netloc}{path}"


def is_worker_local(llm: LLM) -> bool:
    """True if each worker of a cluster asks a server of its own.

    Raises:
        ConfigError: If the provider is unknown.
    """
    is_named = (llm.endpoint or "").strip() == WORKER_LOCAL
    return is_named or find_entry(llm).wire is WireFormat.EMBEDDED


def is_loopback(llm: LLM, environ: Mapping[str, str] = os.environ) -> bool:
    """True if the address of an LLM's server means another machine on every machine.

    Raises:
        ConfigError: As `resolve_endpoint`.
    """
    host = urlsplit(resolve_endpoint(llm, environ)).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def is_local(llm: LLM, environ: Mapping[str, str] = os.environ) -> bool:
    """True if an LLM runs on this machine or in its network.

    Judged by the name or address alone; nothing is resolved.

    Raises:
        ConfigError: As `resolve_endpoint`.
    """
    endpoint = resolve_endpoint(llm, environ)
    return not endpoint or is_local_host(urlsplit(endpoint).hostname or "")


def is_local_host(host: str) -> bool:
    """True if a host name or address is of this machine or a private network."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local", ".internal", ".lan"))
    return address.is_private or address.is_loopback or address.is_link_local


def build_endpoint_key(llm: LLM, environ: Mapping[str, str] = os.environ) -> str:
    """Name the server of an LLM: the same text for LLMs that share it, and so its limits.

    Raises:
        ConfigError: As `resolve_endpoint`.
    """
    endpoint = resolve_endpoint(llm, environ)
    if not endpoint:
        return llm.id if find_entry(llm).wire is WireFormat.SCRIPTED else find_entry(llm).wire.value
    parts = urlsplit(endpoint)
    host = "127.0.0.1" if parts.hostname in {"localhost", "::1"} else parts.hostname
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"{parts.scheme}://{host}:{port}"


def make_ollama_url(value: str) -> str:
    """Make the URL that a value of OLLAMA_HOST stands for.

    Source:
        Ollama's FAQ and client: scheme, host and port may each be missing; `0.0.0.0` is what a
        server listens on and is reached at 127.0.0.1.

    Example:
        >>> make_ollama_url("0.0.0.0")
        'http://127.0.0.1:11434'
    """
    scheme, _, rest = value.strip().rpartition("://")
    authority, slash, path = rest.partition("/")
    default_port = {"http": 80, "https": 443}.get(scheme, _OLLAMA_PORT)
    if authority.count(":") > 1 and not authority.startswith("["):
        authority = f"[{authority}]"
    host, colon, port = authority.rpartition(":")
    if not colon or port.endswith("]"):
        host, port = authority, ""
    if not host or _listens_everywhere(host):
        host = "127.0.0.1"
    return f"{scheme or 'http'}://{host}:{port or default_port}{slash}{path}"


def _listens_everywhere(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return False


def _choose_endpoint(llm: LLM, entry: ProviderEntry, environ: Mapping[str, str]) -> str:
    written = (llm.endpoint or "").strip()
    if written and written != WORKER_LOCAL:
        return written
    of_environment = environ.get(entry.endpoint_env or "", "").strip()
    if of_environment:
        return (
            make_ollama_url(of_environment) if entry.wire is WireFormat.OLLAMA else of_environment
        )
    if entry.endpoint is None:
        raise ConfigError(
            f"{llm.id}: {WORKER_LOCAL} needs a provider with a default address",
            hint="such as ollama, llamacpp, vllm or lmstudio",
        )
    return entry.endpoint


@lru_cache(maxsize=256)  # Every answer of a model asks for its endpoint, to hide its key.
def _split(url: str, llm_id: str) -> SplitResult:
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname)
        usable = usable and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or any(character.isspace() for character in url):
        raise ConfigError(
            f"{llm_id}: the endpoint is not a URL of a server",
            hint="such as http://127.0.0.1:11434",
        )
    if parts.username or parts.password or parts.query:
        raise ConfigError(
            f"{llm_id}: the endpoint must not hold a user name, key or query",
            hint="put the key into an environment variable and name it in api_key_env",
        )
    return parts


def _trim_path(path: str) -> str:
    path = path.rstrip("/")
    for ending in _PATHS_OF_CALLS:
        path = path.removesuffix(ending)
    return path.rstrip("/")
