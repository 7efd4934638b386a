"""JSON schemas: checked themselves before they check anything, and applied within a time limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poor_bench.extraction.json_value import parse_json

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator
    from referencing import Registry, Resource

    _Keyword = Callable[[Validator, Any, Any, Any], Iterator[ValidationError]]

_PATTERN_S = 1.0
"""Longest search for a pattern in one text or name, in seconds."""
_UNLIMITED = {"patternProperties", "unevaluatedProperties"}
"""Together they make jsonschema search for patterns where no time limit can be set."""


@lru_cache(maxsize=64)
def build_validator(schema: str) -> Validator:
    """Build the validator of a schema given as JSON.

    Raises:
        ValueError: If it is not a JSON schema, refers to what is not in it, or has both
            `patternProperties` and `unevaluatedProperties`.
    """
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, extend, validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    document = parse_json(schema)
    kind = validator_for(document, default=Draft202012Validator)
    # With a registry of its own the validator never fetches a reference from elsewhere.
    registry: Registry[Any] = Registry()
    try:
        kind.check_schema(document)
        root: Resource[Any] = DRAFT202012.create_resource(document)
        base = root.id() or ""
        _require_references(root, registry.with_resource(base, root).resolver(base))
        _require_limits(root)
    except SchemaError as error:
        raise ValueError(f"not a JSON schema: {error.json_path}: {error.message:.200}") from error
    except Unresolvable as error:
        raise ValueError(f"the schema refers to {error.ref!r:.200}, which is not in it") from error
    make_kind: Callable[..., Any] = extend
    limited = make_kind(kind, _limit_keywords(kind))
    validator: Validator = limited(document, registry=registry)
    return validator


def _require_references(schema: Resource[Any], resolver: Any) -> None:
    contents = schema.contents
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        if isinstance(contents, dict) and keyword in contents:
            _require_end(contents[keyword], resolver)
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


def _require_limits(root: Resource[Any]) -> None:
    if _list_keywords(root) >= _UNLIMITED:
        raise ValueError(
            "the schema has both patternProperties and unevaluatedProperties, for which no time "
            "limit can be kept: write additionalProperties beside patternProperties instead"
        )


def _list_keywords(schema: Resource[Any]) -> set[str]:
    own = set(schema.contents) if isinstance(schema.contents, dict) else set()
    return own.union(*(_list_keywords(part) for part in schema.subresources()))


def _limit_keywords(kind: type[Validator]) -> dict[str, _Keyword]:
    """List the keywords that search for patterns, with a time limit."""
    check_rest = kind.VALIDATORS.get("additionalProperties")
    limited: dict[str, _Keyword] = {
        "pattern": _check_pattern,
        "patternProperties": _check_pattern_properties,
    }
    return limited | ({"additionalProperties": _check_unmatched(check_rest)} if check_rest else {})


def _check_pattern(
    validator: Validator, pattern: str, value: Any, _schema: Any
) -> Iterator[ValidationError]:
    """Check the keyword `pattern`."""
    from jsonschema.exceptions import ValidationError

    if validator.is_type(value, "string") and not _occurs(pattern, value):
        yield ValidationError(f"{value!r:.100} does not match {pattern!r:.100}")


def _check_pattern_properties(
    validator: Any, patterns: dict[str, Any], value: Any, _schema: Any
) -> Iterator[ValidationError]:
    """Check the keyword `patternProperties`."""
    if not validator.is_type(value, "object"):
        return
    for pattern, schema in patterns.items():
        for name in (name for name in value if _occurs(pattern, name)):
            yield from validator.descend(value[name], schema, path=name, schema_path=pattern)


def _check_unmatched(check: _Keyword) -> _Keyword:
    """Check `additionalProperties` for what no pattern of `patternProperties` matches."""

    def check_rest(
        validator: Validator, allowed: Any, value: Any, schema: dict[str, Any]
    ) -> Iterator[ValidationError]:
        if not validator.is_type(value, "object"):
            return
        patterns = schema.get("patternProperties", {})
        matched = {name for name in value if any(_occurs(pattern, name) for pattern in patterns)}
        rest = {name: value[name] for name in value if name not in matched}
        others = {name: part for name, part in schema.items() if name != "patternProperties"}
        yield from check(validator, allowed, rest, others)

    return check_rest


def _occurs(pattern: str, text: str) -> bool:
    """True if a pattern occurs in a text.

    Raises:
        TimeoutError: If the search takes too long: a fault of the schema, not of the value.
    """
    import regex

    try:
        return regex.search(pattern, text, timeout=_PATTERN_S) is not None
    except TimeoutError as error:
        raise TimeoutError(
            f"the schema's pattern {pattern!r:.100} took longer than {_PATTERN_S:g} s"
        ) from error
