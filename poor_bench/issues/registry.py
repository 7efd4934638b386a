"""All detectors; a new one is added to the tuple of its module, or a new module here.

The order decides which cause a lost score is charged to where several apply: what kept the LLM
from answering comes before the form of the answer, and that before the plain wrong answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from poor_bench.issues import (
    failed_runs,
    form,
    history,
    language,
    leaks,
    missing_answers,
    program,
    stability,
    timing,
    wrong_answers,
)
from poor_bench.issues.detector import Detector

_SPECIFIC: tuple[Detector, ...] = (
    *failed_runs.DETECTORS,
    *missing_answers.DETECTORS,
    *language.DETECTORS,
    *form.DETECTORS,
    *program.DETECTORS,
    *history.DETECTORS,
    *stability.DETECTORS,
    *leaks.DETECTORS,
    *timing.DETECTORS,
)
DETECTORS: tuple[Detector, ...] = (*_SPECIFIC, *wrong_answers.DETECTORS)


def detectors_with(own: Sequence[Detector]) -> tuple[Detector, ...]:
    """Add a workspace's own detectors to the built-in ones.

    They come before the plain wrong answer, so that a loss they explain is charged to them. One
    with the id of a built-in detector replaces it.
    """
    ids = {detector.id for detector in own}
    ordered = (*_SPECIFIC, *own, *wrong_answers.DETECTORS)
    return tuple(item for item in ordered if item.id not in ids or item in own)
