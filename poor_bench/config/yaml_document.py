"""Parse YAML so that every mistake has a line."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from poor_bench.config.document import Document, UnreadableError, line_and_column
from poor_bench.config.report import Place
from poor_bench.config.yaml_values import UNQUOTED, PlainValues, line_of_node
from poor_bench.safe_files import refuse_deep_yaml

if TYPE_CHECKING:
    import yaml


def parse_yaml(text: str) -> Document:
    """Return the content of a YAML file.

    Raises:
        UnreadableError: If it is not YAML, or not plain data (see `PlainValues`).
    """
    import yaml

    try:
        root = compose(text)
        if root is None:
            raise UnreadableError("the file has only comments")
        return Document(PlainValues().of(root), _line_finder(root))
    except yaml.MarkedYAMLError as error:
        raise _unreadable(error, text) from None
    except yaml.YAMLError as error:
        raise UnreadableError(f"this is not YAML: {_one_line(str(error))}") from None
    except RecursionError:
        raise UnreadableError("the YAML is nested too deeply") from None


def compose(text: str) -> yaml.Node | None:
    """Return the nodes of a YAML text; scalars without quotes have the tag `UNQUOTED`.

    Raises:
        YAMLError: If it is not YAML.
    """
    import yaml

    refuse_deep_yaml(text)
    root: yaml.Node | None = yaml.compose(text, Loader=_loader_class())
    return root


@functools.cache
def _loader_class() -> Any:
    """Return a loader that marks scalars without quotes, and leaves their meaning to us."""
    import yaml

    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    resolvers = {None: [(UNQUOTED, re.compile(""))]}
    return type("MarkingLoader", (base,), {"yaml_implicit_resolvers": resolvers})


def _unreadable(error: yaml.MarkedYAMLError, text: str) -> UnreadableError:
    mark = error.problem_mark or error.context_mark
    line, column = line_and_column(text, mark.index) if mark else (None, 0)
    where = f", at line {line}, column {column}" if line else ""
    problem = _one_line(error.problem or error.context or str(error))
    return UnreadableError(f"this is not YAML: {problem}{where}", hint=_hint(problem), line=line)


def _hint(problem: str) -> str:
    if "cannot start any token" in problem:
        return "indent with spaces, not tabs; quote texts that begin with @, ` or %"
    if "mapping values are not allowed" in problem:
        return "quote a text that contains `: `"
    if "did not find expected" in problem:
        return "check the indentation, and that each quote and bracket is closed"
    return ""


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _line_finder(root: yaml.Node) -> Callable[[Place], int | None]:
    def line_of(place: Place) -> int | None:
        return line_of_node(root, place)

    return line_of
