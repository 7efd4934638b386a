"""Which environment variable a form may send to which server: never one that nobody agreed to."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import dash_mantine_components as dmc
from dash import html

from poor_bench.dashboard.components.form_answer import FormAnswer
from poor_bench.dashboard.field_problems import form_error
from poor_bench.dashboard.pages.llms.ids import EditIds, form_id
from poor_bench.models.llm import LLM
from poor_bench.providers.catalog import PROVIDERS, provider_names

_FURTHER_PROVIDERS = (
    "azure_openai", "cerebras", "cohere", "fireworks", "gemini", "google", "hf", "huggingface",
    "nvidia", "perplexity", "sambanova", "together", "xai",
)  # fmt: skip
_KNOWN = frozenset(
    f"{name}_{ending}".upper()
    for name in (*provider_names(), *_FURTHER_PROVIDERS)
    for ending in ("api_key", "token")
)


def needed_consent(
    provider: str, endpoint: str, variable: str, listed: Iterable[LLM]
) -> str | None:
    """Name what the user has to agree to before an entry is written; None for nothing.

    A key goes to a server only if llms.json pairs the two already. Any other pair is asked about,
    and a variable that neither llms.json nor a known provider names is refused: a form must not
    reach every secret of the environment.

    Args:
        provider: Provider of the entry.
        endpoint: Its server; the provider's own where empty.
        variable: Name of the environment variable with its key; empty for none.
        listed: The entries of llms.json as they are.

    Returns:
        A sentence with variable and server, such as `Send the value of A to http://b`.

    Raises:
        ConfigError: If the variable may not be named here.
    """
    if not variable:
        return None
    pairs = {(llm.api_key_env, _server(llm.provider, llm.endpoint or "")) for llm in listed}
    server = _server(provider, endpoint)
    if (variable, server) in pairs:
        return None
    if variable not in _KNOWN and variable not in {named for named, _ in pairs}:
        hint = "Use a name such as OPENAI_API_KEY, or write the entry into llms.json by hand"
        raise form_error({"api_key_env": f"{variable} is not the key of a known provider. {hint}."})
    return f"Send the value of {variable} to {server}"


def ask_consent(form: str, sentence: str) -> FormAnswer:
    """Show what is to be agreed to; nothing is written yet.

    Args:
        form: Id of the LLM whose form it is; empty for the form of a new one.
        sentence: From `needed_consent`; it is what the box reports once it is ticked, so that a
            server that is changed afterwards is asked about again.
    """
    box = dmc.CheckboxGroup(
        dmc.Checkbox(label=sentence, value=sentence, size="xs", radius="sm"),
        id=form_id(EditIds.CONSENT, form),
        value=[],
    )
    text = html.P("Nothing is saved yet. Tick the box to confirm, then save again.", role="alert")
    return FormAnswer(shown=html.Div([text, box], className="form-stack"), is_saved=False)


def is_given(sentence: str | None, ticked: Collection[Any]) -> bool:
    """True if nothing has to be agreed to, or the boxes that are ticked hold it."""
    return sentence is None or any(sentence in (box or ()) for box in ticked)


def _server(provider: str, endpoint: str) -> str:
    entry = PROVIDERS.get(provider.lower())
    return endpoint.rstrip("/") or (entry.endpoint if entry else None) or provider
