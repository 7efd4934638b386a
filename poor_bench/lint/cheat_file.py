"""What cheats scored, kept beside the index of results; deleting the file loses nothing else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from poor_bench.config.document import write_atomically
from poor_bench.errors import PoorBenchError
from poor_bench.lint.cheats import Cheat, CheatScore
from poor_bench.lint.subject import EvaluatorFacts, LintSubject
from poor_bench.safe_files import load_json_text

_VERSION = 1


def identify_tests(subjects: Iterable[LintSubject], facts: EvaluatorFacts) -> str:
    """Compute what changes whenever a test, a prompt or an evaluator does, in hexadecimal."""
    total = hashlib.sha256()
    for subject in subjects:
        test, spec = subject.test, subject.spec
        prompts = [prompt.text for prompt in subject.prompts[:1]]
        parts = [test.test_id, test.class_id, test.reference_response, subject.content, prompts]
        own = [spec.name, dict(spec.parameters), facts.code_digest(spec)]
        total.update(json.dumps([parts, own], default=str).encode())
    return total.hexdigest()


def read_measuring_time(data_dir: Path) -> int | None:
    """Return when cheats were last scored, in nanoseconds; None if they were not."""
    try:
        return CheatFile(data_dir).path.stat().st_mtime_ns
    except OSError:
        return None


class CheatFile:
    """The file `index/cheats.json` of a workspace.

    Args:
        data_dir: Folder of the workspace.
    """

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / "index" / "cheats.json"

    def save(self, identity: str, scores: Iterable[CheatScore]) -> None:
        """Replace the file.

        Raises:
            ConfigError: If it cannot be written; the old file stays.
        """
        rows = [[item.test_id, item.cheat.value, item.score] for item in scores]
        document = {"version": _VERSION, "tests": identity, "scores": rows}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, json.dumps(document))

    def load(self, identity: str) -> Sequence[CheatScore]:
        """Read the scores; empty without the file, or if the tests have changed since."""
        try:
            document = load_json_text(self.path.read_text(encoding="utf-8"))
            if document["version"] != _VERSION or document["tests"] != identity:
                return ()
            return tuple(
                CheatScore(str(test_id), Cheat(cheat), None if score is None else float(score))
                for test_id, cheat, score in document["scores"]
            )
        except (OSError, ValueError, TypeError, KeyError, PoorBenchError):
            return ()
