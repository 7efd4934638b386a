"""Which cases of a suite are run."""

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
    """Return the suite with the chosen cases only, in its order.

    Args:
        suite: All there is.
        case_patterns: Ids or globs, of which a case must fit one; empty takes all.
        tags: Of which a case must have one; empty takes all.
        trials: In place of each case's own number, at least 1.

    Raises:
        ConfigError: If a pattern or a tag fits no case, or all together leave none.
    """
    ids = [case.id for case in suite.cases]
    for pattern in case_patterns:
        _require(any(fnmatchcase(case_id, pattern) for case_id in ids), "case", pattern, ids)
    known_tags = sorted({tag for case in suite.cases for tag in case.benchmark_tags})
    for tag in tags:
        _require(tag in known_tags, "tag", tag, known_tags)
    chosen = [case for case in suite.cases if _is_chosen(case, case_patterns, tags)]
    if not chosen:
        raise ConfigError(f"no case of {suite.name} fits all of what was chosen")
    if trials is not None:
        chosen = [case.model_copy(update={"trials": trials}) for case in chosen]
    return suite.model_copy(update={"cases": tuple(chosen)})


def _is_chosen(case: EvalCase, patterns: Sequence[str], tags: Sequence[str]) -> bool:
    fits = not patterns or any(fnmatchcase(case.id, pattern) for pattern in patterns)
    return fits and (not tags or not set(tags).isdisjoint(case.benchmark_tags))


def _require(is_there: bool, what: str, written: str, known: Sequence[str]) -> None:
    if not is_there:
        raise ConfigError(f"there is no {what} `{written}`", hint=name_hint(written, known))
