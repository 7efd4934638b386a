"""Selection of the cases to run."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from poor_bench.config.nearest_name import name_hint
from poor_bench.errors import ConfigError
from poor_bench.evaluation.models import EvalCase, EvalSuite


def select_cases(
    suite: EvalSuite,
    *,
    case_patterns: Sequence[str] = (),
    tags: Sequence[str] = (),
    trials: int | None = None,
) -> EvalSuite:
    """Keep the selected cases of a suite, in its order.

    Args:
        suite: The whole suite.
        case_patterns: Ids or globs; a case must match one of them. Empty selects all.
        tags: A case must have one of them. Empty selects all.
        trials: Replaces each case's own number, at least 1.

    Raises:
        ConfigError: If a pattern or a tag matches no case, or no case matches all of them.
    """
    ids = [case.id for case in suite.cases]
    for pattern in case_patterns:
        _require(any(fnmatchcase(case_id, pattern) for case_id in ids), "case", pattern, ids)
    known_tags = sorted({tag for case in suite.cases for tag in case.benchmark_tags})
    for tag in tags:
        _require(tag in known_tags, "tag", tag, known_tags)
    chosen = [case for case in suite.cases if _is_chosen(case, case_patterns, tags)]
    if not chosen:
        raise ConfigError(f"no case of {suite.name} matches all filters")
    if trials is not None:
        chosen = [case.model_copy(update={"trials": trials}) for case in chosen]
    return suite.model_copy(update={"cases": tuple(chosen)})


def _is_chosen(case: EvalCase, patterns: Sequence[str], tags: Sequence[str]) -> bool:
    fits = not patterns or any(fnmatchcase(case.id, pattern) for pattern in patterns)
    return fits and (not tags or not set(tags).isdisjoint(case.benchmark_tags))


def _require(exists: bool, what: str, written: str, known: Sequence[str]) -> None:
    if not exists:
        raise ConfigError(f"{what} `{written}` does not exist", hint=name_hint(written, known))
