"""All detectors; a new one is added to the tuple of its module, or a new module here.

The order decides which cause a lost score is charged to where several apply: what kept the LLM
from answering comes before the form of the answer, and that before the plain wrong answer.
"""

from __future__ import annotations

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

DETECTORS: tuple[Detector, ...] = (
    *failed_runs.DETECTORS,
    *missing_answers.DETECTORS,
    *language.DETECTORS,
    *form.DETECTORS,
    *program.DETECTORS,
    *history.DETECTORS,
    *stability.DETECTORS,
    *leaks.DETECTORS,
    *timing.DETECTORS,
    *wrong_answers.DETECTORS,
)
