"""How soon a run finds the limit of a hosted endpoint: `main.py run` against a local server.

    python benchmarks/unknown_limit.py [PER_SECOND] [TESTS] [OPTION OF run]...

The server takes 50 requests in any second by default, answers after 100 ms, and refuses the rest
with a bare 429. llms.json names no limit, and the address is that of a host (reached through a
proxy, which the server plays), so the run has to find it. Prints requests taken and refused in each
second, the share of the limit that is used after 10 s, and the share of requests refused. Options
such as `--cluster local:2` are handed to `run`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from runner import ROOT, write_workspace

LATENCY_MS = 100
SETTLED_S = 10


def run(per_second: int, n_tests: int, options: list[str]) -> list[tuple[int, int]]:
    """Return what the server took and refused in each second of a run."""
    script = str(ROOT / "benchmarks" / "chat_server.py")
    server = subprocess.Popen(
        [sys.executable, script, str(LATENCY_MS), f"limit={per_second}"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    port = int(server.stdout.readline())
    with tempfile.TemporaryDirectory() as name:
        write_workspace(Path(name), port, n_tests)
        llm = {"provider": "openai", "name": "m", "endpoint": "http://bench.example.com/v1"}
        (Path(name) / "llms.json").write_text(json.dumps({"llms": [llm]}))
        proxies = {"http_proxy": f"http://127.0.0.1:{port}", "no_proxy": ""}
        command = [sys.executable, "main.py", "--data", name, "run", "--json", *options]
        environ = {**os.environ, **proxies, "OPENAI_API_KEY": "sk-none"}
        subprocess.run(command, cwd=ROOT, env=environ, stdout=subprocess.DEVNULL, check=True)
    server.kill()
    lines = [line.split() for line in server.stdout]
    return [(int(taken), int(refused)) for taken, refused in lines]


def main() -> None:
    per_second = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    n_tests = int(sys.argv[2]) if len(sys.argv) > 2 else 1500
    seconds = run(per_second, n_tests, sys.argv[3:])
    busy = [number for number, counts in enumerate(seconds) if any(counts)]
    seconds = seconds[busy[0] : busy[-1]]
    print("taken and refused in each second:", *(f"{taken}/{lost}" for taken, lost in seconds))
    settled = [taken for taken, _ in seconds[SETTLED_S:]]
    n_refused = sum(lost for _, lost in seconds)
    share = n_refused / (n_refused + sum(taken for taken, _ in seconds))
    used = sum(settled) / len(settled) / per_second
    print(f"after {SETTLED_S} s: {used:.0%} of the limit (goal 90 %)")
    print(f"refused: {n_refused}, {share:.1%} of all requests (goal 2 %)")


if __name__ == "__main__":
    main()
