"""The chosen subjects as removable chips, and quick picks that add more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dash import html

from poor_bench.comparison.result_set import (
    ComparedSubject,
    SubjectKind,
    hash_parameters,
    write_parameters,
)
from poor_bench.dashboard.components.badges import llm_mark
from poor_bench.dashboard.components.controls import chip_row
from poor_bench.dashboard.components.texts import build_folded
from poor_bench.dashboard.pages.compare.layout import LINKS, CompareUrl
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from dash.development.base_component import Component

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
            title="Remove from the comparison",
        )
        for number, name in enumerate(columns)
    ]
    rows = [
        chip_row(f"Add from {name_of(each.llm_id)}", links)
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
        yield html.Span("Every class has one stored prompt version.", className="quiet")
