"""Trials in columns: every figure is computed from these, few or a million of them.

Beside them stand columns worked out from the texts of results, so that the texts are read once.
numpy is imported when the first columns are made, so that commands without figures start quickly.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from poor_bench.models.result import Result

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


NUMBERS = (
    "score", "strict_score", "execution_time_ms", "first_token_ms", "load_ms", "queue_ms",
    "prefill_ms", "decode_ms", "prompt_tokens", "completion_tokens", "thinking_tokens",
    "cached_tokens", "cost_usd", "judge_cost_usd", "thinking_share", "memory_bytes", "gpu_share",
)  # fmt: skip
"""Figures of a trial that columns hold; NaN stands for a missing value."""
_LARGEST_TRIAL = 2**62
_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialColumns:
    """Scored and failed trials, one entry each in every column.

    A trial has one entry with its score, and one more with its failure where it has failed since.
    """

    columns: Mapping[str, NDArray[Any]]
    """`NUMBERS`; `trial`; and a code for each field of `values`."""
    values: Mapping[str, tuple[Any, ...]]
    """Field to what its codes stand for: `llm_id`, `test_id`, `run_id`, `marks`, `failure_kind`,
    `sandbox`, `found`."""

    def __len__(self) -> int:
        return len(self.columns["trial"])

    @property
    def is_scored(self) -> NDArray[np.bool_]:
        """Which entries have a score."""
        import numpy as np

        is_scored: NDArray[np.bool_] = ~np.isnan(self.columns["score"])
        return is_scored

    def is_missing(self, field: str) -> NDArray[np.bool_]:
        """Mark the entries without one of the `NUMBERS`."""
        import numpy as np

        is_missing: NDArray[np.bool_] = np.isnan(self.columns[field])
        return is_missing

    def count_trials(self) -> int:
        """Count the trials; one with a score and a newer failure counts once."""
        import numpy as np

        names = ("llm_id", "test_id", "trial")
        keys = np.stack([self.columns[name].astype(np.int64) for name in names])
        return int(np.unique(keys, axis=1).shape[1])

    @property
    def tells_form(self) -> NDArray[np.bool_]:
        """Which entries have a known strict score, as `Result.tells_form`."""
        import numpy as np

        is_told: NDArray[np.bool_] = ~np.isnan(self.columns["strict_score"])
        for name in ("found", "run_id"):
            is_told |= self.find_entries(name, bool)
        return is_told

    def pick(self, chosen: NDArray[Any] | slice) -> TrialColumns:
        """Select entries by a mask or their numbers; of all, or a slice, nothing is copied."""
        if not isinstance(chosen, slice) and chosen.dtype == bool:
            if chosen.all():
                return self
            chosen = chosen.nonzero()[0]  # a mask of very many rows takes long for each column
        columns = {name: column[chosen] for name, column in self.columns.items()}
        return TrialColumns(columns=columns, values=self.values)

    def split_by_llm(self) -> dict[str, TrialColumns]:
        """Split the entries by LLM; those that stand together already are not copied."""
        import numpy as np

        codes = self.columns["llm_id"]
        order = np.argsort(codes, kind="stable") if np.any(np.diff(codes) < 0) else slice(None)
        columns = {name: column[order] for name, column in self.columns.items()}
        used, starts = np.unique(columns["llm_id"], return_index=True)
        ends = [*starts[1:].tolist(), len(self)]
        return {
            str(self.values["llm_id"][code]): TrialColumns(
                columns={name: column[start:end] for name, column in columns.items()},
                values=self.values,
            )
            for code, start, end in zip(used.tolist(), starts.tolist(), ends, strict=True)
        }

    def find_entries(self, field: str, is_wanted: Callable[[Any], bool]) -> NDArray[np.bool_]:
        """Mark the entries whose value of a field is wanted."""
        import numpy as np

        wanted = np.array([is_wanted(value) for value in self.values[field]], dtype=np.bool_)
        if wanted.all() or not wanted.any():  # as a rule; it takes a look at no row
            return np.full(len(self.columns[field]), bool(wanted.any()))
        found: NDArray[np.bool_] = wanted[self.columns[field]]
        return found

    def find_values(self, field: str) -> tuple[Any, ...]:
        """List the values of a field that occur, in order of first appearance."""
        used = order_codes(self.columns[field])
        return tuple(self.values[field][code] for code in used)

    def count_values(self, field: str) -> dict[str, int]:
        """Count the entries of each value of a field, in order of first appearance."""
        import numpy as np

        counts = np.bincount(self.columns[field]).tolist()
        return {self.values[field][code]: counts[code] for code in order_codes(self.columns[field])}


Trials = Iterable[Result] | TrialColumns
"""What functions of statistics take: each trial once, in any order."""


def collect_columns(trials: Trials) -> TrialColumns:
    """Arrange results in columns; columns stay as they are.

    Results may come from an iterator: they are not kept.
    """
    if isinstance(trials, TrialColumns):
        return trials
    import numpy as np

    codes: dict[str, dict[Hashable, int]] = {name: {} for name in _CODED}
    pieces: dict[str, list[NDArray[Any]]] = {name: [] for name in (*NUMBERS, "trial", *_CODED)}
    following = iter(trials)
    while some := tuple(islice(following, _AT_ONCE)):
        for name in NUMBERS:
            read = _COMPUTED.get(name)
            values = [getattr(each, name) for each in some] if read is None else [*map(read, some)]
            pieces[name].append(np.array(values, dtype=np.float64))
        numbers = [min(each.trial, _LARGEST_TRIAL) for each in some]
        pieces["trial"].append(np.array(numbers, dtype=np.int64))
        for name, take in _CODED.items():
            known = codes[name]
            of_field = [known.setdefault(take(each), len(known)) for each in some]
            pieces[name].append(np.array(of_field, dtype=np.int64))
    kinds = dict.fromkeys(NUMBERS, np.float64)
    return TrialColumns(
        columns={
            name: np.concatenate(found) if found else np.zeros(0, kinds.get(name, np.int64))
            for name, found in pieces.items()
        },
        values={name: tuple(known) for name, known in codes.items()},
    )


_COMPUTED: Mapping[str, Callable[[Result], float | None]] = {
    "judge_cost_usd": lambda each: None if each.judgement is None else each.judge_cost_usd,
    # Without timings nobody asks for the share, and it reads the texts.
    "thinking_share": lambda each: None if each.decode_ms is None else each.thinking_share,
}
_CODED: Mapping[str, Callable[[Result], Hashable]] = {
    "llm_id": lambda each: each.llm_id,
    "test_id": lambda each: each.test_id,
    "run_id": lambda each: each.run_id,
    "marks": lambda each: each.marks,
    "sandbox": lambda each: each.sandbox,
    "found": lambda each: each.found,
    "failure_kind": lambda each: None if each.failure is None else each.failure.kind,
}


_CODES_AT_ONCE = 1 << 20


def order_codes(codes: NDArray[Any]) -> list[int]:
    """List the codes that occur, in order of first appearance.

    Example:
        >>> import numpy as np
        >>> order_codes(np.array([7, 2, 7]))
        [7, 2]
    """
    import numpy as np

    n_entries = len(codes)
    first = np.full(int(codes.max(initial=-1)) + 1, n_entries, dtype=np.int64)
    for start in reversed(range(0, n_entries, _CODES_AT_ONCE)):
        some = codes[start : start + _CODES_AT_ONCE][::-1]
        first[some] = np.arange(start, start + len(some))[::-1]  # of equal indices the last stays
    order: list[int] = np.argsort(first, kind="stable")[: int((first < n_entries).sum())].tolist()
    return order


def number_codes(
    codes: NDArray[Any], *, is_short: bool = False
) -> tuple[list[int], NDArray[np.signedinteger[Any]]]:
    """Number the codes that occur, from 0 on in order of first appearance.

    Args:
        codes: At least 0.
        is_short: True for numbers of 32 bits, without a copy where codes are their own numbers.

    Returns:
        The codes by their numbers, and the number of each entry.

    Example:
        >>> import numpy as np
        >>> used, numbers = number_codes(np.array([7, 2, 7]))
        >>> used, numbers.tolist()
        ([7, 2], [0, 1, 0])
    """
    import numpy as np

    used = order_codes(codes)
    if is_short and used == [*range(len(used))]:
        return used, codes.astype(np.int32, copy=False)
    numbers = np.zeros(max(used, default=-1) + 1, dtype=np.int32 if is_short else np.int64)
    numbers[used] = np.arange(len(used))
    return used, numbers[codes]


class Cells(NamedTuple):
    """Scored trials by test and LLM, in order of first appearance."""

    llm_ids: tuple[str, ...]
    tests: Sequence[int]
    """Code of each test in `test_names`."""
    test_names: Sequence[str]
    entries: NDArray[np.int64]
    """Number of each scored trial in its columns."""
    places: NDArray[np.int64]
    """Its cell: number of the test times the number of LLMs, plus number of the LLM."""

    @property
    def test_ids(self) -> tuple[str, ...]:
        """Ids of the tests, listed when asked for: of very many tests, that takes time."""
        return tuple(self.test_names[code] for code in self.tests)

    @property
    def n_cells(self) -> int:
        """Number of tests times number of LLMs."""
        return len(self.llm_ids) * len(self.tests)


def number_cells(table: TrialColumns) -> Cells:
    """Number the cells that scored trials belong to."""
    import numpy as np

    entries = np.flatnonzero(table.is_scored)
    llms, columns = number_codes(table.columns["llm_id"][entries])
    tests, rows = number_codes(table.columns["test_id"][entries])
    return Cells(
        llm_ids=tuple(table.values["llm_id"][code] for code in llms),
        tests=tests,
        test_names=table.values["test_id"],
        entries=entries,
        places=rows * len(llms) + columns,
    )


def find_newer_failures(table: TrialColumns) -> NDArray[np.bool_]:
    """Mark the failures of trials that have a score, too.

    Such a trial counts as scored; the others that failed have no score.
    """
    import numpy as np

    is_scored = table.is_scored
    found = np.zeros(len(table), dtype=np.bool_)
    failed = np.flatnonzero(~is_scored)
    if len(failed):
        llms, tests, trials = (table.columns[name] for name in ("llm_id", "test_id", "trial"))
        rivals = np.flatnonzero(is_scored & np.isin(tests, tests[failed]))
        both = np.concatenate([failed, rivals])
        _, numbers = np.unique(trials[both], return_inverse=True)
        keys = llms[both].astype(np.int64) * len(table.values["test_id"]) + tests[both]
        keys = keys * (len(both) + 1) + numbers
        found[failed] = np.isin(keys[: len(failed)], keys[len(failed) :])
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class TextColumns:
    """Whole numbers, one entry for each result in every column."""

    columns: Mapping[str, NDArray[np.signedinteger[Any]]]
    values: Mapping[str, tuple[str, ...]]
    """What the codes of some columns stand for; -1 stands for nothing."""

    def pick(self, entries: NDArray[Any] | slice) -> TextColumns:
        """Select entries by a mask or by their numbers; of a slice, nothing is copied."""
        columns = {name: column[entries] for name, column in self.columns.items()}
        return TextColumns(columns=columns, values=self.values)


NO_COLUMNS = TextColumns(columns={}, values={})


@dataclass(frozen=True, slots=True, kw_only=True)
class TextReader:
    """How columns are worked out from results."""

    name: str
    """Of this kind of columns."""
    read: Callable[[Iterable[Result]], TextColumns]
    """Depends on nothing but the results and `version`."""
    texts: Sequence[str] | None
    """Texts of results that `read` needs; None for all."""
    fields: Sequence[str] | None
    """Other fields of results that it needs; None for all."""
    version: str = ""
    """Changes with everything that `read` knows beside the results; its code apart."""
    is_shared: bool = False
    """True if `read` can be pickled, so that other processes may do it."""


class TextCodes(dict[str, int]):
    """Codes of texts from 0 on, in order of first appearance."""

    def __missing__(self, text: str) -> int:
        self[text] = code = len(self)
        return code


class JoinedColumns:
    """Columns of many rows that are filled piece by piece; the pieces are not kept."""

    def __init__(self, n_rows: int) -> None:
        self._n_rows = n_rows
        self._columns: dict[str, NDArray[Any]] = {}
        self._codes: dict[str, TextCodes] = {}

    def put(self, entries: NDArray[np.int64], piece: TextColumns) -> None:
        """Fill in some rows; equal texts get the same code."""
        import numpy as np

        for name, column in piece.columns.items():
            if name in piece.values:
                codes = self._codes.setdefault(name, TextCodes())
                joined = [*(codes[text] for text in piece.values[name]), -1]
                narrow = np.array(joined, dtype=np.int32)[column]
            else:
                narrow = shrink(column)
            known = self._columns.get(name)
            if known is None:
                known = np.zeros(self._n_rows, narrow.dtype)
            # A column becomes wider once; 64 bits for each would take twice the memory.
            known = known.astype(np.result_type(known, narrow), copy=False)
            known[entries] = narrow
            self._columns[name] = known

    def columns(self) -> TextColumns:
        """Give what was filled in."""
        values = {name: tuple(codes) for name, codes in self._codes.items()}
        return TextColumns(columns=self._columns, values=values)


def shrink(column: NDArray[Any]) -> NDArray[Any]:
    """Keep whole numbers in 32 bits where all are small."""
    import numpy as np

    small = column.astype(np.int32)
    return small if (small == column).all() else column
