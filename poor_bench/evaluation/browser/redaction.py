"""Secrets out of everything that is stored or shown to an LLM."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus

from poor_bench.evaluation.agent import Step
from poor_bench.evaluation.browser.addresses import split_web_url
from poor_bench.models.llm import LLM
from poor_bench.providers.api_keys import find_known_key, hide_key_in_answer


class Redactor:
    """Replaces the values of secrets by their names, also where a page has encoded them.

    Values that are not words are found in any case and in base64, too.
    """

    def __init__(self, secrets: Mapping[str, str], keys: Iterable[str | None] = ()) -> None:
        """Learn the secrets.

        Args:
            secrets: Value of each secret by its name; empty values are not secrets.
            keys: Keys, shown as `[key]`; placeholders such as `ollama` are words and stay.
        """
        spellings = {
            spelling: f"[{name}]"
            for name, value in secrets.items()
            if value
            for spelling in _list_spellings(value)
        }
        self._spellings = sorted(spellings.items(), key=lambda item: -len(item[0]))
        self._hidden = [(value, f"[{name}]") for name, value in secrets.items()]
        self._hidden += [(key, "[key]") for key in keys if key]
        self._hidden.sort(key=lambda item: -len(item[0]))
        self.values = tuple(value for value in secrets.values() if value)

    def text(self, text: str) -> str:
        """Remove secrets from a text."""
        for spelling, name in self._spellings:
            text = text.replace(spelling, name)
        for value, name in self._hidden:
            text = hide_key_in_answer(text, value, name)
        return text

    def step(self, step: Step) -> Step:
        """Remove secrets from a step."""
        texts = ("text", "url", "title", "thought", "result", "error")
        changes: dict[str, Any] = {name: self.text(getattr(step, name)) for name in texts}
        return replace(step, action=self.value(step.action), **changes)

    def value(self, value: Any) -> Any:
        """Remove secrets from JSON-like data, from keys as well."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.value(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value


def make_redactor(
    credentials: Iterable[str], llm: LLM | None, environ: Mapping[str, str], profile: str
) -> Redactor:
    """Make the redactor of all secrets of a trial.

    Args:
        credentials: Names of environment variables.
        llm: Model of the trial, whose key an agent may know.
        environ: Where credentials and keys are looked up.
        profile: The agent; the address of one may contain a password or a key.
    """
    key = find_known_key(llm, environ) if llm else None
    return Redactor(
        {name: environ.get(name, "") for name in credentials}, (key, *_find_secrets(profile))
    )


def _find_secrets(address: str) -> list[str]:
    url = split_web_url(address)
    if url is None:
        return []
    return [url.password or "", *(value for _name, value in parse_qsl(url.query))]


def _list_spellings(value: str) -> set[str]:
    return {
        value,
        quote(value, safe=""),
        quote(value),
        quote_plus(value),
        html.escape(value),
        html.escape(value, quote=False),
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
    }
