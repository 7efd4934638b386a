"""Run all detectors and group what they find by cause.

Each detector looks at each trial by itself once, and what it says is kept; then come the detectors
that need all trials. Their order decides which cause a lost score is charged to where several
apply: what kept the model from answering comes before the form of the answer, and that before the
plain wrong answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial
from hashlib import blake2b
from typing import NamedTuple

from poor_bench.issues.across_trials import ACROSS_TRIALS, PEOPLE
from poor_bench.issues.detector import (
    EXPLAINS,
    NO_FACTS,
    RANKS,
    SEPARATOR,
    Across,
    Among,
    Detector,
    Issue,
    IssueContext,
    IssueGroup,
    TestFacts,
    Trial,
    TrialTable,
    never,
)
from poor_bench.issues.form import FORM
from poor_bench.issues.found_issues import (
    Charges,
    FoundIssues,
    OfDetector,
    join_found,
    list_charges,
    read_issues,
)
from poor_bench.issues.responses import FAILED_RUNS, RESPONSES
from poor_bench.issues.wrong_answers import CODE, WRONG_ANSWERS, Wrong
from poor_bench.models.result import Result, keep_one_per_trial
from poor_bench.statistics.trials import (
    NO_COLUMNS,
    TextCodes,
    TextColumns,
    TextReader,
    collect_columns,
    order_codes,
)

READ_TEXTS = (
    "details", "response", "thinking", "prompt", "extracted", "expected", "got", "cause",
    "failure_message", "attempts",
)  # fmt: skip
"""Texts of results that built-in detectors read."""
READ_FIELDS = (
    "llm_id", "test_id", "trial", "run_id", "finish_reason", "marks", "found", "failure_kind",
    "score", "strict_score", "execution_time_ms", "load_ms", "prompt_tokens", "completion_tokens",
)  # fmt: skip
"""The other fields of results that they read."""


def collect_trials(
    results: Iterable[Result], facts: Mapping[str, TestFacts], detectors: Sequence[Detector] = ()
) -> TrialTable:
    """Look at each of some results; of a trial with a score, newer failures are left out."""
    known = keep_one_per_trial(results)
    return TrialTable(
        trials=collect_columns(known),
        texts=_look_at_each(known, facts, detectors),
        facts=facts,
        read=lambda entries: (known[entry] for entry in entries.tolist()),
    )


def build_reader(facts: Mapping[str, TestFacts], detectors: Sequence[Detector]) -> TextReader:
    """Build what looks at each stored result."""
    own = any(detector.version for detector in detectors)  # reads whatever it likes
    named = [(detector.id, detector.version) for detector in detectors]
    known = repr((named, sorted(facts.items()))).encode("utf-8", "surrogatepass")
    names = [detector.id for detector in detectors]
    return TextReader(
        name="findings",
        read=partial(_look_at_each, facts=facts, detectors=detectors)
        if own
        else partial(_look_with_built_in, facts=facts, names=names),
        texts=None if own else READ_TEXTS,
        fields=None if own else READ_FIELDS,
        version=blake2b(known, digest_size=16).hexdigest(),
        is_shared=not own,
    )


def _look_at_each(
    results: Iterable[Result], facts: Mapping[str, TestFacts], detectors: Sequence[Detector]
) -> TextColumns:
    import numpy as np

    steps = {kind: _list_steps(detectors, kind) for kind in Among}
    findings = TextCodes()
    rows: list[tuple[int, int, int, bool]] = []
    for result in results:
        trial = Trial(result, facts.get(result.test_id, NO_FACTS))
        kind = Among.FAILED if result.score is None else Among.ALL
        found = []
        for find, names in steps[Among.LOST if trial.is_lost else kind]:
            seen = find(trial)
            if seen is not None and (named := names.get(seen, names.get(_ANYTHING))):
                found.append(named.name + EXPLAINS if named.explains(trial) else named.name)
        code = findings[SEPARATOR.join(found)] if found else -1
        rows.append((code, _hash_answer(trial), _hash(result.response), _begins_with_value(result)))
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T.copy()
    return TextColumns(
        columns=dict(zip(("findings", "answer", "response", "begins"), columns, strict=True)),
        values={"findings": tuple(findings)},
    )


def _look_with_built_in(
    results: Iterable[Result], facts: Mapping[str, TestFacts], names: Sequence[str]
) -> TextColumns:
    """Look with detectors by their names: they themselves cannot be pickled."""
    known = {detector.id: detector for detector in DETECTORS}
    return _look_at_each(results, facts, [known[name] for name in names])


class _Named(NamedTuple):
    """What is noted where something was found."""

    name: str
    explains: Callable[[Trial], bool]


_Step = tuple[Callable[[Trial], str | None], dict[str, _Named]]
"""Looks at a trial; what it may find, or `_ANYTHING`, and how that is noted."""
_ANYTHING = ""


def _list_steps(detectors: Sequence[Detector], among: Among) -> list[_Step]:
    """List how trials are looked at: the kinds of one fault in one step."""
    steps: dict[object, _Step] = {}
    for detector in detectors:
        for name, check in detector.marks.items():
            steps[name] = check, {_ANYTHING: _Named(name, never)}
        named = _Named(detector.id, detector.explains_loss)
        if detector.check is None or detector.among not in {Among.ALL, among}:
            continue
        if detector.kind is None:
            steps[detector.id] = detector.check, {_ANYTHING: named}
        else:
            find, value = detector.kind
            steps.setdefault(find, (partial(_find_once, find), {}))[1][value] = named
    return [*steps.values()]


def _find_once(find: Callable[[Trial], StrEnum | None], trial: Trial) -> str | None:
    return trial.once(find)


def _hash_answer(trial: Trial) -> int:
    """Hash a wrong answer without spaces and case; 0 for an empty or a right one."""
    words = trial.answer.casefold().split() if trial.is_lost else ()
    return _hash("".join(words)) if words else 0


def _hash(text: str) -> int:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _begins_with_value(result: Result) -> bool:
    """True if the value comes first, followed by other text."""
    value, response = result.extracted.strip(), result.response.strip()
    return bool(value) and response.startswith(value) and len(response) > len(value)


_SPECIFIC: tuple[Detector, ...] = (*FAILED_RUNS, *RESPONSES, *FORM, *CODE, *ACROSS_TRIALS, *PEOPLE)
DETECTORS: tuple[Detector, ...] = (*_SPECIFIC, *WRONG_ANSWERS)


def order_detectors(own: Sequence[Detector]) -> tuple[Detector, ...]:
    """Add a workspace's own detectors to the built-in ones.

    They come before the plain wrong answer, so that a loss they explain is charged to them. One
    with the id of a built-in detector replaces it.
    """
    ids = {detector.id for detector in own}
    ordered = (*_SPECIFIC, *own, *WRONG_ANSWERS)
    return tuple(item for item in ordered if item.id not in ids or item in own)


_NO_BACKGROUND = IssueContext()


def detect_issues(
    results: Iterable[Result],
    context: IssueContext = _NO_BACKGROUND,
    *,
    detectors: Sequence[Detector] = DETECTORS,
) -> FoundIssues:
    """Find the issues of some results.

    Args:
        results: Scored and failed trials in any order; of a trial with a score, newer failures are
            left out.
        context: What is known beyond the results. More of it lets more detectors work.
        detectors: Which detectors to run; their order decides which of several causes a lost
            score is charged to.

    Returns:
        See `find_issues`.

    Example:
        >>> result = Result(llm_id="a", test_id="t", score=0.0, details="expected 4, got 5")
        >>> [(issue.detector_id, issue.lost_score) for issue in detect_issues([result])]
        [('no_answer', 1.0)]
    """
    return find_issues(collect_trials(results, context.facts, detectors), context, detectors)


def find_issues(
    table: TrialTable, context: IssueContext, detectors: Sequence[Detector]
) -> FoundIssues:
    """Find the issues of trials that each of some detectors has looked at.

    Args:
        table: The trials.
        context: As of `detect_issues`.
        detectors: The detectors.

    Returns:
        Issues in the order of the detectors, then of the trials. A trial may have several; its
        lost score is charged to the first of them that explains it.
    """
    firsts: list[int] = []
    blocks: list[list[OfDetector]] = [[] for _ in detectors]
    for first, block in table.split():
        firsts.append(first)
        for of_detector, each in zip(
            blocks, _find_in_block(block, context, detectors), strict=True
        ):
            of_detector.append(each)
    # Each detector's blocks go before the next one's are joined: together they fill memory.
    found = [join_found(firsts, blocks.pop(0)) for _ in detectors]
    return FoundIssues(replace(table, texts=NO_COLUMNS), found)


def _find_in_block(
    table: TrialTable, context: IssueContext, detectors: Sequence[Detector]
) -> list[OfDetector]:
    import numpy as np

    score = table.trials.columns["score"]
    uncharged = np.where(np.isnan(score), 0.0, 1.0 - score)
    found = []
    for detector in detectors:
        if detector.across is not None:
            found.append(_find_across(detector.id, detector.across, table, context))
            continue
        entries, explains = table.find(detector.id)
        if detector.id == Wrong.UNKNOWN:  # of what another detector explains, the cause is known
            is_left = uncharged[entries] > 0.0
            entries, explains = entries[is_left], explains[is_left]
        lost, tell = np.where(explains, uncharged[entries], 0.0), _tell_again(detector)
        uncharged[entries[explains]] = 0.0
        found.append(OfDetector(detector.id, entries.astype(np.int32), lost, None, tell))
    return found


def find_again(
    issues: FoundIssues,
    context: IssueContext,
    detectors: Sequence[Detector],
    ids: Collection[str],
) -> FoundIssues:
    """Let some detectors that look at all trials together look again, with another context.

    Args:
        issues: As `find_issues` returns them.
        context: As of `detect_issues`.
        detectors: The detectors that found them.
        ids: Which of them look again; they need no texts.
    """
    chosen = [(each.id, each.across) for each in detectors if each.id in ids]
    return issues.exchange(
        [_find_across(name, across, issues.table, context) for name, across in chosen if across]
    )


def _find_across(
    detector_id: str, across: Across, table: TrialTable, context: IssueContext
) -> OfDetector:
    import numpy as np

    entries, tell = across(table, context)
    order = np.argsort(entries, kind="stable")
    return OfDetector(detector_id, entries[order], np.zeros(len(entries)), order, tell)


def _tell_again(detector: Detector) -> Callable[[int, Trial], str]:
    def tell(_: int, trial: Trial) -> str:
        return (detector.check(trial) if detector.check else None) or ""

    return tell


def group_issues(
    issues: Sequence[Issue], *, n_examples: int = 3, detectors: Sequence[Detector] = DETECTORS
) -> list[IssueGroup]:
    """Group issues by detector, sorted by lost score.

    Args:
        issues: As `detect_issues` returns them, or a part of them.
        n_examples: How many examples each group keeps, at least 0.
        detectors: The detectors that found them.

    Returns:
        Groups by lost score, then by severity, then by number. Shares are of the score that was
        lost in `issues`.

    Raises:
        KeyError: If an issue comes from none of `detectors`.
    """
    llm_ids, charges = list_charges(issues)
    tallies = [_tally(each, llm_ids, n_examples) for each in charges]
    total = sum(tally.lost_score for tally in tallies)
    read = read_issues(issues, [place for tally in tallies for place in tally.examples])
    known = {detector.id: detector for detector in detectors}
    groups = [
        _group(known[tally.detector_id], tally, total, [read[place] for place in tally.examples])
        for tally in tallies
    ]
    return sorted(
        groups, key=lambda group: (-group.lost_score, RANKS[group.severity], -group.n_trials)
    )


class _Tally(NamedTuple):
    """What the issues of a detector come to."""

    detector_id: str
    n_by_llm: dict[str, int]
    """Most affected LLM first."""
    lost_score: float
    examples: Sequence[int]
    """Their places among all issues."""


def _tally(charges: Charges, llm_ids: Sequence[str], n_examples: int) -> _Tally:
    import numpy as np

    counts = np.bincount(charges.llms)
    most_first = sorted(order_codes(charges.llms), key=lambda code: -counts[code])
    return _Tally(
        charges.detector_id,
        {llm_ids[code]: int(counts[code]) for code in most_first},
        float(charges.lost.sum()),
        charges.choose_examples(n_examples),
    )


def _group(
    detector: Detector, tally: _Tally, total: float, examples: Sequence[Issue]
) -> IssueGroup:
    return IssueGroup(
        detector_id=detector.id,
        title=detector.title,
        severity=detector.severity,
        meaning=detector.meaning,
        advice=detector.advice,
        n_trials=sum(tally.n_by_llm.values()),
        n_by_llm=tally.n_by_llm,
        lost_score=tally.lost_score,
        lost_share=tally.lost_score / total if total else 0.0,
        examples=tuple(examples),
    )
