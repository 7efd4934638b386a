"""From llms.json to LLMs, each with an id of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from poor_bench.config.document import Document
from poor_bench.config.entries import entries_in
from poor_bench.config.entry_validation import validate_entry
from poor_bench.config.file_models import LLMEntry, PricesEntry, TimeoutsEntry
from poor_bench.config.llm_secrets import without_secrets
from poor_bench.config.report import Place, Report
from poor_bench.config.unknown_keys import without_comments
from poor_bench.models.llm import LLM, Prices, Timeouts, base_llm_id, think_suffix


def decode_llms(document: Document, report: Report) -> Iterator[tuple[Place, LLM]]:
    """Yield the valid LLMs of a file with their places; the report takes the others."""
    entries = []
    for place, written in entries_in(document, "llms", report):
        raw = without_secrets(written, place, report)
        entry = validate_entry(LLMEntry, raw, place, report)
        if entry is not None:
            entries.append((place, entry, without_comments(raw.get("parameters", {}))))
    ids = assign_llm_ids([entry for _, entry, _ in entries])
    for llm_id, (place, entry, parameters) in zip(ids, entries, strict=True):
        yield place, _to_llm(llm_id, entry, parameters)


def assign_llm_ids(entries: Sequence[LLMEntry]) -> list[str]:
    """Return the id of every entry.

    An explicit `id` stands. Where several entries without one share provider and name, their
    think parameter tells them apart; ids that are still the same are for the caller to refuse.
    """
    bases = [base_llm_id(entry.provider, entry.name) for entry in entries]
    unnamed = Counter(base for base, entry in zip(bases, entries, strict=True) if not entry.id)
    return [
        entry.id or (base + think_suffix(entry.parameters.think) if unnamed[base] > 1 else base)
        for base, entry in zip(bases, entries, strict=True)
    ]


def _to_llm(llm_id: str, entry: LLMEntry, parameters: dict[str, Any]) -> LLM:
    return LLM(
        id=llm_id,
        provider=entry.provider,
        name=entry.name,
        label=entry.label,
        endpoint=entry.endpoint,
        api_key_env=entry.api_key_env,
        base_system_prompt=entry.base_system_prompt,
        size=entry.size,
        parameters=parameters,
        enabled=entry.enabled,
        concurrency=entry.concurrency,
        requests_per_minute=entry.requests_per_minute,
        timeouts=_to_timeouts(entry.timeouts),
        prices=_to_prices(entry.prices),
        tags=tuple(entry.tags),
    )


def _to_timeouts(entry: TimeoutsEntry) -> Timeouts:
    return Timeouts(**entry.model_dump())


def _to_prices(entry: PricesEntry) -> Prices:
    return Prices(**entry.model_dump())
