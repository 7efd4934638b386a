"""Labels as CSV: a sheet to fill in, and back; pure.

A row stands for a case, or for a dimension of the agent as a whole where `case_id` is empty. Rows
without a score are passed over, so that a sheet may be filled in bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from poor_bench.errors import ConfigError
from poor_bench.judge.corrected import NextAnswer
from poor_bench.judge.judged_run import JudgeRun
from poor_bench.judge.labels import label_on, run_hash
from poor_bench.labels.label import OVERALL, Label, check_score, check_weight, current_labels
from poor_bench.messages import write_count
from poor_bench.models.problem import Problem
from poor_bench.reports.csv_table import cell_text, csv_reader, csv_text

_FIELDS = (
    "run_id", "case_id", "dimension", "score", "who", "note", "weight", "expected_behavior",
    "conversation",
)  # fmt: skip
_NEEDED = ("run_id", "score")

FindRun = Callable[[str], JudgeRun]
"""Returns a run by its id; raises ConfigError where there is none."""


def labels_to_csv(runs: Iterable[JudgeRun], labels: Iterable[Label]) -> str:
    """Build a sheet: one row per label, and empty rows for items without one.

    The judges' scores are not in it, so that they do not sway the people.

    Args:
        runs: What can be labelled.
        labels: All labels, in the order in which they were given.
    """
    known: dict[tuple[str, str], list[Label]] = {}
    for label in current_labels(labels):
        known.setdefault((label.about, label.dimension), []).append(label)
    rows = (filled for run in runs for filled in _fill_rows(run, known))
    return csv_text([(name, name) for name in _FIELDS], rows)


def next_to_csv(chosen: Iterable[NextAnswer], find_run: FindRun) -> str:
    """Build a sheet of the answers to label next, without scores.

    Args:
        chosen: The answers.
        find_run: As for `labels_from_csv`.
    """
    rows = (
        {**row, "weight": round(item.weight, 6)}
        for item in chosen
        for about, row in _rows(find_run(item.answer.run_id))
        if about == item.answer.about and row["case_id"] == item.answer.case_id
    )
    return csv_text([(name, name) for name in _FIELDS], rows)


def _fill_rows(
    run: JudgeRun, known: Mapping[tuple[str, str], list[Label]]
) -> Iterator[dict[str, Any]]:
    for about, row in _rows(run):
        given = known.get((about, row["dimension"]), [])
        filled = [
            {"score": item.score, "who": item.who, "note": item.note, "weight": item.weight}
            for item in given
        ]
        for columns in filled or [{}]:
            yield {**row, **columns}


def _rows(run: JudgeRun) -> Iterator[tuple[str, dict[str, str]]]:
    for talk in run.conversations:
        said = "\n".join(f"{turn.speaker.upper()}: {turn.text}" for turn in talk.turns)
        yield (
            talk.hash,
            {
                "run_id": run.run_id,
                "case_id": talk.case_id,
                "dimension": OVERALL,
                "expected_behavior": talk.expected_behavior,
                "conversation": said,
            },
        )
    for dimension in (OVERALL, *run.header.weights):
        yield run_hash(run), {"run_id": run.run_id, "case_id": "", "dimension": dimension}


def labels_from_csv(
    text: str, find_run: FindRun, *, file: str, who: str, when: str
) -> tuple[Label, ...]:
    """Read the labels of a sheet.

    Args:
        text: The sheet; the columns `run_id` and `score` are needed, `case_id`, `dimension`, `who`,
            `note` and `weight` are read where they stand.
        find_run: Returns the run that a row is about.
        file: What messages call the sheet.
        who: The person where a row names none.
        when: ISO 8601, UTC.

    Raises:
        ConfigError: With every problem and its line; then nothing is to be taken from the sheet.
    """
    reader = csv_reader(text)
    missing = [name for name in _NEEDED if name not in (reader.fieldnames or ())]
    if missing:
        raise ConfigError(f"{file}: the column {missing[0]} is missing")
    labels, problems = [], []
    for row in reader:
        if not (row.get("score") or "").strip():
            continue
        try:
            labels.append(_label(row, find_run, who, when))
        except (ValueError, ConfigError) as error:
            line = reader.line_num
            problems.append(Problem(file=file, place="", message=str(error), line=line))
    if problems:
        raise ConfigError(
            f"{write_count(len(problems), 'row')} of {file} not valid", problems=problems
        )
    return tuple(labels)


def _label(row: Mapping[str, str | None], find_run: FindRun, who: str, when: str) -> Label:
    def cell(name: str) -> str:
        return cell_text(row.get(name) or "")

    return label_on(
        find_run(cell("run_id").strip()),
        case_id=cell("case_id").strip(),
        dimension=cell("dimension").strip() or OVERALL,
        score=check_score(cell("score")),
        who=cell("who").strip() or who,
        when=when,
        note=cell("note"),
        weight=check_weight(cell("weight").strip()),
    )
