"""What the texts of stored results tell: issues and suspicious tests, worked out once.

```
index/<columns>/items.json    key of what was analysed; the analysis
```

The file may be deleted at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from poor_bench.issues.detect import build_reader
from poor_bench.issues.detector import TrialTable
from poor_bench.processes import share
from poor_bench.results.figures import read_outcomes
from poor_bench.results.parts import PartFolder, columns_file, write_beside
from poor_bench.results.text_columns import SHARED_FROM, digest_code, read_several
from poor_bench.statistics.items import ItemAnalysis, analyse_tests
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


SAMPLE = 5_000
"""Results that are looked at in about half a second."""
_SAMPLED_FILES = 20
"""Each file costs a while, however few of its rows are read."""


@dataclass(kw_only=True)
class StoredTexts:
    """Reads texts of results that are new, and what was kept of the others."""

    paths: StorePaths
    table: ResultTable
    read_facts: Callable[[], Mapping[str, TestFacts]]
    """Only who looks for issues needs them."""
    detectors: Sequence[Detector]
    _on_read: Callable[[int], None] = field(default_factory=lambda: lambda _: None, init=False)

    def follow(self, on_read: Callable[[int], None]) -> None:
        """Call a function with the number of results read so far, now and then."""
        self._on_read = on_read

    def look(self) -> TrialTable:
        """Let the detectors look at each result; newer failures of scored trials are left out.

        Raises:
            StoreError: If the index is damaged.
        """
        is_meant = ~find_newer_failures(self.table)
        table, reader, (texts, _) = self.table.select(is_meant), self._reader, self._columns
        return TrialTable(
            trials=table,
            texts=texts if is_meant.all() else texts.pick(is_meant),
            facts=self._facts,
            read=lambda entries: table.whole(entries, reader.texts, reader.fields),
        )

    def sample(self, size: int = SAMPLE) -> TrialTable | None:
        """Let the detectors look at about `size` results first, evenly spread.

        Returns:
            None where no more than twice as many have not been looked at yet.

        Raises:
            StoreError: If the index is damaged.
        """
        import numpy as np

        new = [
            entries
            for entries, _, file in self.table.texts.by_file(self.table.columns["place"])
            if file is not None and not columns_file(file, self._reader.name).exists()
        ]
        if sum(map(len, new)) <= 2 * size:
            return None
        chosen = new[:: -(-len(new) // _SAMPLED_FILES)]
        every = max(sum(map(len, chosen)) // size, 1)
        is_chosen = np.zeros(len(self.table), bool)
        for entries in chosen:
            is_chosen[entries[::every]] = True
        return replace(self, table=self.table.select(is_chosen)).look()

    @cached_property
    def _facts(self) -> Mapping[str, TestFacts]:
        return self.read_facts()

    @cached_property
    def _reader(self) -> TextReader:
        return build_reader(self._facts, self.detectors)

    @cached_property
    def _columns(self) -> list[TextColumns]:
        """What detectors find, and outcomes: whoever wants the one needs the other, too."""
        return read_several(self.table, [self._reader, OUTCOME_READER], self._on_read)

    def find_suspicious_tests(
        self, tests: Mapping[str, Test], pass_score: float = 1.0
    ) -> Mapping[str, str]:
        """Find tests that may be at fault, with the reasons.

        Raises:
            StoreError: If the index is damaged.
        """
        outcomes = build_outcomes(self.table, self._columns[1], pass_score=pass_score)
        return _analyse(self.paths, outcomes, tests).suspicions

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
    return _analyse(paths, read_outcomes(table, pass_score=pass_score, on_read=on_read), tests)


def _analyse(paths: StorePaths, outcomes: Outcomes, tests: Mapping[str, Test]) -> ItemAnalysis:
    path = PartFolder(paths.snapshot.parent).folder / "items.json"
    key = _identify(outcomes, tests)
    known = _load(path, key)
    if known is None:
        known = analyse_tests(
            outcomes, tests, share if len(outcomes.scores) >= SHARED_FROM else map
        )
        _save(path, key, known)
    return known


def _identify(outcomes: Outcomes, tests: Mapping[str, Test]) -> str:
    """Compute what differs for every other analysis."""
    digest = blake2b(digest_code().encode(), digest_size=16)
    for name in ("llms", "tests", "of_models", "scores", "endings", "given", "keys"):
        digest.update(getattr(outcomes, name).tobytes())
    named = outcomes.llm_ids, outcomes.models, outcomes.ways
    of_tests = [(test_id, tests.get(test_id)) for test_id in outcomes.test_ids]
    digest.update(repr((named, of_tests)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


@cache
def _adapter() -> TypeAdapter[ItemAnalysis]:
    from pydantic import TypeAdapter

    return TypeAdapter(ItemAnalysis)


def _load(path: Path, key: str) -> ItemAnalysis | None:
    try:
        stored, _, content = path.read_bytes().partition(b"\n")
        return _adapter().validate_json(content) if stored == key.encode() else None
    except (OSError, ValueError):
        return None


def _save(path: Path, key: str, analysis: ItemAnalysis) -> None:
    content = orjson.dumps(analysis, option=orjson.OPT_NON_STR_KEYS)
    write_beside(path, lambda stream: stream.writelines((key.encode(), b"\n", content)))
