"""All results in columns: what every screen counts, filters and sorts, a few bytes for each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result, result_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.dashboard.services.record_spool import RecordSpool
    from poor_bench.dashboard.services.text_spool import TextSpool

NUMBERS = (
    "score", "strict_score", "execution_time_ms", "first_token_ms", "load_ms", "queue_ms",
    "prefill_ms", "decode_ms", "prompt_tokens", "completion_tokens", "thinking_tokens",
    "cached_tokens", "cost_usd", "judge_cost_usd",
)  # fmt: skip
"""What a result tells in numbers; NaN stands for None."""
CODES = (
    "llm_id", "test_id", "think", "run_id", "finish_reason", "marks", "found", "timestamp",
    "failure_kind",
)  # fmt: skip
"""Fields that repeat: a code for each, and the value that a code stands for once."""
INTEGERS = ("trial", "place")


class TrialKey(NamedTuple):
    """Which row of an LLM: a trial may have a score and a newer failure."""

    test_id: str
    trial: int
    is_failure: bool


_COUNTS = frozenset(name for name in NUMBERS if name.endswith("_tokens"))


@dataclass(frozen=True, slots=True)
class ResultTable:
    """An immutable view of all results; row numbers are valid within one table only.

    A trial has one row with its newest score, and one more with its newest failure where it has
    failed since.
    """

    version: int
    """Differs between any two tables of one process."""
    llm_versions: Mapping[str, int]
    """LLM id to a number that changes with every result of that LLM."""
    numbers: Mapping[str, NDArray[np.float64]]
    codes: Mapping[str, NDArray[np.int64]]
    values: Mapping[str, tuple[Any, ...]]
    """Field of `CODES` to what its codes stand for."""
    integers: Mapping[str, NDArray[np.int64]]
    spool: RecordSpool
    texts: TextSpool
    """Test id, details, response, thinking and reason of failure of each result, by its place."""

    def __len__(self) -> int:
        return len(self.integers["trial"])

    @property
    def llm_ids(self) -> tuple[str, ...]:
        """The LLMs that have results, in the order of the file."""
        return tuple(str(value) for value in self.values["llm_id"])

    def value(self, field: str, row: int) -> Any:
        """Return a coded field of a row."""
        return self.values[field][self.codes[field][row]]

    def number(self, field: str, row: int) -> float | None:
        """Return a number of a row; None where the result does not tell."""
        number = float(self.numbers[field][row])
        return None if math.isnan(number) else number

    def code_of(self, field: str, value: Hashable) -> int:
        """Return the code of a value, or -1 where no result has it."""
        try:
            return self.values[field].index(value)
        except ValueError:
            return -1

    def rows_of(self, llm_id: str) -> NDArray[np.int64]:
        """Return the rows of an LLM."""
        is_wanted = self.codes["llm_id"] == self.code_of("llm_id", llm_id)
        rows: NDArray[np.int64] = is_wanted.nonzero()[0]
        return rows

    def key(self, row: int) -> TrialKey:
        """Return what names a row within its LLM, also in another table."""
        is_failure = self.value("failure_kind", row) is not None
        return TrialKey(self.value("test_id", row), int(self.integers["trial"][row]), is_failure)

    def find(self, llm_id: str, key: TrialKey) -> int | None:
        """Return the row of a trial; None where there is none."""
        rows = self.rows_of(llm_id)
        rows = rows[self.codes["test_id"][rows] == self.code_of("test_id", key.test_id)]
        return next((int(row) for row in rows if self.key(row) == key), None)

    def whole(self, row: int) -> Result:
        """Return a result with its texts, read from disk."""
        return self.spool.result(int(self.integers["place"][row]))

    def records(self, rows: Iterable[int]) -> list[dict[str, Any]]:
        """Return the whole records of some rows, read from disk."""
        places = self.integers["place"]
        return self.spool.records(int(places[row]) for row in rows)

    def write_some(self) -> bool:
        """Write some texts that wait for it to disk; return whether there were any.

        Nothing needs it: they are written when they are asked for as well.
        """
        return self.spool.write_some() or self.texts.write_some()

    def holding(self, words: str) -> NDArray[np.bool_]:
        """Return for each row whether one of its texts holds `words`, in any case."""
        import numpy as np

        places = self.integers["place"]
        is_found: NDArray[np.bool_] = np.isin(places, self.texts.keys_with(words))
        return is_found

    def light(self, rows: Sequence[int] | NDArray[np.int64]) -> Iterator[Result]:
        """Yield results without their texts: all that statistics need, from memory."""
        import numpy as np

        chosen = np.asarray(rows, dtype=np.int64)
        columns = {name: self._decoded(name, chosen) for name in CODES}
        for name in NUMBERS:
            columns[name] = _without_nan(self.numbers[name][chosen], is_count=name in _COUNTS)
        columns["trial"] = self.integers["trial"][chosen].tolist()
        columns["failure"] = list(map(_failure_of_kind, columns.pop("failure_kind")))
        columns["judgement"] = list(map(_judgement_that_cost, columns.pop("judge_cost_usd")))
        names = tuple(columns)
        for values in zip(*columns.values(), strict=True):
            yield result_of(dict(zip(names, values, strict=True)))

    def _decoded(self, field: str, rows: NDArray[np.int64]) -> list[Any]:
        values = self.values[field]
        return [values[code] for code in self.codes[field][rows].tolist()]


@lru_cache
def _failure_of_kind(kind: FailureKind | None) -> Failure | None:
    return None if kind is None else Failure(kind=kind, message="")


def _judgement_that_cost(cost_usd: float | None) -> dict[str, float] | None:
    return None if cost_usd is None else {"cost_usd": cost_usd}


def _without_nan(column: NDArray[np.float64], *, is_count: bool) -> list[float | None]:
    if is_count:
        return [None if math.isnan(value) else int(value) for value in column.tolist()]
    return [None if math.isnan(value) else value for value in column.tolist()]
