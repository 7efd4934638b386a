"""Which LLMs and tests a run is about: pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from poor_bench.command_line import next_command
from poor_bench.config.load import Workspace
from poor_bench.config.names import (
    find_ids,
    find_llms,
    is_match,
    make_unknown_llm_error,
    write_names_hint,
)
from poor_bench.errors import ConfigError
from poor_bench.models.llm import LLM
from poor_bench.models.test import Test
from poor_bench.runner.plan import Plan, Shard, make_plan
from poor_bench.runner.trial_states import TrialName, TrialState, TrialStates

_NAME_FILTERS = ("llms", "classes", "tests", "tags")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Filters of a run; an empty filter lets everything through.

    LLM, class, test and tag filters are names or globs (`ollama:*`), and several widen the choice.
    `poor_bench.config.names` tells which names an LLM has.
    """

    llms: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    levels: frozenset[int] = frozenset()
    tests: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    trials: int = 1
    """Trials of every test by every LLM, at least 1."""
    force: bool = False
    """Run also what has a result already."""
    only: frozenset[TrialName] | None = None
    """Run these trials and no others, whatever is stored of them; None for no such limit."""
    among: frozenset[TrialState] = frozenset()
    """States that pending trials are limited to; empty for no such limit."""
    shard: Shard | None = None
    """The part of all this; None for all of it."""

    def plan(self, states: TrialStates) -> Plan:
        """Plan what a run of the selected trials does.

        Args:
            states: How far each of them is.
        """
        plan = make_plan(states, force=self.force, only=self.only, among=self.among)
        # a shard only asks: whoever brings the shards together scores all stored responses again
        rescores = plan.rescore and self.shard is None
        return replace(plan, choice=self.to_json(), shard=self.shard, rescore=rescores)

    def to_json(self) -> dict[str, Any]:
        """Write the selection for the file of a run.

        Example:
            >>> Selection(llms=("a:b",), levels=frozenset({2}), trials=3).to_json()
            {'llms': ['a:b'], 'levels': [2], 'trials': 3, 'force': False}
        """
        lists = {name: list(getattr(self, name)) for name in _NAME_FILTERS}
        lists["levels"] = sorted(self.levels)
        lists["among"] = sorted(int(state) for state in self.among)
        chosen: dict[str, Any] = {name: values for name, values in lists.items() if values}
        if self.shard is not None:
            chosen["shard"] = str(self.shard)
        if self.only is not None:
            chosen["only"] = _group_trials(self.only)
        return chosen | {"trials": self.trials, "force": self.force}

    @classmethod
    def from_json(cls, data: object) -> Selection | None:
        """Read what `to_json` wrote; None where that is not there or of another version."""
        if not isinstance(data, dict) or not data:
            return None
        try:
            llms, classes, tests, tags = (
                tuple(map(str, data.get(name, ()))) for name in _NAME_FILTERS
            )
            return cls(
                llms=llms,
                classes=classes,
                tests=tests,
                tags=tags,
                levels=frozenset(map(int, data.get("levels", ()))),
                among=frozenset(map(TrialState, data.get("among", ()))),
                trials=max(1, int(data["trials"])),
                force=bool(data["force"]),
                shard=Shard.parse(str(data["shard"])) if "shard" in data else None,
                only=_read_trials(data["only"]) if "only" in data else None,
            )
        except (AttributeError, KeyError, TypeError, ValueError):
            return None


def _group_trials(trials: Collection[TrialName]) -> dict[str, dict[str, list[str]]]:
    """Write trials short: tests by LLM and number of the trial."""
    grouped: dict[str, dict[str, list[str]]] = {}
    for llm_id, test_id, number in sorted(trials):
        grouped.setdefault(llm_id, {}).setdefault(str(number), []).append(test_id)
    return grouped


def _read_trials(grouped: Mapping[str, Mapping[str, list[str]]]) -> frozenset[TrialName]:
    return frozenset(
        TrialName(llm_id, str(test_id), int(number))
        for llm_id, by_number in grouped.items()
        for number, test_ids in by_number.items()
        for test_id in test_ids
    )


class Selected(NamedTuple):
    """What a selection chose, in the order of the files."""

    llms: list[LLM]
    tests: list[Test]
    removed_llms: frozenset[str] = frozenset()
    """Ids that only have results: models that are not in llms.json any more."""
    n_disabled_tests: int = 0
    """Tests that the filters match and that are skipped, because they are not enabled."""


def select(
    workspace: Workspace,
    selection: Selection,
    stored_llms: Iterable[str] = (),
    *,
    with_disabled_tests: bool = False,
) -> Selected:
    """Choose the LLMs and tests of a selection.

    An LLM or test that is not enabled is chosen only by a filter that names it.

    Args:
        workspace: Where names are looked up.
        selection: The filters.
        stored_llms: Ids of LLMs that have results: those that are not in the workspace any more may
            be chosen, too.
        with_disabled_tests: True to choose tests that are not enabled, too.

    Raises:
        ConfigError: If a filter matches nothing; it names the nearest existing name.
    """
    removed = set(stored_llms) - set(workspace.llms_by_id)
    llms = _chosen_llms(workspace.llms, selection.llms, removed)
    _require_match("--class", selection.classes, workspace.test_classes)
    _require_match("--test", selection.tests, [test.test_id for test in workspace.tests])
    tags_of = _build_tag_lookup(workspace)
    _require_match(
        "--tag", selection.tags, {tag for test in workspace.tests for tag in tags_of(test)}
    )
    _require_level(selection.levels, {test.level for test in workspace.tests})
    test_ids = _choose_names([test.test_id for test in workspace.tests], selection.tests)
    tests = [
        test
        for test in workspace.tests
        if _matches(test.class_id, selection.classes)
        and test.test_id in test_ids
        and (not selection.levels or test.level in selection.levels)
        and (not selection.tags or any(_matches(tag, selection.tags) for tag in tags_of(test)))
    ]
    chosen = [
        test
        for test in tests
        if test.enabled or with_disabled_tests or test.test_id in selection.tests
    ]
    if workspace.tests and not chosen:
        problem = (
            "all chosen tests are disabled" if tests else "no test matches all filters together"
        )
        raise ConfigError(problem, hint=f"List the tests: {next_command('tests')}")
    kept = frozenset(llm_id for llm_id in removed if _matches(llm_id, selection.llms))
    return Selected(llms, chosen, kept, len(tests) - len(chosen))


def _require_level(wanted: Collection[int], levels: Collection[int]) -> None:
    if wanted and not set(wanted) & set(levels):
        known = ", ".join(map(str, sorted(levels)))
        raise ConfigError("--level matches nothing", hint=f"Levels here: {known}")


def _chosen_llms(
    llms: Sequence[LLM], patterns: Sequence[str], removed: Collection[str]
) -> list[LLM]:
    if not patterns:
        return [llm for llm in llms if llm.enabled]
    chosen = {llm.id for pattern in patterns for llm in _matching(pattern, llms, removed)}
    named = find_ids(patterns, llms)
    return [llm for llm in llms if llm.id in chosen and (llm.enabled or llm.id in named)]


def _matching(pattern: str, llms: Sequence[LLM], removed: Collection[str]) -> list[LLM]:
    matching = find_llms(pattern, llms)
    if not matching and not any(is_match(llm_id, pattern) for llm_id in removed):
        unknown = make_unknown_llm_error(pattern, llms, removed)
        raise ConfigError(f"--llm {pattern!r} matches nothing", hint=unknown.hint)
    return matching


def _build_tag_lookup(workspace: Workspace) -> Callable[[Test], tuple[str, ...]]:
    by_class = {name: test_class.tags for name, test_class in workspace.test_classes.items()}
    return lambda test: test.tags + by_class.get(test.class_id, ())


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(is_match(name, glob) for glob in patterns)


def _choose_names(names: Sequence[str], patterns: Sequence[str]) -> set[str]:
    """Choose the names that patterns mean; thousands of full names are looked up, not compared."""
    if not patterns:
        return set(names)
    chosen = set(names).intersection(patterns)
    globs = [pattern for pattern in patterns if pattern not in chosen]
    return chosen | {name for name in names if any(is_match(name, glob) for glob in globs)}


def _require_match(option: str, patterns: Iterable[str], names: Collection[str]) -> None:
    known = set(names)
    for pattern in patterns:
        if pattern in known or any(is_match(name, pattern) for name in known):
            continue
        hint = write_names_hint(pattern, names) or "this workspace has none"
        raise ConfigError(f"{option} {pattern!r} matches nothing", hint=hint)
