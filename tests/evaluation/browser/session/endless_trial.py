"""A process that keeps a browser open until it is killed; started by tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from poor_bench.calls.caller import SystemClock
from poor_bench.evaluation.agent import AgentTask, TrialControl
from poor_bench.evaluation.browser.opening import open_session

if __name__ == "__main__":
    task = AgentTask(case_id="x", trial=1, directive="Wait.", folder=Path(sys.argv[1]))
    with open_session(task, TrialControl(), environ=os.environ, clock=SystemClock()) as session:
        print("open", flush=True)
        session.page.wait_for_timeout(60_000)
