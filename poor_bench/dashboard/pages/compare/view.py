"""One state of the page: the chosen subjects, and what it shows of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from dash import html
from dash.development.base_component import Component

from poor_bench.comparison.result_set import (
    ComparedSubject,
    SubjectKind,
    hash_parameters,
    write_parameters,
)
from poor_bench.dashboard.components.badges import llm_mark
from poor_bench.dashboard.components.controls import chip_row
from poor_bench.dashboard.components.sheets import SheetTable
from poor_bench.dashboard.components.texts import build_folded
from poor_bench.dashboard.pages.compare.charts import build_charts, class_map, list_shown_classes
from poor_bench.dashboard.pages.compare.layout import (
    LINKS,
    CompareUrl,
    alike_chips,
    filter_chips,
    sort_chips,
)
from poor_bench.dashboard.pages.compare.open_test import find_rated, panel
from poor_bench.dashboard.pages.compare.strip import StripLine
from poor_bench.dashboard.pages.compare.tests import build_test_list, choose_page_size, define_tests
from poor_bench.dashboard.services.compare_service import against_base
from poor_bench.dashboard.services.compared import (
    LLMLine,
    TestAnswers,
    list_line_notes,
    read_compared_tests,
)
from poor_bench.dashboard.services.computations import Computed
from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.services.stored_results import NOTED_TEXTS
from poor_bench.messages import write_count
from poor_bench.metrics.trust import NOT_RUN, TrustNote, list_model_notes, list_trust_notes
from poor_bench.results.grid import Facet, TrialGrid
from poor_bench.results.grid_lines import order_lines
from poor_bench.statistics.comparison import Comparison, name_tie_groups
from poor_bench.statistics.ranking import Coverage
from poor_bench.statistics.summary import GroupBy, Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray

_READ_AT_ONCE = 500
"""Tests whose answers are read at once for a file."""


class CompareView:
    """One state of the page over one state of the results."""

    def __init__(self, services: Services, url: CompareUrl) -> None:
        self._results = services.results
        self._llm_name = services.llms.name
        self._compare = services.compare
        self._tests = services.files.workspace().tests_by_id
        self.url = url
        self.columns = url.columns(services.compare.best_first())
        self._names: dict[str, str] = {}

    def name(self, name: str) -> str:
        """Name a subject for screens."""
        if name not in self._names:
            subject = ComparedSubject.parse(name)
            version = self._compare.subjects.describe_version(subject)
            self._names[name] = subject.label(self._llm_name(subject.llm_id), version)
        return self._names[name]

    def _name_beside_others(self, name: str) -> str:
        """Name a subject where its end would be cut: without a model that all subjects share."""
        subjects = [ComparedSubject.parse(each) for each in self.columns]
        if len({each.llm_id for each in subjects}) > 1:
            return self.name(name)
        return self.name(name).removeprefix(f"{self._llm_name(subjects[0].llm_id)}, ")

    def subjects(self) -> list[Component]:
        """Build the chosen subjects and what can be added to them."""
        llm_ids = dict.fromkeys(ComparedSubject.parse(name).llm_id for name in self.columns)
        picks = [self._find_picks(llm_id) for llm_id in llm_ids]
        return build_subjects(self.columns, picks, self.name, self.url)

    def _find_picks(self, llm_id: str) -> QuickPicks:
        known = self._compare.subjects
        is_asked = self.url.prompts_of == llm_id
        return QuickPicks(
            llm_id=llm_id,
            run_ids=[run.run_id for run in known.runs(llm_id)],
            parameter_sets=list(known.parameter_sets(llm_id).values()),
            prompts=known.prompt_versions(llm_id) if is_asked else None,
        )

    def strip_lines(self, comparison: Comparison | None) -> list[StripLine]:
        """Build the lines of the LLMs; `comparison` is None while it is computed."""
        names = self.name
        summaries = self._compare.summaries(self.columns)
        against = against_base(comparison, self.columns[0]) if comparison else {}
        letters = name_tie_groups(comparison.groups) if comparison and self.columns[1:] else {}
        coverage = self._results.ranking().coverage
        changes = self._compare.changes(self.columns).value or {}
        return [
            StripLine(
                llm_id=llm_id,
                name=names(llm_id),
                number=number,
                summary=summaries.get(llm_id),
                against=against.get(llm_id),
                letters=letters.get(llm_id, ""),
                changed=changes.get(llm_id, ()),
                notes=_list_notes(summaries.get(llm_id), coverage.get(llm_id)),
            )
            for number, llm_id in enumerate(self.columns)
        ]

    def comparison(self) -> Computed[Comparison]:
        """Compare all pairs of the chosen subjects, as far as that is computed by now."""
        return self._compare.comparison(self.columns, is_alike=self.url.alike)

    def classes(self) -> Component:
        """Build the scores by class; their links leave page and open test."""
        names = [self.name(llm_id) for llm_id in self.columns]
        scores = self._compare.class_scores(self._grid())
        places = {name: place for place, name in enumerate(self.columns)}
        rows = self._compare.list_rows(self.columns, GroupBy.LLM_CLASS)
        askable = {row.group.llm_id for row in rows if row.n_pending is not None}
        notes: dict[tuple[int, str], Sequence[TrustNote]] = {
            (places[llm_id], class_id): (NOT_RUN,) for llm_id in askable for class_id in scores
        }
        for row in rows:
            notes[places[row.group.llm_id], row.group.class_id or ""] = list_trust_notes(row)
        return class_map(scores, names, self.url.class_head, notes)

    def filters(self) -> tuple[Component, list[Component]]:
        """Build the charts that filter the tests, and the switches above the tests.

        They show tests by value, of each facet under what is chosen of the others.
        """
        grid = self._grid()
        lines = self._compare.lines(grid, self.url.text)
        counts = self._compare.facets(grid).count(lines, self.url.chosen)
        alike = alike_chips(self._compare.likeness(self.columns), self.url)
        rows = filter_chips(counts[Facet.SHOW], self.url)
        chips = [*([alike] if alike else []), *rows, sort_chips(self.columns, self.name, self.url)]
        return build_charts(counts, self.url), chips

    def tests(self) -> Component:
        """Build one page of the tests."""
        lines, size = self.lines(), choose_page_size(len(self.columns))
        start = (self.url.page - 1) * size
        rows = self._read(lines[start : start + size], ("response", *NOTED_TEXTS))
        notes_of, table = self._read_notes(), self.define_tests()
        return build_test_list(
            rows, self._name_beside_others, self.url, len(lines), notes_of, table
        )

    def _read_notes(self) -> Callable[[LLMLine], Sequence[TrustNote]]:
        """Find out what lessens the trust in the score of a model on a test."""
        return partial(list_line_notes, find_reason=self._results.check_stale().find_reason)

    def panel(self) -> tuple[list[Component] | None, list[Any] | None]:
        """Build the test that is open, and its answer to be rated; None where there is none."""
        grid, test_id = self._grid(), self.url.test
        if test_id not in grid.test_ids:
            return None, None
        line = grid.test_ids.index(test_id)
        [row] = self._read([line])
        neighbours = self._neighbours(grid, line)
        rated = (find_rated(each) for each in row.lines if each.llm_id == self.url.rated)
        drawn = panel(
            row, self._compare.details, self.name, self.url, neighbours, self._read_notes()
        )
        return drawn, next(rated, None)

    def _read(
        self, lines: Sequence[int] | NDArray[np.int64], texts: Sequence[str] | None = None
    ) -> list[TestAnswers]:
        grid = self._grid()
        is_unlike = self._compare.alike(grid) < 0
        return read_compared_tests(grid, lines, self._tests, is_unlike, texts)

    def define_tests(self) -> SheetTable[TestAnswers]:
        """Define the columns of the tests."""
        return define_tests([self.name(name) for name in self.columns])

    def all_tests(self) -> Iterator[list[TestAnswers]]:
        """Yield all tests that the filters find, in their order, some at a time."""
        lines = self.lines()
        for start in range(0, len(lines), _READ_AT_ONCE):
            yield self._read(lines[start : start + _READ_AT_ONCE])

    def class_rows(self) -> list[dict[str, Any]]:
        """Build one row for each shown class and LLM."""
        rows, of_classes = [], self._compare.class_scores(self._grid())
        for class_id in list_shown_classes(of_classes, self.url):
            for llm_id, of_class in zip(self.columns, of_classes[class_id], strict=True):
                row: dict[str, Any] = {"class_id": class_id, "llm_id": llm_id}
                row |= {"model": self.name(llm_id), "score": of_class.score, "n": of_class.n}
                seen = of_class.against_base
                if seen is not None:
                    row |= {"difference": seen.value, "low": seen.low, "high": seen.high}
                    row["common"] = seen.n_all
                rows.append(row)
        return rows

    def lines(self) -> NDArray[np.int64]:
        """Find the lines of the grid that are listed, in their order."""
        grid = self._grid()
        found = self._compare.lines(grid, self.url.text)
        shown = self._compare.facets(grid).keep(found, self.url.chosen)
        return order_lines(grid, shown, self._tests, self.url.order, self.url.order_of)

    def _grid(self) -> TrialGrid:
        return self._compare.grid(self.columns, is_alike=self.url.alike)

    def _neighbours(self, grid: TrialGrid, line: int) -> tuple[str, str]:
        listed: Sequence[int] = self.lines().tolist()
        if line not in listed:
            return "", ""
        place = listed.index(line)
        before = grid.test_ids[listed[place - 1]] if place else ""
        after = grid.test_ids[listed[place + 1]] if place + 1 < len(listed) else ""
        return before, after


def open_view(services: Services, search: str | None) -> CompareView:
    """Open the state of the page that an address describes."""
    return CompareView(services, CompareUrl.read(search))


_LAST_RUNS = 5
_FEW = 3
"""Models from which on the quick picks are folded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickPicks:
    """What can be added of one model."""

    llm_id: str
    run_ids: Sequence[str]
    """The newest first."""
    parameter_sets: Sequence[Mapping[str, Any]]
    prompts: Mapping[str, Sequence[str]] | None
    """Class to the versions of its prompt; None until the reader asks for them."""


def build_subjects(
    columns: Sequence[str],
    picks: Sequence[QuickPicks],
    name_of: Callable[[str], str],
    url: CompareUrl,
) -> list[Component]:
    """Build a chip for each subject, and a row of quick picks for each of their models.

    Args:
        columns: The subjects, the baseline first.
        picks: Of each model.
        name_of: Returns what screens call a subject.
        url: State of the page.
    """
    chips = [
        LINKS.link(
            [llm_mark(number), name_of(name), html.Span("✕", className="chip-remove")],
            url.remove(name, columns).search,
            label=f"Remove {name_of(name)}",
            className="chip is-active",
        )
        for number, name in enumerate(columns)
    ]
    rows = [
        chip_row(name_of(each.llm_id), links)
        for each in picks
        if (links := list(_build_picks(each, columns, url)))
    ]
    is_open = len(picks) < _FEW or bool(url.prompts_of)
    return [chip_row("Compared", chips), build_folded("Quick picks", *rows, is_open=is_open)]


def _build_picks(picks: QuickPicks, columns: Sequence[str], url: CompareUrl) -> Iterator[Component]:
    def add(text: str, kind: SubjectKind, versions: Sequence[str], title: str = "") -> Component:
        of_llm = (
            ComparedSubject(llm_id=picks.llm_id, kind=kind, version=each) for each in versions
        )
        search = url.add([each.text for each in of_llm], columns).search
        return LINKS.chip(text, search, is_active=False, title=title)

    run_ids = picks.run_ids[:_LAST_RUNS]
    if len(run_ids) > 1:
        yield add(f"Last {len(run_ids)} runs", SubjectKind.RUN, run_ids)
    if len(picks.parameter_sets) > 1:
        hashes = [hash_parameters(each) for each in picks.parameter_sets]
        told = "; ".join(map(write_parameters, picks.parameter_sets))
        yield add(write_count(len(hashes), "parameter set"), SubjectKind.PARAMETERS, hashes, told)
    if picks.prompts is None:
        search = url.change(prompts_of=picks.llm_id).search
        yield LINKS.chip("Prompt versions ...", search, is_active=False)
        return
    for class_id, versions in picks.prompts.items():
        if len(versions) < 2:
            continue
        count = write_count(len(versions), "prompt version")
        yield add(f"{class_id.replace('_', ' ')}: {count}", SubjectKind.PROMPT, versions)
    if all(len(versions) < 2 for versions in picks.prompts.values()):
        yield html.Span("No other versions", className="quiet")


def _list_notes(row: Summary | None, coverage: Coverage | None) -> tuple[TrustNote, ...]:
    """List the notes of a subject; `coverage` is None for a part of a model: it has no rank."""
    if row is None:
        return ()
    return list_trust_notes(row) if coverage is None else list_model_notes(row, coverage)
