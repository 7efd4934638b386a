"""JSON schemas: checked themselves before they check anything, and applied within a time limit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator
    from referencing import Registry, Resource

_PATTERN_S = 1.0
"""Longest search for a `pattern` in one text, in seconds."""


@lru_cache(maxsize=64)
def schema_validator(schema: str) -> Validator:
    """Return the validator of a schema given as JSON.

    Raises:
        ValueError: If it is not a JSON schema, or refers to what is not in it.
    """
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, extend, validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    document = json.loads(schema)
    kind = validator_for(document, default=Draft202012Validator)
    # With a registry of its own the validator never fetches a reference from elsewhere.
    registry: Registry[Any] = Registry()
    try:
        kind.check_schema(document)
        root: Resource[Any] = DRAFT202012.create_resource(document)
        base = root.id() or ""
        _require_references(root, registry.with_resource(base, root).resolver(base))
    except SchemaError as error:
        raise ValueError(f"not a JSON schema: {error.json_path}: {error.message:.200}") from error
    except Unresolvable as error:
        raise ValueError(f"the schema refers to {error.ref!r:.200}, which is not in it") from error
    make_kind: Callable[..., Any] = extend
    limited = make_kind(kind, {"pattern": _check_pattern})
    validator: Validator = limited(document, registry=registry)
    return validator


def _require_references(schema: Resource[Any], resolver: Any) -> None:
    contents = schema.contents
    if isinstance(contents, dict) and "$ref" in contents:
        _require_end(contents["$ref"], resolver)
    for part in schema.subresources():
        _require_references(part, resolver.in_subresource(part))


def _require_end(reference: str, resolver: Any) -> None:
    """Follow a reference to where there is no further one."""
    passed: list[Any] = []
    following: str | None = reference
    while following is not None:
        resolved = resolver.lookup(following)
        contents, resolver = resolved.contents, resolved.resolver
        if any(contents is earlier for earlier in passed):
            raise ValueError(f"the schema's reference {reference!r:.200} leads back to itself")
        passed.append(contents)
        following = contents.get("$ref") if isinstance(contents, dict) else None


def _check_pattern(
    validator: Validator, pattern: str, value: Any, _schema: Any
) -> Iterator[ValidationError]:
    """Check the keyword `pattern`, within a time limit.

    Raises:
        TimeoutError: If the search takes too long: a fault of the schema, not of the value.
    """
    import regex
    from jsonschema.exceptions import ValidationError

    if not validator.is_type(value, "string"):
        return
    try:
        occurs = regex.search(pattern, value, timeout=_PATTERN_S)
    except TimeoutError as error:
        raise TimeoutError(
            f"the schema's pattern {pattern!r:.100} took longer than {_PATTERN_S:g} s"
        ) from error
    if not occurs:
        yield ValidationError(f"{value!r:.100} does not match {pattern!r:.100}")
