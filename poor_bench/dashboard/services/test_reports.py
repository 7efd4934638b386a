"""What is known about the tests themselves: faults in their files, and what the results tell."""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from poor_bench.config.load import Workspace
from poor_bench.dashboard.services.computations import (
    Computations,
    Computed,
    Requests,
    wait_for_value,
)
from poor_bench.dashboard.services.stored_results import StoredResults
from poor_bench.dashboard.services.test_findings import (
    FindingGroup,
    TestFinding,
    group_test_findings,
    list_test_findings,
)
from poor_bench.dashboard.services.workspace_watch import WorkspaceWatch
from poor_bench.lint.cheats import CheatScore, build_floor, read_measuring_time
from poor_bench.models.problem import Problem
from poor_bench.models.test import Test
from poor_bench.prompts import build_messages
from poor_bench.results.paths import StorePaths
from poor_bench.results.stored_texts import read_item_analysis
from poor_bench.results.table import ResultTable
from poor_bench.statistics.item_response import ItemResponse
from poor_bench.statistics.items import Item, LevelOrder
from poor_bench.statistics.summary import FloorRow

if TYPE_CHECKING:
    from poor_bench.workspace_folder import WorkspaceFolder


_PLACE = re.compile(r"^(tests|test_classes)\[(\d+)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFaults:
    """What is wrong with tests and classes, as their files show it."""

    by_test: Mapping[str, tuple[Problem, ...]]
    by_class: Mapping[str, tuple[Problem, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemReport:
    """What the results of all LLMs say about the tests."""

    items: Mapping[str, Item]
    """By test id."""
    orders: Mapping[str, LevelOrder]
    """By class id."""
    response: ItemResponse | None
    """None while there are too few models, see `fit_item_response`."""
    n_models: int
    """Different models with results."""
    version: str
    """Another text for each state of results and files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFindings:
    """What is wrong with tests, by their files and by results."""

    by_test: Mapping[str, tuple[TestFinding, ...]]
    groups: tuple[FindingGroup, ...]
    """Worst first."""
    is_whole: bool
    """False until both were looked at for the first time: more may be found."""


class TestReports:
    """Keeps both for the newest state of the files; shared by all browsers."""

    def __init__(self, files: WorkspaceWatch, results: StoredResults, requests: Requests) -> None:
        self._files = files
        self._requests = requests
        self._stored = results
        self._faults: Computations[FoundFaults] = Computations(requests=requests)
        self._items: Computations[ItemReport] = Computations(requests=requests)
        self._lock = threading.Lock()
        self._findings: tuple[tuple[object, ...], FoundFindings] | None = None
        self._cheats: Computations[Sequence[CheatScore]] = Computations()

    def faults(self) -> Computed[FoundFaults]:
        """Describe what is wrong with the tests, as far as it is known by now.

        Raises:
            ConfigError: If the workspace is not valid.
        """
        config, workspace = self._files.config(), self._files.workspace()
        version = (workspace.version, read_measuring_time(config.data_dir))
        return self._faults.ask("faults", version, lambda: _find_faults(config, workspace))

    def floor(self) -> list[FloorRow]:
        """List the scores of answers that need no model, best first; empty if not known.

        Raises:
            ConfigError: If the workspace is not valid.
        """
        config, workspace = self._files.config(), self._files.workspace()
        measured = read_measuring_time(config.data_dir)
        if measured is None:
            return []
        scores = self._cheats.ask("cheats", (workspace.version, measured), config.load_cheats).value
        return build_floor(scores or (), workspace.tests_by_id)

    def items(self) -> Computed[ItemReport]:
        """Analyse the tests by their results, as far as that is computed by now.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        table, workspace = self._stored.table(), self._files.workspace()
        version = (table.version, workspace.version)
        paths = self._files.config().store.paths
        requests = self._requests
        return self._items.ask(
            "items",
            version,
            lambda: _analyse_items(paths, table, workspace, requests, repr(version)),
        )

    def findings(self) -> Computed[FoundFindings]:
        """List what is wrong with each test, as far as it is known by now.

        Raises:
            ConfigError: If the workspace is not valid.
            StoreError: If the results cannot be read.
        """
        faults, items = self.faults(), self.items()
        known = faults.value, items.value, self._files.workspace()
        is_current = faults.is_current and items.is_current
        with self._lock:
            if self._findings is None or any(
                old is not new for old, new in zip(self._findings[0], known, strict=True)
            ):
                self._findings = known, _collect_findings(*known)
            return Computed(value=self._findings[1], is_current=is_current)

    def wait_for_findings(self) -> None:
        """Wait for what is wrong with each test as well: some seconds with very many of them."""
        wait_for_value(self.faults)
        wait_for_value(self.items)


def _collect_findings(
    faults: FoundFaults | None, report: ItemReport | None, workspace: Workspace
) -> FoundFindings:
    problems = faults.by_test if faults else {}
    items = report.items if report else {}
    by_test = {
        test.test_id: found
        for test in workspace.tests
        if (found := tuple(list_test_findings(test.test_id, problems, items.get(test.test_id))))
    }
    return FoundFindings(
        by_test=by_test,
        groups=tuple(group_test_findings(by_test)),
        is_whole=faults is not None and report is not None,
    )


def _find_faults(config: WorkspaceFolder, workspace: Workspace) -> FoundFaults:
    by_test: defaultdict[str, list[Problem]] = defaultdict(list)
    by_class: defaultdict[str, list[Problem]] = defaultdict(list)
    class_ids = list(workspace.test_classes)
    for problem in config.list_problems():
        place = _PLACE.match(problem.place)
        if place is None:
            continue
        number = int(place[2])
        if place[1] == "tests":
            by_test[workspace.tests[number].test_id].append(problem)
        else:
            by_class[class_ids[number]].append(problem)
    return FoundFaults(
        by_test={name: tuple(found) for name, found in by_test.items()},
        by_class={name: tuple(found) for name, found in by_class.items()},
    )


def _analyse_items(
    paths: StorePaths, table: ResultTable, workspace: Workspace, requests: Requests, version: str
) -> ItemReport:
    with requests.turn:
        known = read_item_analysis(
            paths, table, workspace.tests_by_id, on_read=lambda _: requests.give_way()
        )
    return ItemReport(
        items={item.test_id: item for item in known.items},
        orders={order.class_id: order for order in known.orders},
        response=known.response,
        n_models=known.n_models,
        version=version,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptVariant:
    """One wording of a test."""

    system: str
    """The system prompt; empty where there is none."""
    user: str
    llm_ids: tuple[str, ...]
    """Who is asked so."""


def prompt_variants(workspace: Workspace, test: Test) -> list[PromptVariant]:
    """List the wordings of a test, the most common first."""
    test_class = workspace.test_classes[test.class_id]
    by_wording: dict[tuple[str, str], list[str]] = {}
    for llm in workspace.llms:
        *system, user = build_messages(llm, test_class, test)
        wording = "".join(message.content for message in system), user.content
        by_wording.setdefault(wording, []).append(llm.id)
    prompts = [
        PromptVariant(system=system_text, user=user_text, llm_ids=tuple(llm_ids))
        for (system_text, user_text), llm_ids in by_wording.items()
    ]
    return sorted(prompts, key=lambda prompt: -len(prompt.llm_ids))
