"""The files of a workspace with many tests: what is valid is kept, and not checked again.

Then nothing that checks them has to be imported either.

```
index/checked_tests.json      digest of the rest; what they depend on; their fields, in columns
index/checked_classes.json    the same of test_classes.yaml: place and fields of each entry
index/checked_llms.json       the same of llms.json
```

The files may be deleted at any time.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Generic, TypeVar

from poor_bench.config.document import Document, Loaded, Place, Report
from poor_bench.config.json_document import make_line_finder, parse_json
from poor_bench.models.llm import LLM, Prices, Timeouts
from poor_bench.models.test import NO_FIELDS, EvaluatorSpec, Test, TestClass
from poor_bench.safe_files import read_kept, write_kept

_LARGE = 250_000
"""Characters of a file of tests from which on reading what is kept is worth further files."""
_DEFINITIONS = (
    *("config/document.py", "config/entries.py", "config/entry_validation.py"),
    *("config/file_models.py", "config/json_document.py", "config/kept_entries.py"),
    *("config/load.py", "config/names.py", "config/yaml_document.py"),
    *("models/llm.py", "models/test.py", "safe_files.py"),
    *("providers/catalog.py", "providers/endpoint.py", "providers/openai_wire.py"),
    *("providers/parameters.py",),
)
"""Code that says which entries are valid, and what is read from them."""
_LIBRARIES = {"pydantic": "version.py", "yaml": "__init__.py"}
"""Files that tell the versions of libraries, without importing these."""
_KINDS: Mapping[str, set[type]] = {
    "test_id": {str},
    "class_id": {str},
    "level": {int},
    "text": {str, type(None)},
    "texts": {list, type(None)},
    "fields": {dict},
    "evaluator": {list, type(None)},
    "reference_response": {str, type(None)},
    "tags": {list},
    "enabled": {bool},
    "group": {str, type(None)},
    "reported": {str},
}
"""Types of each column."""


def has_many_tests(path: Path) -> bool:
    """True if a file of tests is so large that what is valid is kept."""
    return path.exists() and path.stat().st_size >= _LARGE


class KeptTests:
    """The tests of one tests.json."""

    def __init__(self, folder: Path, classes: Mapping[str, TestClass]) -> None:
        """Read nothing yet.

        Args:
            folder: Of the index.
            classes: The test classes by id: a test that names no evaluator takes its class's.
        """
        self._path, self._classes = folder / "checked_tests.json", classes
        self.digest = ""
        """Names what they depend on; empty where the file is small."""
        self.known: dict[str, Test] | None = None
        """By id; None where the file has to be checked."""
        self.places: dict[str, Place] = {}
        """Where they stand."""

    def parse(self, text: str) -> Document:
        """Find what is kept of the content of tests.json, or parse it.

        Raises:
            UnreadableError: If it is not JSON, see `parse_json`.
        """
        if len(text) < _LARGE:
            return parse_json(text)
        self.digest = self._identify(text)
        tests = _read_tests(read_kept(self._path, self.digest))
        if tests is None:
            return parse_json(text)
        first: Place = () if text.lstrip().startswith("[") else ("tests",)
        self.known = {test.test_id: test for test in tests}
        self.places = {test_id: (*first, row) for row, test_id in enumerate(self.known)}
        return Document(None, make_line_finder(text))

    def keep(self, tests: Iterable[Test]) -> None:
        """Keep all tests of the file, where it is large; without permission, nothing is kept."""
        if self.digest:
            try:
                write_kept(self._path, self.digest, _write_tests(list(tests)))
            except TypeError:  # such as a number beyond 64 bits
                return

    def _identify(self, text: str) -> str:
        evaluators = [
            (class_id, each.evaluator.name if each.evaluator else None)
            for class_id, each in self._classes.items()
        ]
        digest = blake2b(_digest_definitions() + repr(evaluators).encode("utf-8", "replace"))
        digest.update(text.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


@cache
def _digest_definitions() -> bytes:
    package = Path(__file__).parents[1]
    files = [package / name for name in _DEFINITIONS]
    for name, version in _LIBRARIES.items():
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        files.append(Path(spec.origin).with_name(version))
    return blake2b(b"".join(path.read_bytes() for path in files)).digest()


Item = TypeVar("Item", TestClass, LLM)


class KeptEntries(Generic[Item]):
    """The entries of a file that is small itself, but stands beside many tests."""

    def __init__(
        self,
        path: Path,
        parse: Callable[[str], Document],
        restore: Callable[[dict[str, Any]], Item],
        *,
        is_kept: bool,
    ) -> None:
        """Read nothing yet.

        Args:
            path: Where they are kept.
            parse: Parses their file.
            restore: Makes an entry of its fields.
            is_kept: False to check them each time.
        """
        self._path, self._parse = path, parse
        self._restore: Callable[[dict[str, Any]], Item] = restore
        self._is_kept = is_kept
        self._about = ""
        self._known: list[tuple[Place, Item]] | None = None

    def parse(self, text: str) -> Document:
        """Find what is kept of the content of the file, or parse it.

        Raises:
            UnreadableError: If it cannot be parsed.
        """
        if not self._is_kept:
            return self._parse(text)
        content = text.encode("utf-8", "surrogatepass")
        self._about = blake2b(_digest_definitions() + content).hexdigest()
        self._known = self._read()
        if self._known is None:
            return self._parse(text)
        parse = cache(self._parse)
        return Document(None, lambda place: parse(text).line_of(place))

    def _read(self) -> list[tuple[Place, Item]] | None:
        try:
            rows = read_kept(self._path, self._about)
            return rows and [(tuple(place), self._restore(fields)) for place, fields in rows]
        except (AttributeError, KeyError, TypeError, ValueError):
            return None

    def load(self, document: Document | None, report: Report, check: Check[Item]) -> Loaded[Item]:
        """Take the entries that are kept; or check those of a parsed file, and keep them."""
        if self._known is not None:
            by_id = {item.id: item for _, item in self._known}
            places = {item.id: place for place, item in self._known}
            return Loaded(report, by_id, places, frozenset(by_id))
        loaded = check(document, report)
        if self._about and not report.problems:
            rows = [(place, loaded.by_id[name]) for name, place in loaded.places.items()]
            with suppress(TypeError):  # such as a number beyond 64 bits
                write_kept(self._path, self._about, rows)
        return loaded


Check = Callable[[Document | None, Report], Loaded[Item]]


def restore_test_class(fields: dict[str, Any]) -> TestClass:
    """Make a test class of its fields."""
    evaluator = fields["evaluator"]
    spec = None if evaluator is None else EvaluatorSpec(**evaluator)
    return TestClass(**fields | {"evaluator": spec, "tags": tuple(fields["tags"])})


def restore_llm(fields: dict[str, Any]) -> LLM:
    """Make an LLM of its fields."""
    timeouts, prices = Timeouts(**fields["timeouts"]), Prices(**fields["prices"])
    changed = {"timeouts": timeouts, "prices": prices, "tags": tuple(fields["tags"])}
    return LLM(**fields | changed)


def _write_tests(tests: Sequence[Test]) -> dict[str, list[Any]]:
    columns = {name: [getattr(test, name) for test in tests] for name in _KINDS}
    specs = columns["evaluator"]
    columns["evaluator"] = [spec and [spec.name, spec.parameters] for spec in specs]
    return columns


def _read_tests(columns: Any) -> list[Test] | None:
    """Make tests of what `_write_tests` wrote; None if it is anything else."""
    if not isinstance(columns, dict) or not _are_right(columns):
        return None
    columns["evaluator"] = [
        None if spec is None else EvaluatorSpec(sys.intern(spec[0]), spec[1])
        for spec in columns["evaluator"]
    ]
    columns["texts"] = [None if texts is None else tuple(texts) for texts in columns["texts"]]
    columns["tags"] = [tuple(map(sys.intern, tags)) for tags in columns["tags"]]
    columns["fields"] = [each or NO_FIELDS for each in columns["fields"]]
    for name in ("class_id", "group"):
        columns[name] = [value and sys.intern(value) for value in columns[name]]
    if len({*columns["test_id"]}) < len(columns["test_id"]):
        return None
    # Column by column, past the constructor: of many tests it takes half of the time.
    tests = [object.__new__(Test) for _ in columns["test_id"]]
    for name, column in columns.items():
        deque(map(getattr(Test, name).__set__, tests, column), maxlen=0)
    return tests


def _are_right(columns: Mapping[str, Any]) -> bool:
    """True if all fields have a column of values of their types, all of the same length."""
    is_whole = columns.keys() == _KINDS.keys() and all(
        isinstance(column, list) and {*map(type, column)} <= _KINDS[name]
        for name, column in columns.items()
    )
    if not is_whole or len({*map(len, columns.values())}) != 1:
        return False
    words = chain(*columns["tags"], *filter(None, columns["texts"]))
    specs = ([*map(type, spec)] == [str, dict] for spec in columns["evaluator"] if spec is not None)
    return all(type(word) is str for word in words) and all(specs)
