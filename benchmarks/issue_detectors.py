"""Precision and recall of the issue detectors on real results whose issues are known.

`python benchmarks/issue_detectors.py FOLDER [LABELS]`: FOLDER is a workspace with a results.json,
LABELS (by default `issue_labels.json` beside this file) says what is true of it:
LLM id -> detector id -> test ids. Trials without a label have no issue of a cause.

The labels here are of the public results of the repository ade1963/poor_ai (9 LLMs x 61 tests),
and were given by reading every response that lost score. The detectors were written by the same
reader: read the figures as "nothing is overlooked", not as a forecast for other LLMs.
"""

from __future__ import annotations

import sys
from collections import Counter
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


def _results(folder: Path) -> list[Result]:
    stored = orjson.loads((folder / "results.json").read_bytes())["results"]
    return [record_to_result(llm_id, row) for llm_id, rows in stored.items() for row in rows]


def _found(folder: Path) -> set[Finding]:
    workspace = load_workspace(folder)
    background = background_of(workspace.tests_by_id, workspace.test_classes, workspace.llms_by_id)
    issues = detect_issues(_results(folder), background)
    return {(i.detector_id, i.llm_id, i.test_id) for i in issues if i.detector_id in _CAUSES}


def _labelled(path: Path) -> set[Finding]:
    labels = orjson.loads(path.read_bytes())
    return {
        (detector_id, llm_id, test_id)
        for llm_id, by_detector in labels.items()
        for detector_id, test_ids in by_detector.items()
        for test_id in test_ids
    }


def main() -> None:
    """Print the table and every disagreement."""
    folder = Path(sys.argv[1])
    labels = (
        Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).with_name("issue_labels.json")
    )
    found, true = _found(folder), _labelled(labels)
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
