"""The specification's face of a workspace: dicts in, dicts out.

`WorkspaceFolder` is the typed interface; this module translates between the two and nothing in the
package imports it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from poor_bench.calls.caller import SystemClock
from poor_bench.config.document import Document, open_document
from poor_bench.config.json_document import parse_json
from poor_bench.config.load import (
    TEST_CLASSES_FILE,
    TESTS_FILE,
    find_llms_file,
    load_llms,
    raise_errors,
)
from poor_bench.config.yaml_document import parse_yaml
from poor_bench.errors import ConfigError
from poor_bench.models.llm import resolve_llm_id
from poor_bench.models.result import Result, record_to_result, result_to_record
from poor_bench.results.snapshot import VERSION
from poor_bench.results.store import ResultStore, open_store
from poor_bench.runs.history import make_run_id
from poor_bench.runs.journal import dump_record
from poor_bench.workspace_folder import WorkspaceFolder

_LOG = logging.getLogger(__name__)
_EMPTY: tuple[Any, ...] = (None, "", [])
_IN_EVERY_ROW = {
    "test_id": "",
    "score": None,
    "details": "",
    "response": "",
    "timestamp": "",
    "execution_time_ms": None,
    "think": None,
}


class ConfigManager:
    """Reads the files of one workspace as they stand and stores result rows.

    Attributes:
        base_path: Folder of the workspace.
    """

    def __init__(self, base_path: Path | str = "data") -> None:
        self.base_path = Path(base_path)

    def load_test_classes(self) -> dict[str, Any]:
        """Load `test_classes.yaml`.

        Raises:
            ConfigError: If the file cannot be read as YAML.
        """
        return _load(self.base_path / TEST_CLASSES_FILE, parse_yaml, "test_classes")

    def load_tests(self) -> dict[str, Any]:
        """Load `tests.json`.

        Raises:
            ConfigError: If the file cannot be read as JSON.
        """
        return _load(self.base_path / TESTS_FILE, parse_json, "tests")

    def load_llms(self) -> dict[str, Any]:
        """Load `llms.json`.

        Raises:
            ConfigError: If the file cannot be read as JSON.
        """
        return _load(find_llms_file(self.base_path), parse_json, "llms")

    def load_results(self) -> dict[str, Any]:
        """Load the scored rows by LLM id, those of a run under way included.

        Returns:
            `{"version": "1.0", "results": {llm_id: [row, ...]}}`. Trials that failed to run have
            no score and are not in it.

        Raises:
            StoreError: If the results cannot be read.
        """
        return self._load_results()

    def _load_results(self) -> _LoadedResults:
        loaded = _LoadedResults(version=VERSION, results={})
        for result in self._store().results():
            if result.failure is None:
                loaded["results"].setdefault(result.llm_id, []).append(build_row(result))
        loaded.note_rows()
        return loaded

    def save_results(self, results: dict[str, Any]) -> None:
        """Store the rows that are new or changed.

        Rows that another process stored since `results` was loaded stay as they are, also where
        `results` holds an older version of them. Rows missing from `results` are not deleted.

        Raises:
            ValueError: If a row is not valid; nothing is stored then.
            StoreError: If the rows cannot be stored.
        """
        known = results if isinstance(results, _LoadedResults) else self._load_results()
        changed = [row.check() for row in _list_rows(results) if not known.has(row)]
        if changed:
            store, started = self._store(), SystemClock().now_iso()
            store.add(changed, make_run_id(started, store.newest_run_id()), {"started": started})
        if isinstance(results, _LoadedResults):
            results.note_rows()

    def get_pending_tests(self, llm_id: str, test_ids: Collection[str] | None = None) -> list[str]:
        """List the ids of the tests without a score for an LLM, in the order of their file.

        Args:
            llm_id: An id or label of llms.json, or an id under which results stand.
            test_ids: Limits the list; ids that tests.json does not have are logged.

        Raises:
            ValueError: If the LLM is unknown; the message names the nearest id. Also if a file of
                the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        folder = WorkspaceFolder(self.base_path, is_own_provider=lambda _name: True)
        with config_errors_as_value_errors():
            pending = folder.get_pending_tests(llm_id)
        if test_ids is None:
            return [test.test_id for test in pending]
        for test_id in sorted(set(test_ids) - set(folder.workspace.tests_by_id)):
            _LOG.warning("%s: the test %r does not exist", self.base_path / TESTS_FILE, test_id)
        return [test.test_id for test in pending if test.test_id in test_ids]

    def _store(self) -> ResultStore:
        """Open the results; a workspace whose other files are missing has results, too."""
        llms = load_llms(self.base_path, lambda _name: True).items
        return open_store(self.base_path, cache(lambda key: resolve_llm_id(key, llms) or key))


def build_row(result: Result) -> dict[str, Any]:
    """Make the row of a result as it stands in results.json, with every basic key.

    A trial that failed to run has the score None, `failure`, and its message as details.
    """
    record = orjson.loads(dump_record(result_to_record(result)))
    del record["llm_id"]
    if result.failure is not None:
        record["details"] = result.failure.message
    return {**_IN_EVERY_ROW, **record}


@contextmanager
def config_errors_as_value_errors() -> Iterator[None]:
    """Raise what is wrong with names and files as the ValueError of the specification."""
    try:
        yield
    except ConfigError as error:
        lines = [str(error), *map(str, error.problems), error.hint]
        raise ValueError("\n".join(line for line in lines if line)) from error


class _Row(NamedTuple):
    """A row of a dict of results, and where it stands."""

    llm_id: str
    number: int
    content: dict[str, Any]

    @property
    def key(self) -> tuple[str, Any, Any]:
        return self.llm_id, self.content.get("test_id"), self.content.get("trial", 1)

    def digest(self) -> int:
        """Hash the content; a key with an empty value is the same as a missing key."""
        said = {key: value for key, value in self.content.items() if value not in _EMPTY}
        return hash(dump_record(dict(sorted(said.items(), key=str))))

    def check(self) -> Result:
        try:
            return record_to_result(self.llm_id, self.content)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"results[{self.llm_id!r}][{self.number}]: {error}") from error


class _LoadedResults(dict[str, Any]):
    """Results that remember how each row was loaded, so that changed rows can be told apart."""

    def note_rows(self) -> None:
        self._digests = {row.key: row.digest() for row in _list_rows(self)}

    def has(self, row: _Row) -> bool:
        return self._digests.get(row.key) == row.digest()


def _list_rows(results: dict[str, Any]) -> Iterator[_Row]:
    for llm_id, rows in results["results"].items():
        for number, content in enumerate(rows):
            if not isinstance(content, dict):
                raise ValueError(f"results[{llm_id!r}][{number}]: a row must be a dict")
            yield _Row(llm_id, number, content)


def _load(path: Path, parse: Callable[[str], Document], key: str) -> dict[str, Any]:
    document, report = open_document(path, parse)
    raise_errors(report.problems)
    content = document.data if document else {}
    return content if isinstance(content, dict) else {key: content}
