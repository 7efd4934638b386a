"""Find every regular expression of the package, and text that is hard on it."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import re._constants as sre
import re._parser as sre_parser
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import regex

from poor_bench.extraction.refusal_rules import load_refusal_phrases
from poor_bench.providers.api_keys import _list_spellings

FUNCTIONS = {"compile", "search", "match", "fullmatch", "findall", "finditer", "split", "sub"}
OF_USERS = {
    "wanted.pattern",  # evaluators/regex_match.py: searched with a time limit
    "pattern[1:-1]",  # providers/scripted_script.py: from llms.json, on prompts of the workspace
    "step.pattern",  # playbooks: written by the user
    "'|'.join(parts)",  # results/filter_text.py: typed on a page, searched with a time limit
}
"""Patterns that do not stand in our code."""
MADE = {
    "'|'.join([escaped, *map(re.escape, _encode_in_base64(key))])": "providers/api_keys.py",
    "_FRAGMENT.sub(lambda name: fragments[name[1]], text)": "extraction/refusal_rules.py",
    "'|'.join((f'(?:{each.pattern})' for each in patterns))"
    " or _NEVER": "extraction/refusal_rules.py",
    "language['signs']": "extraction/refusal_rules.py",
    "'|'.join((each['whole'] for each in languages.values()))": "extraction/refusal_rules.py",
    "'|'.join((each['again'] for each in languages.values()"
    " if 'again' in each))": "extraction/refusal_rules.py",
}
"""Patterns that are put together from pieces: `all_patterns` adds an example, or all."""


class Found(NamedTuple):
    """A pattern and where it stands."""

    place: str
    pattern: Any


def modules() -> Iterator[ModuleType]:
    """Import every module of the package and the built-in evaluators."""
    for package in ("poor_bench", "evaluators"):
        root = importlib.import_module(package)
        yield root
        for info in pkgutil.walk_packages(root.__path__, f"{package}."):
            if not info.name.endswith("__main__"):
                yield importlib.import_module(info.name)


def compiled_in(module: ModuleType) -> Iterator[Found]:
    """Yield the compiled patterns that a module holds, also within its values and classes."""
    for name, value in vars(module).items():
        for pattern in _patterns_in(value, module.__name__):
            yield Found(f"{module.__name__}.{name}", pattern)


def _patterns_in(value: Any, module: str) -> Iterator[Any]:
    seen = {id(value): value}  # held, so that no later value gets its id
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, re.Pattern | regex.Pattern):
            yield one
            continue
        new = {id(part): part for part in _parts(one, module) if id(part) not in seen}
        seen |= new
        left += new.values()


def _parts(value: Any, module: str) -> list[Any]:
    parts: list[Any] = []
    if isinstance(value, Mapping):
        parts = [*value, *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        parts = list(value)
    elif inspect.isclass(value):
        parts = list(vars(value).values()) if value.__module__ == module else []
    elif isinstance(value, property):
        parts = [value.fget]
    elif inspect.isfunction(value):
        parts = [value.__defaults__, value.__kwdefaults__]
    elif type(value).__module__.startswith(("poor_bench", "evaluators")):
        names = getattr(type(value), "__slots__", None) or getattr(value, "__dict__", ())
        parts = [getattr(value, name, None) for name in names if isinstance(name, str)]
    return parts


def called_in(module: ModuleType) -> Iterator[Found]:
    """Yield the patterns that a module hands to `re` or `regex` anywhere in its code.

    Raises:
        AssertionError: If one cannot be found out and is not known to be a user's.
    """
    source = _source_of(module)
    if not re.search(r"^\s*import (re|regex)\b", source, re.MULTILINE):
        return
    tree = ast.parse(source)
    for function, call in _calls(tree):
        flags = _flags(call, module)
        for source in _sources(call.args[0], function, module):
            yield Found(f"{module.__name__}:{call.lineno}", re.compile(source, flags))


def _source_of(module: ModuleType) -> str:
    return Path(module.__file__).read_text(encoding="utf-8") if module.__file__ else ""


def _calls(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.Call]]:
    owners = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    owner_of = {id(node): owner for owner in owners for node in ast.walk(owner)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            of = node.func.value
            is_module = isinstance(of, ast.Name) and of.id in {"re", "regex"}
            if is_module and node.func.attr in FUNCTIONS:
                yield owner_of.get(id(node), tree), node


def _flags(call: ast.Call, module: ModuleType) -> int:
    flags = [argument for argument in call.args[1:] if "re." in ast.unparse(argument)]
    flags += [keyword.value for keyword in call.keywords if keyword.arg == "flags"]
    values = [_evaluated(node, module) for node in flags]
    return int(next((value for value in values if isinstance(value, int)), 0))


def _sources(node: ast.expr, function: ast.AST, module: ModuleType) -> list[str]:
    told = ast.unparse(node)
    if told in OF_USERS or told in MADE:
        return []
    value = _evaluated(node, module)
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    if isinstance(value, str):
        return [value]
    assigned = [
        item.value
        for item in ast.walk(function)
        if isinstance(item, ast.Assign) and told in map(ast.unparse, item.targets)
    ]
    if assigned:
        return [source for value in assigned for source in _sources(value, function, module)]
    arguments = getattr(function, "args", ast.arguments())
    parameters = [argument.arg for argument in [*arguments.args, *arguments.kwonlyargs]]
    assert told in parameters, f"{module.__name__}:{node.lineno}: what is {told}?"
    return []


def _evaluated(node: ast.expr, module: ModuleType) -> Any:
    """Return the value of an expression; in f-strings, `ab` stands for what is not known."""
    try:
        if isinstance(node, ast.JoinedStr):
            return "".join(str(_evaluated(part, module)) for part in node.values)
        if isinstance(node, ast.FormattedValue):
            value = _evaluated(node.value, module)
            return "ab" if value is None else value
        return eval(compile(ast.Expression(node), "", "eval"), dict(vars(module)))
    except (NameError, AttributeError, TypeError):
        return None


def all_patterns() -> list[Found]:
    """Return all patterns, each once."""
    found: dict[tuple[str, int], Found] = {}
    for module in modules():
        for item in [*compiled_in(module), *called_in(module)]:
            if isinstance(item.pattern.pattern, str):
                found.setdefault((item.pattern.pattern, item.pattern.flags), item)
    rules = load_refusal_phrases()
    for pattern in _patterns_in(rules, type(rules).__module__):
        of_rule = Found(f"{type(rules).__module__}.{load_refusal_phrases.__name__}", pattern)
        found.setdefault((pattern.pattern, pattern.flags), of_rule)
    of_key = _list_spellings("Zq7+wX/3pL=8vN5tR2&yH9")
    return [*found.values(), Found("poor_bench.providers.api_keys._list_spellings", of_key)]


def nasty_texts(pattern: Any) -> list[str]:
    """Return short texts which, repeated, are hard on a pattern."""
    try:
        tree = sre_parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG & 0x1FF)
    except re.error:
        tree = sre_parser.parse("")
    whole = [_sample(tree, 1), _sample(tree, 3)]
    parts = [_sample([item], 2) for item in _flat(tree)]
    cut = [text[:-1] for text in whole] + [text[: len(text) // 2] for text in whole]
    spaced = [f"{text} " for text in whole] + [f"{text}\n" for text in whole]
    usual = ["a", "1", " ", "\n", "a ", "1,", "a\n", "a.", "é", "\\", '"']
    characters = {character for text in whole + parts for character in text}
    texts = dict.fromkeys([*usual, *whole, *cut, *spaced, *parts, *sorted(characters)[:20]])
    return [text for text in texts if text]


def _flat(tree: Any) -> Iterator[Any]:
    for operation, argument in tree:
        yield operation, argument
        for inner in _inner(operation, argument):
            yield from _flat(inner)


def _inner(operation: Any, argument: Any) -> list[Any]:
    if operation in {sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT}:
        return [argument[2]]
    if operation is sre.SUBPATTERN:
        return [argument[3]]
    if operation is sre.BRANCH:
        return list(argument[1])
    if operation in {sre.ASSERT, sre.ASSERT_NOT}:
        return [argument[1]]
    return [argument] if operation is sre.ATOMIC_GROUP else []


def _sample(tree: Any, repeats: int) -> str:
    """Return a text that about fits; branches are taken in turn for the sake of variety."""
    return "".join(_sample_of(operation, argument, repeats) for operation, argument in tree)


def _sample_of(operation: Any, argument: Any, repeats: int) -> str:
    text = ""
    if operation in {sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT}:
        least, most, inner = argument
        text = _sample(inner, repeats) * max(int(least), min(repeats, int(most)))
    elif operation is sre.LITERAL:
        text = chr(argument)
    elif operation in {sre.NOT_LITERAL, sre.ANY}:
        text = "b" if argument == ord("a") else "a"
    elif operation is sre.IN:
        text = _member(argument)
    elif operation is sre.BRANCH:
        text = _sample(argument[1][repeats % len(argument[1])], repeats)
    elif operation not in {sre.ASSERT, sre.ASSERT_NOT}:
        text = "".join(_sample(inner, repeats) for inner in _inner(operation, argument))
    return text


_OF_CATEGORY = {
    sre.CATEGORY_DIGIT: "1",
    sre.CATEGORY_SPACE: " ",
    sre.CATEGORY_WORD: "a",
    sre.CATEGORY_NOT_DIGIT: "a",
    sre.CATEGORY_NOT_SPACE: "a",
    sre.CATEGORY_NOT_WORD: "-",
}


def _member(items: Any) -> str:
    if items[0][0] is sre.NEGATE:
        taken = {chr(value) for operation, value in items[1:] if operation is sre.LITERAL}
        return next(character for character in "ax-1 " if character not in taken)
    operation, value = items[-1]
    if operation is sre.CATEGORY:
        return _OF_CATEGORY.get(value, "a")
    return chr(value if operation is sre.LITERAL else value[0])
