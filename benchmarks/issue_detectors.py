"""Precision and recall of the issue detectors on real results whose issues are known.

`python benchmarks/issue_detectors.py FOLDER [LABELS]`: FOLDER is a workspace with a results.json,
LABELS (by default `issue_labels.json` beside this file) says what is true of it:
LLM id -> detector id -> test ids, where the second trial of a test is `test#2`. Trials without a
label have no issue of a cause.

Labels may also be such a map under `labels`, beside a `sample` (only its trials are judged, the
rest was not read) and a map `doubtful` of findings that are not judged, since the one-line
meaning of the cause leaves open whether it applies.

- `issue_labels.json` is of the public results of the repository ade1963/poor_ai (9 LLMs x 61
  tests); it was given by reading every response that lost score. The detectors were written by
  the same reader: read its figures as "nothing is overlooked", not as a forecast for other LLMs.
- `issue_labels_recorded.json` is of examples/recorded (one LLM asked in seven ways), and was given
  before any detector had been run on these results, by a reader who had not seen their code:
  200 of the 364 trials that lost score, drawn at random.

What the held-out labels showed (commit c8c8bc6): precision 75/81, recall 75/132. 52 of the 57
overlooked findings were answers in prose: wrong ones were not looked at, and where the evaluator
had found nothing to score, no detector said so. Both were mended (`answer_not_found` is new, and
what it concerns was labelled again), a JSON answer's own kind now comes before what stands around
it, and schemas tell what is wanted: precision 144/150, recall 144/147, no longer held out.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import orjson

from poor_bench.config.load import load_workspace
from poor_bench.issues.background import background_of
from poor_bench.issues.detect import detect_issues
from poor_bench.issues.detector import never
from poor_bench.issues.registry import DETECTORS
from poor_bench.models.result import Result, record_to_result

_NO_CAUSE = {"score_zero", "partly_wrong"}
_CAUSES = {
    detector.id
    for detector in DETECTORS
    if detector.id.startswith("failed_") or detector.explains_loss is not never
} - _NO_CAUSE

Finding = tuple[str, str, str]
"""Detector id, LLM id, test id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What a reader found to be true of some results."""

    true: set[Finding]
    doubtful: set[Finding]
    sample: set[tuple[str, str]] | None
    """LLM and test ids of the trials that were read; None where all were."""

    def judge(self, finding: Finding) -> bool:
        """Return whether a finding can be called right or wrong."""
        read = self.sample is None or finding[1:] in self.sample
        return read and finding not in self.doubtful


def _results(folder: Path) -> list[Result]:
    stored = orjson.loads((folder / "results.json").read_bytes())["results"]
    return [record_to_result(llm_id, row) for llm_id, rows in stored.items() for row in rows]


def _found(folder: Path) -> set[Finding]:
    workspace = load_workspace(folder)
    background = background_of(workspace.tests_by_id, workspace.test_classes, workspace.llms_by_id)
    issues = detect_issues(_results(folder), background)
    return {
        (issue.detector_id, issue.llm_id, _name(issue.test_id, issue.trial))
        for issue in issues
        if issue.detector_id in _CAUSES
    }


def _name(test_id: str, trial: int) -> str:
    return test_id if trial == 1 else f"{test_id}#{trial}"


def _findings(labels: Mapping[str, Mapping[str, list[str]]]) -> set[Finding]:
    return {
        (detector_id, llm_id, test_id)
        for llm_id, by_detector in labels.items()
        for detector_id, test_ids in by_detector.items()
        for test_id in test_ids
    }


def _labels(path: Path) -> Labels:
    stored = orjson.loads(path.read_bytes())
    if "labels" not in stored:
        return Labels(true=_findings(stored), doubtful=set(), sample=None)
    trials = stored["sample"]["trials"]
    return Labels(
        true=_findings(stored["labels"]),
        doubtful=_findings(stored["doubtful"]),
        sample={(llm_id, test_id) for llm_id, test_ids in trials.items() for test_id in test_ids},
    )


def main() -> None:
    """Print the table and every disagreement."""
    folder = Path(sys.argv[1])
    path = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).with_name("issue_labels.json")
    labels = _labels(path)
    found, true = set(filter(labels.judge, _found(folder))), labels.true
    right, seen, there = (
        Counter(finding[0] for finding in findings) for findings in (found & true, found, true)
    )
    print(f"{'detector':26} {'precision':>10} {'recall':>10}")
    for name in sorted(seen | there):
        print(f"{name:26} {right[name]:>5}/{seen[name]:<4} {right[name]:>5}/{there[name]:<4}")
    print(f"{'all':26} {right.total():>5}/{seen.total():<4} {right.total():>5}/{there.total():<4}")
    for finding in sorted(found ^ true):
        print("wrongly found" if finding in found else "overlooked   ", *finding)


if __name__ == "__main__":
    main()
