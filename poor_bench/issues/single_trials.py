"""What each detector says of each trial by itself: worked out once, without the other trials."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from hashlib import blake2b

from poor_bench.issues.detector import (
    EXPLAINS,
    NO_FACTS,
    SEPARATOR,
    Among,
    Check,
    Detector,
    TestFacts,
    Trial,
    TrialTable,
)
from poor_bench.models.result import Result, one_per_trial
from poor_bench.statistics.trials import TextCodes, TextColumns, TextReader, collect_columns

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
    known = one_per_trial(results)
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
    return TextReader(
        name="findings",
        read=partial(_look_at_each, facts=facts, detectors=detectors),
        texts=None if own else READ_TEXTS,
        fields=None if own else READ_FIELDS,
        version=blake2b(known, digest_size=16).hexdigest(),
    )


def _look_at_each(
    results: Iterable[Result], facts: Mapping[str, TestFacts], detectors: Sequence[Detector]
) -> TextColumns:
    import numpy as np

    checks = {kind: list(_list_checks(detectors, kind)) for kind in Among}
    findings = TextCodes()
    rows: list[tuple[int, int, int, bool]] = []
    for result in results:
        trial = Trial(result, facts.get(result.test_id, NO_FACTS))
        kind = Among.FAILED if result.score is None else Among.ALL
        found = [
            name + EXPLAINS if explains(trial) else name
            for name, check, explains in checks[Among.LOST if trial.is_lost else kind]
            if check(trial) is not None
        ]
        code = findings[SEPARATOR.join(found)] if found else -1
        rows.append((code, _hash_answer(trial), _hash(result.response), _begins_with_value(result)))
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T.copy()
    return TextColumns(
        columns=dict(zip(("findings", "answer", "response", "begins"), columns, strict=True)),
        values={"findings": tuple(findings)},
    )


def _list_checks(
    detectors: Sequence[Detector], kind: Among
) -> Iterable[tuple[str, Check, Callable[[Trial], bool]]]:
    """List the checks of trials of a kind, with their names."""
    for detector in detectors:
        for name, check in detector.marks.items():
            yield name, check, _explains_nothing
        if detector.check is not None and detector.among in {Among.ALL, kind}:
            yield detector.id, detector.check, detector.explains_loss


def _explains_nothing(_: Trial) -> bool:
    return False


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
