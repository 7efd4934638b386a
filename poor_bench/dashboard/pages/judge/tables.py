"""Scores, cases and runs of judged agents, and agreement with people, as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from dash.development.base_component import Component

from poor_bench.dashboard.components.sheets import SheetColumn, SheetTable, head_limits
from poor_bench.dashboard.components.tables import number, quiet
from poor_bench.dashboard.pages.judge.layout import LINKS, JudgeUrl
from poor_bench.dashboard.text.formatting import dollars_text
from poor_bench.judge.agreement import Agreement, CorrectedScore
from poor_bench.judge.judged_run import CaseSummary, RunSummary
from poor_bench.judge.panel import JudgeSpread
from poor_bench.judge.report_text import (
    estimate_text,
    list_biases,
    spread_text,
    trust_text,
    write_change,
    write_replaced,
    write_verdict,
)
from poor_bench.judge.run_comparison import JudgedChange, RunComparison
from poor_bench.statistics.intervals import Estimate

R = TypeVar("R")
NO_CHOICE = JudgeUrl()


class DimensionScore(NamedTuple):
    """The score of one dimension in a run, and each judge's part of it."""

    name: str
    weight: float
    score: float
    spreads: Sequence[JudgeSpread | None]

    @property
    def n(self) -> int:
        """Judgements that it is over."""
        return sum(spread.n for spread in self.spreads if spread is not None)


def list_dimensions(summary: RunSummary) -> list[DimensionScore]:
    """List the scores of a run by dimension."""
    weights, voters = summary.run.header.weights, summary.panel.voters
    return [
        DimensionScore(
            name, weights.get(name, 0.0), score, [each.dimensions.get(name) for each in voters]
        )
        for name, score in summary.panel.scores.items()
    ]


def define_dimensions(summary: RunSummary) -> SheetTable[DimensionScore]:
    """Define the table of the dimensions of a run."""
    judges = [_judge_column(place, voter.judge) for place, voter in enumerate(summary.panel.voters)]
    return SheetTable(
        name="dimensions",
        label="Dimensions",
        columns=[
            SheetColumn(field="dimension", heading="Dimension",
                        value=lambda each: each.name.replace("_", " ")),
            SheetColumn(field="weight", heading="Weight", value=lambda each: each.weight,
                        cell=lambda each: number(f"{each.weight:g} %"), file_heading="Weight (%)"),
            SheetColumn(field="score", heading="Score", value=lambda each: each.score,
                        cell=lambda each: number(f"{each.score:.2f}", n=each.n),
                        hint="n: judgements",
                        further=[("Judgements", lambda each: each.n)]),
            *judges,
        ],
    )  # fmt: skip


def _judge_column(place: int, judge: str) -> SheetColumn[DimensionScore]:
    def read(each: DimensionScore) -> JudgeSpread | None:
        return each.spreads[place]

    def draw(each: DimensionScore) -> Component:
        spread = read(each)
        return quiet("n/a") if spread is None else number(_write_spread(spread), n=spread.n)

    return SheetColumn(
        field=f"judge-{place + 1}", heading=judge, cell=draw,
        value=lambda each: spread.mean if (spread := read(each)) else None,
    )  # fmt: skip


def _write_spread(spread: JudgeSpread) -> str:
    repeats = spread_text(spread)
    return f"{spread.mean:.2f} ({repeats})" if repeats else f"{spread.mean:.2f}"


def define_changes(comparison: RunComparison) -> SheetTable[JudgedChange]:
    """Define the table of the differences of two runs."""

    def is_said(change: JudgedChange) -> str:
        return write_change(comparison, change)

    return SheetTable(
        name="changes",
        label="Changes",
        columns=[
            SheetColumn(field="what", heading="What",
                        value=lambda each: each.name.replace("_", " ")),
            _points("before", "Before", lambda each: each.before),
            _points("after", "After", lambda each: each.after),
            _points("change", "Change", lambda each: each.difference, "+.2f"),
            _points("noise", "Noise", lambda each: each.floor,
                    hint="largest by chance"),
            SheetColumn(field="meaning", heading="Meaning", value=is_said),
        ],
    )  # fmt: skip


def define_cases(url: JudgeUrl = NO_CHOICE, run_id: str = "") -> SheetTable[CaseSummary]:
    """Define the table of the cases of a run, with links to their conversations."""

    def link(case: CaseSummary) -> Component:
        case_id = case.conversation.case_id
        return LINKS.link(case_id, url.change(run=run_id, case=case_id).search)

    def score(case: CaseSummary) -> Component:
        if case.score is None:
            return quiet("Not judged")
        return number(f"{case.score:.2f}", n=len(case.feedback))

    return SheetTable(
        name="cases",
        label="Cases",
        columns=[
            SheetColumn(field="case", heading="Case",
                        value=lambda case: case.conversation.case_id, cell=link),
            SheetColumn(field="score", heading="Score", value=lambda case: case.score, cell=score,
                        hint="n: judgements"),
            SheetColumn(field="passed", heading="Passed",
                        value=lambda case: case.n_passed if case.feedback else None,
                        cell=lambda case: number(_write_passed(case)),
                        file_heading="Passed",
                        further=[("Judgements", lambda case: len(case.feedback))]),
            SheetColumn(field="rules", heading="Rules", value=_write_rules),
            SheetColumn(field="feedback", heading="Feedback",
                        value=lambda case: " | ".join(item.text for item in case.feedback),
                        cell=lambda case: quiet(_write_first(case), "judge-why"),
                        further=[("Failure", _read_failure)]),
        ],
    )  # fmt: skip


def _write_passed(case: CaseSummary) -> str:
    return f"{case.n_passed} of {len(case.feedback)}" if case.feedback else "n/a"


def _write_rules(case: CaseSummary) -> str:
    return {True: "met", False: "broken", None: "none"}[case.conversation.passed]


def _read_failure(case: CaseSummary) -> str:
    failure = case.conversation.failure
    return failure.message if failure else ""


def _write_first(case: CaseSummary) -> str:
    return _read_failure(case) or next((item.text for item in case.feedback), "")


def define_runs(url: JudgeUrl = NO_CHOICE, open_run: str = "") -> SheetTable[RunSummary]:
    """Define the table of the runs, with links to open and to compare them."""

    def look(summary: RunSummary) -> Component:
        header, run_id = summary.run.header, summary.run.run_id
        search = url.change(agent=header.agent_id, run=run_id, base="").search
        return LINKS.link(header.started[:16].replace("T", " "), search, title=run_id)

    def compare(summary: RunSummary) -> Component | None:
        run_id = summary.run.run_id
        is_base = run_id == url.base
        search = url.change(run=open_run, base="" if is_base else run_id).search
        text = "clear baseline" if is_base else "set as baseline"
        return None if run_id == open_run else LINKS.link(text, search)

    return SheetTable(
        name="runs",
        label="Runs",
        kept=[("Run ID", lambda each: each.run.run_id)],
        columns=[
            SheetColumn(field="run", heading="Run", value=lambda each: each.run.header.started,
                        cell=look, file_heading="Started"),
            SheetColumn(field="agent", heading="Agent",
                        value=lambda each: each.run.header.agent,
                        further=[("Agent ID", lambda each: each.run.header.agent_id)]),
            SheetColumn(field="model", heading="Model", value=lambda each: each.run.header.llm_id),
            SheetColumn(field="judges", heading="Judges",
                        value=lambda each: ", ".join(each.run.header.judges)),
            SheetColumn(field="score", heading="Score",
                        value=lambda each: each.panel.overall_score, cell=_draw_overall,
                        hint="n: judgements",
                        further=[("Judgements", lambda each: len(each.run.usable_judgements)),
                                 ("Threshold", lambda each: each.panel.threshold)]),
            _points("noise", "Noise", lambda each: each.noise, is_hidden=True),
            SheetColumn(field="cost", heading="Cost", value=lambda each: each.run.cost_usd,
                        cell=lambda each: number(dollars_text(each.run.cost_usd)),
                        file_heading="Cost (US$)", is_hidden=True),
            SheetColumn(field="verdict", heading="Verdict", value=write_verdict,
                        cell=lambda each: write_verdict(each).partition(":")[0]),
            SheetColumn(field="compare", heading="Compare", value=lambda _: None, cell=compare,
                        is_on_screen_only=True),
        ],
    )  # fmt: skip


def _draw_overall(summary: RunSummary) -> Component:
    score = summary.panel.overall_score
    if score is None:
        return quiet("n/a")
    return number(f"{score:.2f}", n=len(summary.run.usable_judgements))


Judge = tuple[str, Agreement]


def _estimate(
    field: str, heading: str, read: Callable[[R], Estimate | None], hint: str = ""
) -> SheetColumn[R]:
    """Define a column of an estimate with its confidence interval."""

    def part(name: str) -> Callable[[R], float | None]:
        return lambda line: None if (found := read(line)) is None else getattr(found, name)

    def draw(line: R) -> Component:
        found = read(line)
        return quiet("n/a") if found is None else number(estimate_text(found), n=found.n_all)

    return SheetColumn(
        field=field, heading=heading, value=part("value"), cell=draw, hint=hint,
        further=list(zip(head_limits(heading), (part("low"), part("high")), strict=True)),
    )  # fmt: skip


def _points(
    field: str,
    heading: str,
    read: Callable[[R], float | None],
    form: str = ".2f",
    *,
    hint: str = "",
    is_hidden: bool = False,
    further: Sequence[tuple[str, Callable[[R], object]]] = (),
) -> SheetColumn[R]:
    """Define a column of points."""

    def draw(line: R) -> Component:
        value = read(line)
        return quiet("n/a") if value is None else number(format(value, form))

    return SheetColumn(
        field=field, heading=heading, value=read, cell=draw, hint=hint, is_hidden=is_hidden,
        further=further,
    )  # fmt: skip


def _read_rate(agreement: Agreement) -> float | None:
    test = agreement.annotator_test
    return None if test is None else test.winning_rate


def _count_people(agreement: Agreement) -> int | None:
    test = agreement.annotator_test
    return None if test is None else test.n_people


TRUST: SheetTable[Judge] = SheetTable(
    name="agreement",
    label="Agreement with people",
    columns=[
        SheetColumn(field="judge", heading="Judge", value=lambda each: each[0]),
        SheetColumn(field="labelled", heading="Labelled", value=lambda each: each[1].n,
                    cell=lambda each: number(f"{each[1].n:,}"),
                    further=[("People", lambda each: each[1].n_people)]),
        _estimate("people", "Agrees with people", lambda each: each[1].with_people),
        _estimate("among", "People among themselves", lambda each: each[1].among_people),
        SheetColumn(field="replace", heading="May replace", value=lambda each: _read_rate(each[1]),
                    cell=lambda each: write_replaced(each[1]),
                    further=[("May replace (people)", lambda each: _count_people(each[1]))]),
        _points("weighted", "Weighted kappa", lambda each: each[1].weighted_kappa),
        _points("alpha", "Alpha of people", lambda each: each[1].human_alpha,
                further=[("Alpha with judge", lambda each: each[1].alpha)]),
        _points("kappa", "Cohen's kappa", lambda each: each[1].kappa),
        _estimate("spearman", "Spearman", lambda each: each[1].spearman),
        _estimate("pearson", "Pearson", lambda each: each[1].pearson),
        _estimate("bias", "Judge minus people", lambda each: each[1].bias),
        _estimate("length", "Points per doubled length", lambda each: each[1].length_bias),
        SheetColumn(field="meaning", heading="Meaning",
                    value=lambda each: "; ".join((trust_text(each[1]), *list_biases(each[1])))),
    ],
)  # fmt: skip
"""One row for each judge."""
CORRECTED: SheetTable[CorrectedScore] = SheetTable(
    name="corrected",
    label="Corrected scores",
    columns=[
        SheetColumn(field="judge", heading="Judge", value=lambda each: each.judge),
        SheetColumn(field="agent", heading="Agent", value=lambda each: each.agent_id),
        SheetColumn(field="model", heading="Model", value=lambda each: each.llm_id),
        SheetColumn(field="labelled", heading="Labelled", value=lambda each: each.n_labelled,
                    cell=lambda each: number(f"{each.n_labelled} of {each.n_judged}"),
                    further=[("Judged", lambda each: each.n_judged)]),
        SheetColumn(field="mean", heading="Mean score", value=lambda each: each.judge_mean,
                    cell=lambda each: number(f"{each.judge_mean:.2f}", n=each.n_judged)),
        _estimate("corrected", "Corrected", lambda each: each.corrected),
    ],
)  # fmt: skip
