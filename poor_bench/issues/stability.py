"""Answers that vary between trials, or are identical across tests."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from poor_bench.issues.background import Background
from poor_bench.issues.detector import Detector, never
from poor_bench.issues.issue import Severity
from poor_bench.issues.trial import Trial, quoted

_LEAST_WRONG = 5
_LEAST_SHARE = 0.6


def _repeated(trials: Sequence[Trial]) -> Iterable[list[Trial]]:
    """Yield the scored trials of each LLM and test that was tried more than once."""
    groups: dict[tuple[str, str], list[Trial]] = defaultdict(list)
    for trial in trials:
        if trial.result.score is not None:
            groups[trial.result.llm_id, trial.result.test_id].append(trial)
    return (group for group in groups.values() if len(group) > 1)


def _unstable(trials: Sequence[Trial], background: Background) -> Iterable[tuple[Trial, str]]:
    for group in _repeated(trials):
        failing = [trial for trial in group if (trial.result.score or 0.0) < background.pass_score]
        if 0 < len(failing) < len(group):
            yield failing[0], f"{len(group) - len(failing)} of {len(group)} trials passed"


def _not_deterministic(
    trials: Sequence[Trial], background: Background
) -> Iterable[tuple[Trial, str]]:
    for group in _repeated(trials):
        if background.temperatures.get(group[0].result.llm_id) == 0:
            n_answers = len({trial.result.response for trial in group})
            if n_answers > 1:
                yield group[0], f"{n_answers} different responses in {len(group)} trials"


def _one_answer_for_all(
    trials: Sequence[Trial], background: Background
) -> Iterable[tuple[Trial, str]]:
    wrong: dict[tuple[str, str], list[Trial]] = defaultdict(list)
    for trial in trials:
        score = trial.result.score
        if score is not None and score < background.pass_score and trial.answer.strip():
            wrong[trial.result.llm_id, trial.facts.class_id].append(trial)
    for group in wrong.values():
        yield from _alike(group)


def _alike(wrong: list[Trial]) -> Iterable[tuple[Trial, str]]:
    answers = {id(trial): "".join(trial.answer.casefold().split()) for trial in wrong}
    [(commonest, _)] = Counter(answers.values()).most_common(1)
    alike = [trial for trial in wrong if answers[id(trial)] == commonest]
    n_tests = len({trial.result.test_id for trial in alike})
    if n_tests >= _LEAST_WRONG and len(alike) >= _LEAST_SHARE * len(wrong):
        for trial in alike:
            yield trial, f"{quoted(trial.answer)!r} is the answer to {n_tests} tests"


DETECTORS = (
    Detector(
        id="unstable",
        title="Passes sometimes",
        severity=Severity.LOW,
        meaning="The same test passes in one trial and fails in another.",
        advice="Lower the temperature, or compare several trials.",
        find=_unstable,
        explains_loss=never,
    ),
    Detector(
        id="not_deterministic",
        title="Not deterministic",
        severity=Severity.LOW,
        meaning="The model gave different answers at temperature 0.",
        advice="Set a seed. Servers that batch requests or cache prompts may still differ.",
        find=_not_deterministic,
        explains_loss=never,
    ),
    Detector(
        id="one_answer_for_all",
        title="Same answer everywhere",
        severity=Severity.MEDIUM,
        meaning="Most wrong answers of this model are identical.",
        advice="Check the rendered prompt: the model may not see the question.",
        find=_one_answer_for_all,
        explains_loss=never,
    ),
)
