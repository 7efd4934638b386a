"""A sweep: variants of a model on their way through the tests, in steps, as ordinary runs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import TypeAdapter

from poor_bench.config.load import Workspace
from poor_bench.errors import CallLimitError, CostLimitError, RunCancelledError
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.pool.events import LLMUnavailable
from poor_bench.prompts import hash_text
from poor_bench.runner.events import RunEvent, RunStarted, TrialFinished
from poor_bench.runner.plan import make_plan
from poor_bench.runner.trial_states import TrialState, TrialStates
from poor_bench.tuning.searches import SearchStoppedError, SearchTools, StopReason, count_calls
from poor_bench.tuning.sweep_ranking import find_losers
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner

SYSTEM_PROMPT = "base_system_prompt"
"""Not a parameter of the request, but swept like one."""
_RANGE = re.compile(r"^(?P<low>-?\d+(?:\.\d+)?)\.\.(?P<high>-?\d+(?:\.\d+)?)")


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepAxis:
    """One parameter: either values to try, or a range to search."""

    name: str
    values: tuple[Any, ...] = ()
    low: int | float | None = None
    high: int | float | None = None

    @property
    def is_range(self) -> bool:
        """True if the axis is a range."""
        return self.low is not None

    @property
    def is_whole(self) -> bool:
        """True for a range of whole numbers."""
        return isinstance(self.low, int) and isinstance(self.high, int)


def read_axis(name: str, values: Sequence[Any]) -> SweepAxis:
    """Build an axis from values.

    Args:
        name: The parameter, or `SYSTEM_PROMPT`.
        values: Plain data; a single text such as `0..1` is a range.

    Raises:
        ValueError: If values are missing or duplicate, or a range is empty.

    Example:
        >>> read_axis("temperature", [0, 0.4]).values
        (0, 0.4)
        >>> read_axis("top_k", ["1..100"]).is_whole
        True
    """
    if not values:
        raise ValueError(f"{name}: give at least one value")
    if len(values) == 1 and isinstance(values[0], str):
        match = _RANGE.fullmatch(values[0])
        if match is not None:
            return _range_axis(name, match["low"], match["high"])
    for position, value in enumerate(values):
        if any(_is_same(value, other) for other in values[:position]):
            raise ValueError(f"{name}: duplicate value {value!r}")
    return SweepAxis(name=name, values=tuple(values))


def list_choices(axes: Sequence[SweepAxis]) -> Iterable[dict[str, Any]]:
    """Yield every combination of values, the last axis running fastest.

    Raises:
        ValueError: If an axis is a range.
    """
    for axis in axes:
        if axis.is_range:
            raise ValueError(
                f"{axis.name}: a range needs --search optuna; for a grid, list the values"
            )
    for values in itertools.product(*(axis.values for axis in axes)):
        yield dict(zip((axis.name for axis in axes), values, strict=True))


def _range_axis(name: str, low: str, high: str) -> SweepAxis:
    is_whole = "." not in low and "." not in high
    start, end = (int(low), int(high)) if is_whole else (float(low), float(high))
    if not start < end:
        raise ValueError(f"{name}: the range {low}..{high} is empty")
    return SweepAxis(name=name, low=start, high=end)


def _is_same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


FREE_FORMAT = "text"
"""The `response_format` for no format."""
_TAG = "tuned"
_LONGEST = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A model of a sweep."""

    llm: LLM
    choice: Mapping[str, Any]
    """Differences from the baseline; empty for the baseline."""

    @property
    def id(self) -> str:
        """Under which its results stand."""
        return self.llm.id


def make_variant(base: LLM, choice: Mapping[str, Any]) -> Variant:
    """Apply values to a model.

    Its id is the base's with a suffix that says what differs, such as
    `ollama:gemma3:1b:temperature=0.4,top_p=0.9`. A value of None takes a parameter away.

    Args:
        base: The LLM as it stands in the workspace.
        choice: Parameter, or `SYSTEM_PROMPT`, to value.
    """
    parameters = {**base.parameters, **choice}
    prompt = parameters.pop(SYSTEM_PROMPT, base.base_system_prompt)
    if parameters.get("response_format") == FREE_FORMAT:
        del parameters["response_format"]
    suffix = ",".join(f"{name}={write_value(value)}" for name, value in choice.items())
    return Variant(
        llm=replace(
            base,
            id=f"{base.id}:{suffix}",
            label=f"{base.label or base.id}, {suffix}",
            base_system_prompt=str(prompt or ""),
            parameters={name: value for name, value in parameters.items() if value is not None},
            enabled=True,
            tags=(*(tag for tag in base.tags if tag != _TAG), _TAG),
        ),
        choice=dict(choice),
    )


def name_variant(variant_id: str, base_id: str) -> str:
    """Short name of a variant on screens about one model.

    Example:
        >>> name_variant("ollama:a:think=true,seed=1", "ollama:a"), name_variant("x", "x")
        ('think=true, seed=1', 'current')
    """
    if variant_id == base_id:
        return "current"
    return variant_id.removeprefix(f"{base_id}:").replace(",", ", ")


def is_like(one: LLM, other: LLM) -> bool:
    """True if two entries of a model send the same requests."""
    return one.parameters == other.parameters and one.base_system_prompt == other.base_system_prompt


def write_value(value: Any) -> str:
    """Short text of a value for ids, unique and without spaces.

    Example:
        >>> write_value(0.40), write_value(True), write_value(None), write_value("Be brief.")
        ('0.4', 'true', 'none', 'Be_brief.-213c')
    """
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.4g}"
    text = str(value)
    plain = re.sub(r"[^\w.+-]+", "_", text)
    if plain == text and len(text) <= _LONGEST:
        return text
    digest = hash_text(text, 4)
    return f"{plain[:12].strip('_')}-{digest}"


def make_entry(llm: LLM) -> dict[str, Any]:
    """Convert a model to an entry of llms.json, without defaults."""
    entry: dict[str, Any] = TypeAdapter(LLM).dump_python(llm, mode="json", exclude_defaults=True)
    return {"provider": llm.provider, "name": llm.name, "id": llm.id, **entry}


FIRST_RUNG = 6
"""Tests before the first variant can be dropped."""
GROWTH = 2


def split_into_rungs(tests: Sequence[Test], seed: int) -> list[list[Test]]:
    """Split the tests into steps, each about as large as all before.

    Every step mixes classes and levels as the whole does: tests of each class and level are put in
    the order of a hash of seed and id, and are dealt out evenly.

    Example:
        >>> tests = [Test(test_id=str(n), class_id="c", level=1, text="t") for n in range(16)]
        >>> [len(rung) for rung in split_into_rungs(tests, seed=0)]
        [6, 6, 4]
    """
    ordered = _mix(tests, seed)
    rungs = []
    done, size = 0, FIRST_RUNG
    while done < len(ordered):
        rungs.append(ordered[done : done + size])
        done += size
        size = done * (GROWTH - 1)
    return rungs


def _mix(tests: Sequence[Test], seed: int) -> list[Test]:
    strata: dict[tuple[str, int], list[Test]] = {}
    for test in sorted(tests, key=lambda test: hash_text(f"{seed} {test.test_id}")):
        strata.setdefault((test.class_id, test.level), []).append(test)
    places = [
        ((position + 0.5) / len(stratum), hash_text(f"{seed} {test.test_id}"), test)
        for stratum in strata.values()
        for position, test in enumerate(stratum)
    ]
    return [test for _, _, test in sorted(places, key=lambda place: place[:2])]


class Sweep:
    """The variants of one LLM on their way through the tests.

    Attributes:
        base: The LLM as it is; it runs all tests.
        rungs: The tests in steps.
        variants: Id to variant, in the order in which they came; the base first.
        dropped: Id of each dropped variant to the one that was ahead.
    """

    def __init__(
        self,
        config: WorkspaceFolder,
        tools: SearchTools,
        base: LLM,
        rungs: Sequence[Sequence[Test]],
        tell: Callable[[RunEvent], None] = lambda _event: None,
    ) -> None:
        """Prepare a sweep.

        Args:
            config: The workspace; its evaluators and its store are used.
            tools: Asks the models, counts calls, keeps what happens.
            base: The LLM as it is.
            rungs: The tests in steps.
            tell: Hears of every run.
        """
        self._config = config
        self._tools = tools
        self._tell = tell
        self._found: dict[str, dict[str, Result]] = {}
        """Variant id to test id to its newest result."""
        self._unavailable: dict[str, str] = {}
        """Variant id to the reason why it cannot be asked."""
        self.base = Variant(llm=base, choice={})
        self.rungs = rungs
        self._tests_by_id = {test.test_id: test for rung in rungs for test in rung}
        self.variants = {base.id: self.base}
        self.dropped: dict[str, str] = {}

    @property
    def results(self) -> dict[str, list[Result]]:
        """Variant id to its results so far."""
        return {name: list(self._found.get(name, {}).values()) for name in self.variants}

    def scores(self, variant_id: str) -> dict[str, float]:
        """Scores of a variant by test, without failures; empty before the first."""
        found = self._found.get(variant_id, {}).items()
        return {test_id: result.score for test_id, result in found if result.score is not None}

    def is_whole(self, variant_id: str) -> bool:
        """True if a variant has a score for every test."""
        return len(self.scores(variant_id)) == sum(len(rung) for rung in self.rungs)

    def add(self, variant: Variant) -> None:
        """Add a variant to the sweep, and keep what it is like."""
        self.variants[variant.id] = variant
        entry = make_entry(variant.llm)
        record = {"id": variant.id, "choice": variant.choice, "entry": entry}
        self._tools.file.append("variant", record)

    def advance(self, running: Sequence[Variant], rung: Sequence[Test]) -> list[Variant]:
        """Run some tests, and find the variants that could run; stored results are reused.

        Raises:
            SearchStoppedError: If no variant could be asked, or the base could not: there is
                nothing to compare with. What was run is stored all the same.
            RunCancelledError: If the limits allow no more tests, or the user stopped it.
            StoreError: If a result could not be stored.
        """
        runner = WorkspaceRunner(
            self._config, self._tools.manager, workspace=self._make_workspace(running)
        )
        calls_per_test = 2 if any(map(runner.scorer.is_judged, rung)) else 1
        tests = self._choose_affordable(running, rung, runner, calls_per_test)
        plan = make_plan(self._states(running, tests, runner))
        self._tools.budget.require_calls(plan.n_items * calls_per_test)
        if not plan.is_empty:
            runner.run(plan, self._listen, self._tools.control)
        self._take_results(running, tests, runner)
        self._stop_if_over(running, tests)
        if len(tests) < len(rung):
            raise CallLimitError("the remaining calls are too few for another step")
        if not self.scores(self.base.id):
            why = self._unavailable.get(self.base.id, "no test could be scored")
            raise SearchStoppedError(StopReason.LLM_FAILED, why)
        return [variant for variant in running if self.scores(variant.id)]

    def drop_losers(self, running: Sequence[Variant]) -> list[Variant]:
        """Select the remaining variants; record why others are dropped."""
        scores = {variant.id: self.scores(variant.id) for variant in running}
        dropped = find_losers(scores, {self.base.id}, self._tests_by_id)
        for loser in dropped:
            behind = asdict(loser.behind)
            record = {"id": loser.variant_id, "leader": loser.leader_id, "behind": behind}
            self._tools.file.append("dropped", record)
            self.dropped[loser.variant_id] = loser.leader_id
        return [variant for variant in running if variant.id not in self.dropped]

    def _choose_affordable(
        self,
        variants: Sequence[Variant],
        tests: Sequence[Test],
        runner: WorkspaceRunner,
        calls_per_test: int,
    ) -> Sequence[Test]:
        """Limit the tests to the remaining calls."""
        n_left = self._tools.budget.n_calls_left
        if n_left is None:
            return tests
        n_items = make_plan(self._states(variants, tests, runner)).n_items
        if n_items * calls_per_test <= n_left:
            return tests
        return tests[: n_left // (len(variants) * calls_per_test)]

    def _states(
        self, variants: Sequence[Variant], tests: Sequence[Test], runner: WorkspaceRunner
    ) -> TrialStates:
        states = TrialStates([variant.llm for variant in variants], tests, 1)
        states.note_all(self._config.store.results(), runner.fingerprints)
        return states

    def _listen(self, event: RunEvent) -> None:
        if isinstance(event, RunStarted):
            record = {"run_id": event.run_id, "variants": list(event.n_by_llm)}
            self._tools.file.append("rung", record)
        elif isinstance(event, TrialFinished):
            self._tools.budget.count_calls(count_calls(event.result))
        elif isinstance(event, LLMUnavailable):
            self._unavailable[event.llm_id] = event.failure.message
        self._tell(event)

    def _take_results(
        self, variants: Sequence[Variant], tests: Sequence[Test], runner: WorkspaceRunner
    ) -> None:
        """Use stored results of the current prompts and parameters."""
        states = self._states(variants, tests, runner)
        for result in self._config.store.results():
            state = states.find_state(result)
            if state is not None and (state is TrialState.DONE) == (result.failure is None):
                self._found.setdefault(result.llm_id, {})[result.test_id] = result

    def _stop_if_over(self, variants: Sequence[Variant], tests: Sequence[Test]) -> None:
        if self._tools.budget.is_reached:
            raise CostLimitError(str(self._tools.budget))
        if self._tools.control.cancelled():
            raise RunCancelledError("")
        ids = {test.test_id for test in tests}
        if ids and not any(ids & self.scores(variant.id).keys() for variant in variants):
            why = next(iter(self._unavailable.values()), "nothing was scored")
            raise SearchStoppedError(StopReason.LLM_FAILED, why)

    def _make_workspace(self, variants: Sequence[Variant]) -> Workspace:
        workspace = self._config.workspace
        by_id = {**workspace.llms_by_id, **{variant.id: variant.llm for variant in variants}}
        return replace(workspace, llms=tuple(by_id.values()), llms_by_id=by_id)
