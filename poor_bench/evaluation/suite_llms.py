"""Choice of the LLM for every case."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from poor_bench.config.llm_names import find_llm, unknown_llm
from poor_bench.config.load import llms_file, load_llms, raise_errors
from poor_bench.errors import ConfigError
from poor_bench.evaluation.models import EvalCase, EvalSuite
from poor_bench.models.llm import LLM


def choose_llms(suite: EvalSuite, data_dir: Path, wanted: str | None) -> dict[str, LLM | None]:
    """Choose the LLM of every case, by the case's id.

    `wanted` precedes the case's own `llm`, and that the suite's. Without a name it is the suite's
    first LLM, else the first that is enabled in llms.json. Cases that only a playbook carries out
    have None, as have all cases where no LLM exists.

    Args:
        suite: Its LLMs precede those of the workspace.
        data_dir: Folder of the workspace.
        wanted: LLM id for all cases; None for the choice of the suite.

    Raises:
        ConfigError: If a named LLM does not exist, or llms.json has an error.
    """
    known = (*suite.llms, *_of_workspace(data_dir))
    default = next((llm for llm in known if llm.enabled), None)
    chosen: dict[str, LLM | None] = {case.id: None for case in suite.cases}
    for case in suite.cases:
        if case.execution_mode != "playbook_only":
            chosen[case.id] = _choose(case, suite, known, wanted) or default
    return chosen


def _choose(
    case: EvalCase, suite: EvalSuite, known: Sequence[LLM], wanted: str | None
) -> LLM | None:
    name = wanted or case.llm or suite.llm
    if name is None:
        return None
    found = find_llm(name, known)
    if found is None:
        hint = unknown_llm(name, known).hint
        raise ConfigError(f"case {case.id}: LLM `{name}` does not exist", hint=hint)
    return found


def _of_workspace(data_dir: Path) -> tuple[LLM, ...]:
    """LLMs of the workspace; llms.json may be missing, but not broken."""
    if not llms_file(data_dir).is_file():
        return ()
    loaded = load_llms(data_dir)
    raise_errors(loaded.report.problems)
    return tuple(loaded.items)
