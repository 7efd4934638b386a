"""Check a suite with the playbooks, profiles and server that it uses."""

from __future__ import annotations

from pathlib import Path

from poor_bench.evaluation.browser.playbook.load import read_playbook
from poor_bench.evaluation.playbook_files import find_playbook
from poor_bench.evaluation.suite_file import check_suite
from poor_bench.models.problem import Problem


def check_suite_and_playbooks(path: Path, data_dir: Path) -> list[Problem]:
    """List all problems of a suite, and of every playbook, profile and server it uses."""
    suite, problems = check_suite(path, data_dir, imports=True)
    if suite is None:
        return problems
    names = dict.fromkeys(case.playbook for case in suite.cases if case.playbook)
    for name in names:
        found = find_playbook(name, data_dir, path.parent)
        if found is not None:
            problems += read_playbook(found)[1]
    return problems
