"""Results as rows of columns: what the index stores, and the way there and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result, build_result
from poor_bench.prompts import hash_text
from poor_bench.runs.journal import dump_record
from poor_bench.statistics.trials import NUMBERS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CODES = (
    "llm_id", "test_id", "think", "run_id", "finish_reason", "marks", "found", "failure_kind",
    "sandbox", "machine",
)  # fmt: skip
"""Fields whose values repeat; tables hold a code per row and each value once."""
TEXTS = (
    "timestamp", "via", "details", "response", "thinking", "prompt", "system_prompt", "extracted",
    "expected", "got", "cause", "failure_message", "model_digest",
    "request_fingerprint", "evaluator_fingerprint", "judgement",
)  # fmt: skip
"""Fields that stay in files and are fetched for single rows."""
SEARCHED = ("test_id", "details", "response", "thinking", "failure_message")
"""Texts that a search looks at."""
_WHOLE = frozenset({"memory_bytes", *(name for name in NUMBERS if name.endswith("_tokens"))})
_AS_JSON = frozenset({"think", "marks", "judgement"})
"""Fields of several types, kept as JSON text."""

FINGERPRINTS = {"request_code": "request_fingerprint", "evaluator_code": "evaluator_fingerprint"}
"""Columns with fingerprints as numbers, so that a million are compared at once."""

NUMBER_COLUMNS = {
    "row": "BIGINT",
    "llm_id": "VARCHAR",
    "test_id": "VARCHAR",
    "trial": "BIGINT",
    "timestamp": "VARCHAR",
    **dict.fromkeys(CODES[2:], "VARCHAR"),
    **dict.fromkeys(NUMBERS, "DOUBLE"),
    **dict.fromkeys(FINGERPRINTS, "UBIGINT"),
}
"""Columns, with their types in DuckDB, that a part holds for counting."""
TEXT_COLUMNS = {
    "row": "BIGINT",
    "llm_id": "VARCHAR",
    "test_id": "VARCHAR",
    **dict.fromkeys(TEXTS, "VARCHAR"),
    "attempts": "DOUBLE",
}
"""Columns that a part holds beside them, in a file of their own."""
ALL_COLUMNS = {**NUMBER_COLUMNS, **TEXT_COLUMNS}
_LARGEST_TRIAL = 2**62
_DIGITS = 16


def row_line(result: Result, row: int) -> bytes:
    """Write a result as one line of JSON whose keys are columns.

    Args:
        result: Its LLM id is the one of the file.
        row: Its number within its part.
    """
    values = {"row": row, **vars(result)}
    values["trial"] = min(result.trial, _LARGEST_TRIAL)
    for name in _AS_JSON & values.keys():
        values[name] = None if values[name] is None else dump_record(values[name]).decode()
    failure = values.pop("failure", None)
    if failure is not None:
        values["failure_kind"] = failure.kind.value
        values["failure_message"] = failure.message
        values["attempts"] = failure.attempts
    if values.get("judgement") is not None:
        values["judge_cost_usd"] = result.judge_cost_usd
    if result.decode_ms is not None:
        values["thinking_share"] = result.thinking_share
    for column, field in FINGERPRINTS.items():
        if fingerprint := values.get(field):
            values[column] = encode_fingerprint(fingerprint)
    return dump_record(values)


def encode_fingerprint(fingerprint: str) -> int:
    """Turn a fingerprint into a number of 64 bits: its own, if it has 16 hexadecimal digits.

    Example:
        >>> encode_fingerprint("00000000000000ff")
        255
    """
    try:
        code = int(fingerprint, 16) if len(fingerprint) == _DIGITS else 0
    except ValueError:
        code = 0
    return code or int(hash_text(fingerprint, _DIGITS), 16)


def decode(field: str, text: str | None) -> Any:
    """Turn the text of a column of `CODES` or `TEXTS` back into the value of the field."""
    if not text:
        return None if field in _NONE_BY_DEFAULT else _EMPTY.get(field, "")
    if field in _AS_JSON:
        value = orjson.loads(text)
        return tuple(value) if field == "marks" else value
    return FailureKind(text) if field == "failure_kind" else text


class StoredColumn(NamedTuple):
    """A column of some rows as a table holds it."""

    stored: NDArray[Any]
    """Numbers, or codes of `values`."""
    values: Sequence[Any] | None

    def shrink(self) -> StoredColumn:
        """Keep the values that occur, to send it elsewhere."""
        import numpy as np

        if self.values is None:
            return self
        used, codes = np.unique(self.stored, return_inverse=True)
        return StoredColumn(codes, [self.values[code] for code in used.tolist()])

    def decode(self, field: str) -> list[Any]:
        """Turn it into values of the field."""
        if self.values is not None:
            return [self.values[code] for code in self.stored.tolist()]
        if field in NUMBERS:
            return decode_numbers(field, self.stored)
        plain: list[Any] = self.stored.tolist()
        return plain


_NONE_BY_DEFAULT = frozenset({"think", "failure_kind", "model_digest", "judgement"})
_EMPTY: Mapping[str, Any] = {"marks": ()}


def results_from_columns(columns: Mapping[str, Sequence[Any]]) -> Iterator[Result]:
    """Yield results from decoded columns of equal length, without looking at their types.

    Fields that are not among the columns have their default. `failure_kind` stands for the failure.
    """
    names = tuple(name for name in columns if name not in _APART)
    kinds = columns.get("failure_kind")
    shares = columns.get("thinking_share")
    for place, values in enumerate(zip(*(columns[name] for name in names), strict=True)):
        fields = dict(zip(names, values, strict=True))
        fields["failure"] = None if kinds is None else _failure(columns, place)
        if "judgement" not in columns and "judge_cost_usd" in columns:
            cost = columns["judge_cost_usd"][place]
            fields["judgement"] = None if cost is None else {"cost_usd": cost}
        if shares is not None and shares[place] is not None:
            fields["thinking_share"] = shares[place]
        yield build_result(fields)


_APART = frozenset(
    {"failure_kind", "failure_message", "attempts", "judge_cost_usd", "row", "thinking_share"}
)


def _failure(columns: Mapping[str, Sequence[Any]], place: int) -> Failure | None:
    kind = columns["failure_kind"][place]
    if kind is None:
        return None
    if "failure_message" not in columns:
        return _NAMELESS[kind]
    attempts = columns["attempts"][place]
    return Failure(
        kind=kind,
        message=columns["failure_message"][place] or "",
        attempts=1 if attempts is None else int(attempts),
    )


_NAMELESS = {kind: Failure(kind=kind, message="") for kind in FailureKind}


def decode_texts(field: str, texts: Sequence[Any]) -> list[Any]:
    """Turn a column of `TEXTS`, or of `attempts`, back into values of the field."""
    if TEXT_COLUMNS[field] == "DOUBLE":
        return [read_number(field, number) for number in texts]
    if not any(texts):
        return [decode(field, None)] * len(texts)
    if field in _NONE_BY_DEFAULT:
        return [decode(field, text) for text in texts]
    return [text or "" for text in texts]


def decode_numbers(field: str, numbers: NDArray[np.float64]) -> list[float | int | None]:
    """Turn a column of `NUMBERS` back into values of the field."""
    import numpy as np

    is_missing = np.isnan(numbers)
    if is_missing.all():
        return [None] * len(numbers)
    if is_missing.any():
        return [read_number(field, number) for number in numbers.tolist()]
    whole: list[float | int | None] = (
        numbers.astype(np.int64) if field in _WHOLE else numbers
    ).tolist()
    return whole


def read_number(field: str, value: float | None) -> float | int | None:
    """Turn the number of a column back into the value of the field."""
    if value is None or isnan(value):
        return None
    return int(value) if field in _WHOLE else value


def is_repeated(column: NDArray[Any]) -> bool:
    """True if a column holds one value for all of its rows, so that they take no memory."""
    return len(column) > 1 and column.strides == (0,)


def is_constant(column: NDArray[Any]) -> bool:
    """True if all values are the same, bit by bit: a missing value equals another one."""
    import numpy as np

    if is_repeated(column):
        return True
    bits = column.view(np.dtype(f"u{column.itemsize}"))
    return bool(len(bits)) and bool((bits == bits[0]).all())


def repeat(column: NDArray[Any], n_rows: int) -> NDArray[Any]:
    """Let a column of one value have all rows; they take no memory."""
    import numpy as np

    return column if len(column) == n_rows else np.broadcast_to(column, (n_rows,))
