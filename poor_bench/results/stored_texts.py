"""What the texts of stored results tell: issues and suspicious tests, worked out once.

```
index/<columns>/items.json    key of what was analysed; the analysis but for its items; these
```

The file may be deleted at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from poor_bench.issues.detect import build_reader
from poor_bench.issues.detector import TrialTable
from poor_bench.processes import share
from poor_bench.results.figures import read_outcomes
from poor_bench.results.parts import PartFolder
from poor_bench.results.text_columns import (
    SHARED_FROM,
    are_few,
    digest_code,
    is_kept,
    read_text_columns,
)
from poor_bench.safe_files import write_beside
from poor_bench.statistics.items import Item, ItemAnalysis, analyse_tests
from poor_bench.statistics.outcomes import OUTCOME_READER, Outcomes, build_outcomes
from poor_bench.statistics.trials import find_newer_failures

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from poor_bench.issues.detector import Detector, TestFacts
    from poor_bench.models.result import Result
    from poor_bench.models.test import Test
    from poor_bench.results.paths import StorePaths
    from poor_bench.results.table import ResultTable
    from poor_bench.statistics.trials import TextColumns, TextReader


SAMPLE = 2_000
"""Results that are looked at in about a fifth of a second."""
_SAMPLED_FILES = 20
"""Each file costs a while, however few of its rows are read."""
_KEPT_FOR_ONE = 100
"""Results of which what is kept takes as long as the texts of one that is new."""


@dataclass(kw_only=True)
class StoredTexts:
    """Reads texts of results that are new, and what was kept of the others."""

    paths: StorePaths
    table: ResultTable
    read_facts: Callable[[], Mapping[str, TestFacts]]
    """Only who looks for issues needs them."""
    detectors: Sequence[Detector]
    _on_read: Callable[[int], None] = field(default_factory=lambda: lambda _: None, init=False)
    _n_read: int = field(default=0, init=False)

    def follow(self, on_read: Callable[[int], None]) -> None:
        """Call a function with the number of results read so far, now and then."""
        self._on_read = on_read

    def _tell(self, n_read: int) -> None:
        """Tell how far it is; what was read is taken from files afterwards, which takes little."""
        self._n_read = max(self._n_read, n_read)
        self._on_read(self._n_read)

    def look(self) -> TrialTable:
        """Let the detectors look at each result; newer failures of scored trials are left out.

        Raises:
            StoreError: If the index is damaged.
        """
        texts = read_text_columns(self.table, self._reader, self._tell, also=[OUTCOME_READER])
        return self._join(self.table, texts)

    def sample(self, size: int = SAMPLE) -> TrialTable | None:
        """Let the detectors look at about `size` results first, evenly spread.

        Of those that they have not looked at yet, as they are now, where these are many.

        Returns:
            None where all of them take no longer than twice as many new ones.

        Raises:
            StoreError: If the index is damaged.
        """
        import numpy as np

        groups = self.table.texts.by_file(self.table.columns["place"])
        stored = [(entries, file) for entries, _, file in groups if file is not None]
        sampled = [entries for entries, file in stored if not is_kept(file, self._reader)]
        if sum(map(len, sampled)) <= 2 * size:
            sampled = [entries for entries, _ in stored]
            if sum(map(len, sampled)) <= 2 * size * _KEPT_FOR_ONE:
                return None
        chosen = sampled[:: -(-len(sampled) // _SAMPLED_FILES)]
        every = max(sum(map(len, chosen)) // size, 1)
        is_chosen = np.zeros(len(self.table), bool)
        for entries in chosen:
            is_chosen[entries[::every]] = True
        table = self.table.select(is_chosen)
        return self._join(table, read_text_columns(table, self._reader))

    def _join(self, table: ResultTable, texts: TextColumns) -> TrialTable:
        is_meant, reader = ~find_newer_failures(table), self._reader
        meant = table.select(is_meant)
        return TrialTable(
            trials=meant,
            texts=texts if is_meant.all() else texts.pick(is_meant),
            facts=self._facts,
            read=lambda entries: meant.whole(entries, reader.texts, reader.fields),
            release=meant.release,
        )

    @cached_property
    def _facts(self) -> Mapping[str, TestFacts]:
        return self.read_facts()

    @cached_property
    def _reader(self) -> TextReader:
        return build_reader(self._facts, self.detectors)

    def find_suspicious_tests(
        self, tests: Mapping[str, Test], pass_score: float = 1.0
    ) -> Mapping[str, str]:
        """Find tests that may be at fault, with the reasons.

        Raises:
            StoreError: If the index is damaged.
        """

        def read() -> Outcomes:
            texts = read_text_columns(self.table, OUTCOME_READER, self._tell, also=[self._reader])
            return build_outcomes(self.table, texts, pass_score=pass_score)

        return _analyse(self.paths, self.table, tests, pass_score, read).suspicions

    def read_judged(self) -> Iterator[Result]:
        """Read scores and judgements of the results; their other fields are at their defaults.

        Raises:
            StoreError: If the index is damaged.
        """
        fields = ("llm_id", "test_id", "trial", "score", "failure_kind")
        return self.table.whole(range(len(self.table)), ["judgement"], fields)


def read_item_analysis(
    paths: StorePaths,
    table: ResultTable,
    tests: Mapping[str, Test],
    *,
    pass_score: float = 1.0,
    on_read: Callable[[int], None] = lambda _: None,
) -> ItemAnalysis:
    """Analyse the tests by their results, unless that was done before for the same results.

    Args:
        paths: The store.
        table: Its results that count.
        tests: Test id to test.
        pass_score: From which score on a trial is passed.
        on_read: Called with the number of results read so far, now and then.

    Raises:
        StoreError: If the index is damaged.
    """

    def read() -> Outcomes:
        return read_outcomes(table, pass_score=pass_score, on_read=on_read)

    return _analyse(paths, table, tests, pass_score, read)


def _analyse(
    paths: StorePaths,
    table: ResultTable,
    tests: Mapping[str, Test],
    pass_score: float,
    read: Callable[[], Outcomes],
) -> ItemAnalysis:
    """Analyse the tests; what is kept of rows that have parts is found without their outcomes."""
    path = PartFolder(paths.snapshot.parent).folder / "items.json"
    held, key = list[Outcomes](), _identify_rows(table, tests, pass_score)
    if not key:
        held = [read()]
        key = _identify(held[0], tests)
    known = _load(path, key)
    if known is None:
        held = held or [read()]
        table.release()
        is_shared = len(held[0].scores) >= SHARED_FROM
        # By `pop`, so that the analysis alone holds them, and can free them.
        known = analyse_tests(held.pop(), tests, share if is_shared else map)
        _save(path, key, known)
    return known


def _identify_rows(table: ResultTable, tests: Mapping[str, Test], pass_score: float) -> str:
    """Compute what differs for every other analysis; empty where many rows have no part.

    Of the others, their part and number tell what they hold.
    """
    import numpy as np

    digest = blake2b(repr((digest_code(), pass_score)).encode(), digest_size=16)
    is_held = np.zeros(len(table), np.bool_)
    for entries, rows, file in table.texts.by_file(table.columns["place"]):
        if file is None:
            is_held[entries] = True
            continue
        digest.update(repr((file.name, len(rows))).encode())
        digest.update(entries.tobytes())
        digest.update(rows.tobytes())
    if not are_few(int(is_held.sum()), len(table)):
        return ""
    for name in ("llm_id", "test_id", "score"):
        digest.update(np.ascontiguousarray(table.columns[name]).data)
    named: list[object] = [table.values["llm_id"], table.values["test_id"]]
    if is_held.any():
        held = read_text_columns(table.select(is_held), OUTCOME_READER)
        for column in held.columns.values():
            digest.update(column.tobytes())
        named.append(held.values)
    digest.update(repr(named).encode("utf-8", "surrogatepass"))
    _add_tests(digest, tests, table.values["test_id"])
    return digest.hexdigest()


def _identify(outcomes: Outcomes, tests: Mapping[str, Test]) -> str:
    """Compute what differs for every other analysis of the same rows."""
    import numpy as np

    digest = blake2b(digest_code().encode(), digest_size=16)
    for name in ("llms", "tests", "of_models", "scores", "endings", "given", "keys"):
        digest.update(np.ascontiguousarray(getattr(outcomes, name)).data)
    named = outcomes.llm_ids, outcomes.models, outcomes.ways
    digest.update(repr(named).encode("utf-8", "surrogatepass"))
    _add_tests(digest, tests, outcomes.test_ids)
    return digest.hexdigest()


def _add_tests(digest: blake2b, tests: Mapping[str, Test], test_ids: Sequence[str]) -> None:
    of_tests = [(test_id, tests.get(test_id)) for test_id in test_ids]
    try:
        digest.update(orjson.dumps(of_tests, default=dict))
    except TypeError:  # such as half a surrogate pair, or a number beyond 64 bits
        digest.update(repr(of_tests).encode("utf-8", "surrogatepass"))


_ITEMS_AT_ONCE = 500
"""Tests that are read without a break: pages are answered in between."""


@cache
def _adapter() -> TypeAdapter[ItemAnalysis]:
    from pydantic import TypeAdapter

    return TypeAdapter(ItemAnalysis)


@cache
def _item_adapter() -> TypeAdapter[tuple[Item, ...]]:
    from pydantic import TypeAdapter

    return TypeAdapter(tuple[Item, ...])


def _load(path: Path, key: str) -> ItemAnalysis | None:
    try:
        with path.open("rb") as stream:
            stored, _, n_items = stream.readline().partition(b" ")
            if stored != key.encode():
                return None
            known = _adapter().validate_json(stream.readline())
            items = tuple(chain.from_iterable(map(_item_adapter().validate_json, stream)))
            return replace(known, items=items) if len(items) == int(n_items) else None
    except (OSError, ValueError):
        return None


def _save(path: Path, key: str, analysis: ItemAnalysis) -> None:
    first = f"{key} {len(analysis.items)}\n".encode()
    starts = range(0, len(analysis.items), _ITEMS_AT_ONCE)
    pieces = [analysis.items[start : start + _ITEMS_AT_ONCE] for start in starts]
    lines = (
        orjson.dumps(each, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE)
        for each in (replace(analysis, items=()), *pieces)
    )
    write_beside(path, lambda stream: stream.writelines((first, *lines)))
