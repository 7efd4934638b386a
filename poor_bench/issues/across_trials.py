"""Issues that need more than one trial: other runs, trials, tests, models, or people's ratings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from poor_bench.issues.detector import (
    Affected,
    Detector,
    IssueContext,
    IssueSeverity,
    Trial,
    TrialTable,
    never,
    shorten_quote,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Entries = NDArray[np.int64]


class _Groups(NamedTuple):
    """Entries that belong together, by ascending key."""

    entries: Entries
    """The entries of one group after the other."""
    starts: Entries
    """Where each group begins in `entries`."""
    numbers: Entries
    """Group of each of `entries`."""
    sizes: Entries

    def __iter__(self) -> Iterator[Any]:
        """Yield the entries of each group."""
        import numpy as np

        return iter(np.split(self.entries, self.starts[1:]) if len(self.starts) else ())

    def sum(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum values of `entries` by group."""
        import numpy as np

        return np.bincount(self.numbers, weights=values, minlength=len(self.starts))

    def find_first(self, is_meant: NDArray[np.bool_]) -> Entries:
        """Find the first of `entries` of each group that is meant; groups without one miss."""
        import numpy as np

        meant = np.flatnonzero(is_meant)
        _, firsts = np.unique(self.numbers[meant], return_index=True)
        found: Entries = self.entries[meant[firsts]]
        return found


def _group(entries: Entries, keys: NDArray[np.int64]) -> _Groups:
    """Group some entries by the keys of all."""
    import numpy as np

    order = entries[np.argsort(keys[entries], kind="stable")]
    is_first = np.diff(keys[order], prepend=keys[order[:1]] - 1) != 0
    starts = np.flatnonzero(is_first)
    sizes = np.diff(starts, append=len(order))
    return _Groups(order, starts, np.cumsum(is_first) - 1, sizes)


def _find_regressions(table: TrialTable, context: IssueContext) -> Affected:
    import numpy as np

    trials, before = table.trials, context.previous_scores
    scored = np.flatnonzero(trials.is_scored & bool(before))
    groups = _group(scored, table.number_tests())
    scores = trials.columns["score"]
    means = groups.sum(scores[groups.entries]) / np.maximum(groups.sizes, 1)
    llms, tests = (trials.values[name] for name in ("llm_id", "test_id"))
    worst, said = [], []
    for entries, mean in zip(groups, means.tolist(), strict=True):
        first = entries[0]
        codes = (trials.columns[name][first] for name in ("llm_id", "test_id"))
        llm, test = (values[code] for values, code in zip((llms, tests), codes, strict=True))
        score = before.get((llm, test))
        if score is not None and score >= context.pass_score > mean:
            worst.append(entries[scores[entries].argmin()])
            said.append(f"scored {score:.2f} before, {mean:.2f} now")
    return Affected(np.array(worst, dtype=np.int64), lambda place, _: said[place])


def _find_suspicious_tests(table: TrialTable, context: IssueContext) -> Affected:
    import numpy as np

    suspicious = context.suspicious_tests
    is_meant = table.trials.find_entries("test_id", suspicious.__contains__)
    is_lost = table.trials.columns["score"] < 1.0
    return Affected(
        np.flatnonzero(is_meant & is_lost), lambda _, trial: suspicious[trial.result.test_id]
    )


_HISTORY = (
    Detector(
        id="suspicious_test",
        title="The test may be at fault",
        severity=IssueSeverity.HIGH,
        meaning="The results of all models suggest that the test is wrong, not the model.",
        advice="Check the expected answer, prompt and evaluator of the test.",
        across=_find_suspicious_tests,
    ),
    Detector(
        id="regression",
        title="Worse than before",
        severity=IssueSeverity.HIGH,
        meaning="The test passed in the baseline and fails now.",
        advice="Compare the prompt, parameters and model digest of both runs.",
        across=_find_regressions,
    ),
)


_LEAST_WRONG = 5
_LEAST_SHARE = 0.6


def _group_repeated(table: TrialTable) -> _Groups:
    """Group the scored trials of each LLM and test; none where no test has a second trial."""
    import numpy as np

    scored, numbers = np.flatnonzero(table.trials.is_scored), table.trials.columns["trial"]
    if (numbers[scored] == numbers[scored[:1]]).all():  # sorting a million trials takes a while
        scored = scored[:0]
    return _group(scored, table.number_tests())


def _find_unstable(table: TrialTable, context: IssueContext) -> Affected:
    groups = _group_repeated(table)
    is_failing = table.trials.columns["score"][groups.entries] < context.pass_score
    n_failing = groups.sum(is_failing).astype(int)
    is_unstable = (n_failing > 0) & (n_failing < groups.sizes)
    n_passed = (groups.sizes - n_failing)[is_unstable]
    n_trials = groups.sizes[is_unstable]
    return Affected(
        groups.find_first(is_failing & is_unstable[groups.numbers]),
        lambda place, _: f"{n_passed[place]} of {n_trials[place]} trials passed",
    )


def _find_different_answers(table: TrialTable, context: IssueContext) -> Affected:
    import numpy as np

    groups = _group_repeated(table)
    cold = table.trials.find_entries("llm_id", lambda llm_id: context.temperatures.get(llm_id) == 0)
    is_meant = (cold[groups.entries[groups.starts]] & (groups.sizes > 1))[groups.numbers]
    numbers = groups.numbers[is_meant]
    answers = table.texts.columns["response"][groups.entries[is_meant]]
    order = np.lexsort((answers, numbers))
    numbers, answers = numbers[order], answers[order]
    is_new = (np.diff(numbers, prepend=-1) != 0) | (np.diff(answers, prepend=0) != 0)
    n_answers = np.bincount(numbers[is_new], minlength=len(groups.starts))
    found = np.flatnonzero(n_answers > 1)
    n_trials = groups.sizes[found]
    return Affected(
        groups.entries[groups.starts[found]],
        lambda place, _: (
            f"{n_answers[found[place]]} different responses in {n_trials[place]} trials"
        ),
    )


def _find_one_answer(table: TrialTable, context: IssueContext) -> Affected:
    import numpy as np

    answers, tests = table.texts.columns["answer"], table.trials.columns["test_id"]
    is_wrong = (table.trials.columns["score"] < context.pass_score) & (answers != 0)
    found, n_tests = [np.zeros(0, dtype=np.int64)], []
    for wrong in _group(np.flatnonzero(is_wrong), table.number_classes()):
        _, firsts, counts = np.unique(answers[wrong], return_index=True, return_counts=True)
        most = firsts[counts == counts.max()].min()
        alike = wrong[answers[wrong] == answers[wrong[most]]]
        n_alike = len(np.unique(tests[alike]))
        if n_alike >= _LEAST_WRONG and len(alike) >= _LEAST_SHARE * len(wrong):
            found.append(alike)
            n_tests += [n_alike] * len(alike)
    return Affected(
        np.concatenate(found),
        lambda place, trial: (
            f"{shorten_quote(trial.answer)!r} is the answer to {n_tests[place]} tests"
        ),
    )


_STABILITY = (
    Detector(
        id="unstable",
        title="Passes sometimes",
        severity=IssueSeverity.LOW,
        meaning="The same test passes in one trial and fails in another.",
        advice="Lower the temperature, or compare several trials.",
        across=_find_unstable,
    ),
    Detector(
        id="not_deterministic",
        title="Not deterministic",
        severity=IssueSeverity.LOW,
        meaning="The model gave different answers at temperature 0.",
        advice="Set a seed. Servers that batch requests or cache prompts may still differ.",
        across=_find_different_answers,
    ),
    Detector(
        id="one_answer_for_all",
        title="Same answer everywhere",
        severity=IssueSeverity.MEDIUM,
        meaning="Most wrong answers of this model are identical.",
        advice="Check the rendered prompt: the model may not see the question.",
        across=_find_one_answer,
    ),
)


_LEAST_TRIALS = 8
_LEAST_RATIO = 3.0
_LEAST_DEVIATIONS = 5.0
_COLD_MS = 1000.0


def _find_slow(table: TrialTable, _: IssueContext) -> Affected:
    """Find times far above those of the same LLM and class, on a logarithmic scale.

    Source: modified z-score of Iglewicz and Hoaglin 1993, "How to Detect and Handle Outliers",
    with a stricter limit, since response times have long tails.
    """
    import numpy as np

    times = table.trials.columns["execution_time_ms"]
    timed = np.flatnonzero(table.trials.is_scored & (times > 0))
    found, middles = [np.zeros(0, dtype=np.int64)], []
    for entries in _group(timed, table.number_classes()):
        if len(entries) >= _LEAST_TRIALS:
            logs = np.log(times[entries])
            middle = float(np.median(logs))
            spread = 1.4826 * float(np.median(np.abs(logs - middle)))
            limit = middle + max(math.log(_LEAST_RATIO), _LEAST_DEVIATIONS * spread)
            slow = entries[logs > limit]
            found.append(slow)
            middles += [math.exp(middle) / 1000] * len(slow)

    def tell(place: int, trial: Trial) -> str:
        seconds = (trial.result.execution_time_ms or 0.0) / 1000
        return f"{seconds:.1f} s where {middles[place]:.1f} s is typical"

    return Affected(np.concatenate(found), tell)


def _cold_load(trial: Trial) -> str | None:
    load_ms = trial.result.load_ms
    if load_ms is None or load_ms < _COLD_MS:
        return None
    return f"{load_ms / 1000:.1f} s to load the model"


_TIMING = (
    Detector(
        id="slow_outlier",
        title="Unusually slow",
        severity=IssueSeverity.LOW,
        meaning="The request took far longer than others of this model and class.",
        advice="Check for a long answer, a busy machine, or swapping.",
        across=_find_slow,
    ),
    Detector(
        id="cold_load",
        title="Model load",
        severity=IssueSeverity.LOW,
        meaning="The model was not in memory. Load time is not part of the latency.",
        advice="If this repeats, raise keep_alive or run one model at a time.",
        check=_cold_load,
        explains_loss=never,
    ),
)


ACROSS_TRIALS = (*_HISTORY, *_STABILITY, *_TIMING)


def _find_disagreements(table: TrialTable, context: IssueContext) -> Affected:
    """Compare answers to rated tests only: their texts are read."""
    import numpy as np

    rated_tests = {people.test_id for people in context.people.values()}
    rated = np.flatnonzero(table.trials.find_entries("test_id", rated_tests.__contains__))
    found, said = [], []
    for entry, trial in zip(rated.tolist(), table.look(rated), strict=True):
        people, score = context.people.get(trial.result.answer_id), trial.result.score
        if people is not None and people.disagrees_with(score):
            raters = "1 person" if people.n_people == 1 else f"{people.n_people} people"
            found.append(entry)
            said.append(f"{raters}: {people.mean:.2f}, evaluator: {score:.2f}")
    return Affected(np.array(found, dtype=np.int64), lambda place, _: said[place])


PEOPLE = (
    Detector(
        id="people_disagree",
        title="People disagree with the evaluator",
        severity=IssueSeverity.HIGH,
        meaning="People's ratings of the answer are 0.5 or more away from the evaluator's score.",
        advice="Check the test's expected answer and evaluator, then the ratings.",
        across=_find_disagreements,
    ),
)
