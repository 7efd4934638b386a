"""How far a score can be trusted, in a few words: the same on every screen and in every report."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from poor_bench.messages import write_count
from poor_bench.models.failure import FailureKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poor_bench.models.failure import Failure
    from poor_bench.statistics.ranking import Coverage
    from poor_bench.statistics.summary import StaleReason, Summary


class TrustKind(StrEnum):
    """What lessens the trust in a score."""

    COVERAGE = "coverage"
    STALE = "stale"
    PENDING = "pending"
    FAILED = "failed"
    JUDGE = "judge"


class TrustNote(NamedTuple):
    """One reason to trust a score less."""

    kind: TrustKind
    text: str
    """Label, such as `48 of 64 tests`."""
    meaning: str
    """One sentence for tooltips."""


def list_trust_notes(row: Summary) -> tuple[TrustNote, ...]:
    """List what lessens the trust in the figures of a row; empty where nothing does.

    What is not known gives no note.
    """
    return tuple(_list_notes(row))


def list_model_notes(row: Summary, coverage: Coverage) -> tuple[TrustNote, ...]:
    """List the notes of a row of a model; a note of coverage says what it does to the rank."""
    return tuple(
        note._replace(text=coverage.text) if note.kind is TrustKind.COVERAGE else note
        for note in _list_notes(row)
    )


def write_trust(row: Summary) -> str:
    """Write the notes of a row in one line; empty where there is none."""
    return ", ".join(note.text for note in list_trust_notes(row))


def write_missing(row: Summary, warning: str = "") -> str:
    """Write what a row lacks that no other column of a report counts; empty where nothing is.

    Args:
        row: Its scores.
        warning: Stands for the coverage of a row that spans all tests, see `ReportData.warning`.
    """
    kinds = {TrustKind.PENDING, TrustKind.JUDGE} | (set() if warning else {TrustKind.COVERAGE})
    notes = [note.text for note in _list_notes(row) if note.kind in kinds]
    return ", ".join([warning, *notes] if warning else notes)


def list_trial_notes(failure: Failure | None, reason: StaleReason | None) -> tuple[TrustNote, ...]:
    """List what lessens the trust in one trial.

    Args:
        failure: Why it has no score, if it has none.
        reason: What changed since it was scored, if anything did.
    """
    if failure is not None and failure.kind is FailureKind.JUDGE:
        meaning = "The response has no score: its judge has not answered."
        return (TrustNote(TrustKind.JUDGE, "judge pending", meaning),)
    if failure is not None:
        kind = failure.kind.value.replace("_", " ")
        return (TrustNote(TrustKind.FAILED, "failed", f"Failed to run, no score: {kind}."),)
    if reason is not None:
        return (TrustNote(TrustKind.STALE, "stale", f"Changed since: {reason.value}."),)
    return ()


NOT_RUN = TrustNote(TrustKind.PENDING, "pending", "This model has no result for this test yet.")
"""Note where a model has no trial of a test."""


def _list_notes(row: Summary) -> Iterator[TrustNote]:
    if row.n_all is not None and row.n_tests < row.n_all:
        text = f"{row.n_tests:,} of {write_count(row.n_all, 'test')}"
        meaning = f"Scored on {text} that any model was scored on."
        yield TrustNote(TrustKind.COVERAGE, text, meaning)
    if row.n_stale:
        meaning = f"{row.n_stale:,} of {write_count(row.n_scored, 'score')}. {_explain(row)}"
        yield TrustNote(TrustKind.STALE, f"{row.n_stale:,} stale", meaning)
    if row.n_pending:
        meaning = f"{write_count(row.n_pending, 'test')} without a result of this model."
        yield TrustNote(TrustKind.PENDING, f"{row.n_pending:,} pending", meaning)
    if n_failed := row.n_failed - row.n_unjudged:
        kinds = ", ".join(
            f"{kind.value.replace('_', ' ')} {n:,}"
            for kind, n in row.failures.items()
            if kind is not FailureKind.JUDGE
        )
        meaning = f"{write_count(n_failed, 'trial')} failed to run, without a score: {kinds}."
        yield TrustNote(TrustKind.FAILED, f"{n_failed:,} failed", meaning)
    if row.n_unjudged:
        n = write_count(row.n_unjudged, "response")
        meaning = f"{n} without a score: the judge has not answered."
        yield TrustNote(TrustKind.JUDGE, f"{row.n_unjudged:,} judge pending", meaning)


def _explain(row: Summary) -> str:
    reasons = row.stale_reasons.items()
    changed = ", ".join(f"{reason.value} ({n:,})" for reason, n in reasons)
    return f"Changed since: {changed}." if changed else ""
