"""The analysis of tests by their results: kept, since it takes long with very many results.

```
index/<columns>/items.json    key of what was analysed; the analysis
```

The file may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from poor_bench.results.figures import read_outcomes
from poor_bench.results.parts import PartFolder
from poor_bench.results.text_columns import digest_code
from poor_bench.statistics.items import ItemAnalysis, analyse_tests

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from poor_bench.models.test import Test
    from poor_bench.results.paths import StorePaths
    from poor_bench.results.table import ResultTable
    from poor_bench.statistics.outcomes import Outcomes


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
    outcomes = read_outcomes(table, pass_score=pass_score, on_read=on_read)
    path = PartFolder(paths.snapshot.parent).folder / "items.json"
    key = _identify(outcomes, tests)
    known = _load(path, key)
    if known is None:
        known = analyse_tests(outcomes, tests)
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
    """Write the file as a whole or not at all; without permission or space, not at all."""
    draft = path.with_name(f".{os.getpid()}.{threading.get_ident()}.items")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        options = orjson.OPT_NON_STR_KEYS
        draft.write_bytes(key.encode() + b"\n" + orjson.dumps(analysis, option=options))
        draft.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            draft.unlink()
