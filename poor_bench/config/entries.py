"""Decode llms.json, test_classes.yaml and tests.json, entry by entry.

Of models, ids, keys that must not stand in a file and endpoints that cannot be reached are checked.
Tests are small in memory, since there may be very many of them.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from poor_bench.config.document import Document, Loaded, Place, Report
from poor_bench.config.entry_validation import drop_comments, list_entries, validate_entry
from poor_bench.config.file_models import EvaluatorEntry, LLMEntry, TestClassEntry, TestEntry
from poor_bench.config.names import find_misspelt_name, find_nearest_name
from poor_bench.errors import ConfigError
from poor_bench.models.llm import LLM, Prices, Timeouts, build_base_llm_id, build_think_suffix
from poor_bench.models.test import NO_FIELDS, EvaluatorSpec, Test, TestClass
from poor_bench.providers.catalog import list_provider_names
from poor_bench.providers.endpoint import resolve_endpoint
from poor_bench.providers.parameters import (
    list_ignored_parameters,
    list_known_parameters,
    list_unknown_parameters,
)


def decode_llms(document: Document, report: Report) -> Iterator[tuple[Place, LLM]]:
    """Yield the valid LLMs of a file with their places; the report takes the others."""
    entries = []
    for place, written in list_entries(document, "llms", report):
        raw = hide_secrets(written, place, report)
        entry = validate_entry(LLMEntry, raw, place, report)
        if entry is not None:
            entries.append((place, entry, drop_comments(raw.get("parameters", {}))))
    ids = assign_llm_ids([entry for _, entry, _ in entries])
    for llm_id, (place, entry, parameters) in zip(ids, entries, strict=True):
        yield place, _to_llm(llm_id, entry, parameters)


def assign_llm_ids(entries: Sequence[LLMEntry]) -> list[str]:
    """Choose the id of every entry.

    An explicit `id` stands. Where several entries without one share provider and name, their
    think parameter tells them apart; ids that are still the same are for the caller to refuse.
    """
    bases = [build_base_llm_id(entry.provider, entry.name) for entry in entries]
    unnamed = Counter(base for base, entry in zip(bases, entries, strict=True) if not entry.id)
    return [
        entry.id
        or (base + build_think_suffix(entry.parameters.think) if unnamed[base] > 1 else base)
        for base, entry in zip(bases, entries, strict=True)
    ]


def _to_llm(llm_id: str, entry: LLMEntry, parameters: dict[str, Any]) -> LLM:
    changed = {
        "id": llm_id,
        "parameters": parameters,
        "timeouts": Timeouts(**dict(entry.timeouts)),
        "prices": Prices(**dict(entry.prices)),
        "tags": tuple(entry.tags),
    }
    return LLM(**(dict(entry) | changed))


_SECRET_NAMES = frozenset(
    {"apikey", "key", "token", "accesstoken", "authtoken", "secret", "password", "authorization"}
)
_KEY_SHAPE = re.compile(r"(sk|pk|gsk|xai|hf|key)[-_][A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{30,}")
_USER_IN_URL = re.compile(r"^[a-z]+://[^/@\s]*:[^/@\s]*@", re.IGNORECASE)
_HINT = "set an environment variable to the key, and write its name under `api_key_env`"


_INNER = frozenset({"parameters", "headers", "extra_headers"})


def hide_secrets(raw: Mapping[str, Any], place: Place, report: Report) -> dict[str, Any]:
    """Copy an entry of llms.json without secrets; each is noted, and none of it repeated."""
    clean = {}
    for key, value in raw.items():
        inner = (*place, key)
        if key in _INNER and isinstance(value, dict):
            clean[key] = hide_secrets(value, inner, report)
        elif isinstance(value, str) and (message := _find_objection(key, value)):
            report.error(inner, message, hint=_HINT, code="secret")
        else:
            clean[key] = value
    return clean


def _find_objection(key: str, value: str) -> str:
    if value and re.sub(r"[^a-z]", "", key.lower()) in _SECRET_NAMES:
        return "a file must not contain a key"
    if key == "api_key_env" and _KEY_SHAPE.fullmatch(value):
        return "this looks like a key; write the name of an environment variable instead"
    if _USER_IN_URL.match(value):
        return "an address must not contain a user name and password"
    return ""


IsOwnProvider = Callable[[str], bool]
"""True for the name of a provider that the calling program brings along."""


def check_llms(llms: Loaded[LLM], is_own_provider: IsOwnProvider | None = None) -> None:
    """Note providers that are unknown or misspelt, and endpoints that are not addresses."""
    for llm_id, llm in llms.by_id.items():
        if is_own_provider is None or not is_own_provider(llm.provider):
            _check_llm(llm, llms.places[llm_id], llms.report)


def _check_llm(llm: LLM, place: Place, report: Report) -> None:
    try:
        resolve_endpoint(llm, environ={})
    except ConfigError as error:
        key = "endpoint" if llm.endpoint else "provider"
        report.error((*place, key), str(error), hint=error.hint, code=f"bad-{key}")
        return
    _check_parameters(llm, (*place, "parameters"), report)
    meant = find_misspelt_name(llm.provider, list_provider_names())
    if meant is not None and meant != llm.provider.lower():
        message = f"`{llm.provider}` is treated as an OpenAI-compatible server"
        hint = f"did you mean `{meant}`?"
        report.warning((*place, "provider"), message, hint=hint, code="unknown-provider")


def describe_unknown_parameter(provider: str, name: str) -> tuple[str, str]:
    """Say what is wrong with a parameter that means nothing, and name the nearest one.

    Files that have one still load, with a warning; forms refuse to write a new one.

    Example:
        >>> describe_unknown_parameter("ollama", "temprature")
        ('unknown parameter `temprature`', 'did you mean `temperature`?')
    """
    near = find_nearest_name(name, list_known_parameters(provider))
    hint = f"did you mean `{near}`?" if near else "use `extra_body` to send it unchanged"
    return f"unknown parameter `{name}`", hint


def _check_parameters(llm: LLM, place: Place, report: Report) -> None:
    for name in list_unknown_parameters(llm.provider, llm.parameters):
        message, hint = describe_unknown_parameter(llm.provider, name)
        report.warning((*place, name), message, hint=hint, code="unknown-parameter")
    for name in list_ignored_parameters(llm.provider, llm.parameters):
        message = f"`{llm.provider}` ignores `{name}`"
        report.warning((*place, name), message, code="ignored-parameter")


def decode_test_classes(document: Document, report: Report) -> Iterator[tuple[Place, TestClass]]:
    """Yield the valid test classes of a file with their places; the report takes the others."""
    for place, raw in list_entries(document, "test_classes", report):
        entry = validate_entry(TestClassEntry, raw, place, report)
        if entry is not None:
            yield place, _to_test_class(entry, _read_templates(raw, place, report))


def _read_templates(raw: dict[str, Any], place: Place, report: Report) -> dict[str, str]:
    templates = drop_comments(raw["work_prompt_template"])
    templates.pop("overrides", None)
    for key, template in templates.items():
        if not isinstance(template, str):
            where = (*place, "work_prompt_template", key)
            report.error(where, "must be a text", code="bad-type")
    return templates


def _to_test_class(entry: TestClassEntry, templates: dict[str, str]) -> TestClass:
    evaluator = entry.evaluation_module
    return TestClass(
        id=entry.id,
        description=entry.description,
        system_prompt=entry.system_prompt,
        templates=templates,
        overrides=drop_comments(entry.work_prompt_template.overrides),
        evaluator=None if evaluator is None else _to_spec(evaluator),
        response_schema=entry.response_schema,
        tags=tuple(entry.tags),
    )


def _to_spec(entry: EvaluatorEntry) -> EvaluatorSpec:
    return EvaluatorSpec(entry.name, drop_comments(entry.parameters))


def decode_tests(
    document: Document, classes: Mapping[str, TestClass], report: Report
) -> Iterator[tuple[Place, Test]]:
    """Yield the valid tests of a file with their places; the report takes the others.

    Args:
        document: The parsed file.
        classes: The test classes by id; a test that names no evaluator takes its class's.
        report: Takes what is wrong.
    """
    for place, raw in list_entries(document, "tests", report):
        entry = validate_entry(TestEntry, raw, place, report)
        if entry is not None and _has_one_content(entry, place, report):
            yield place, _to_test(entry, classes.get(entry.class_id))


def _has_one_content(entry: TestEntry, place: Place, report: Report) -> bool:
    if (entry.text is None) != (entry.texts is None):
        return True
    which = "neither `text` nor `texts`" if entry.text is None else "both `text` and `texts`"
    hint = "give exactly one of them; further placeholders go into `fields`"
    report.error(place, f"test `{entry.test_id}` has {which}", hint=hint, code="bad-content")
    return False


def _to_test(entry: TestEntry, test_class: TestClass | None) -> Test:
    return Test(
        test_id=entry.test_id,
        class_id=sys.intern(entry.class_id),
        level=entry.level,
        text=entry.text,
        texts=None if entry.texts is None else tuple(entry.texts),
        fields=drop_comments(entry.fields) or NO_FIELDS,
        evaluator=_choose_evaluator(entry, test_class),
        reference_response=entry.reference_response,
        tags=tuple(sys.intern(tag) for tag in entry.tags),
        enabled=entry.enabled,
        group=None if entry.group is None else sys.intern(entry.group),
        reported=entry.reported,
    )


def _choose_evaluator(entry: TestEntry, test_class: TestClass | None) -> EvaluatorSpec | None:
    written = entry.evaluation_module
    if written is None:
        return None
    of_class = test_class.evaluator if test_class else None
    name = written.name or (of_class.name if of_class else None)
    if name is None:
        return None
    return EvaluatorSpec(sys.intern(name), drop_comments(written.parameters))
