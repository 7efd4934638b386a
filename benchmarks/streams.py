"""What a streamed piece costs: `main.py run` against a lean aiohttp and orjson loop.

    python benchmarks/streams.py [STREAMS] [PER_SECOND]

200 streams at once by default, 50 pieces a second each, every piece in an HTTP chunk and a packet
of its own. Both clients read the same text in about 20 and in about 220 pieces; the difference of
their CPU, divided by the pieces, is what a piece costs. Prints the ratio of the two, and how much
longer the stored times of the second and third reply of each stream are than what the server
measured: to the first token, and to the end (falling behind). Clients run on one core. Needs
`pip install aiohttp`.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from stream_server import length_of

ROOT = Path(__file__).resolve().parents[1]
SHORT, LONG = 20, 220
REPLIES_PER_STREAM = 3
FIRST_MS = 500
_LEAN = """
import asyncio, sys, aiohttp, orjson
port, streams, replies = map(int, sys.argv[1:])
async def work(session, numbers):
    for number in numbers:
        assert await ask(session, number)
async def ask(session, number):
    messages = [{"role": "user", "content": f"{number} + 2"}]
    body = orjson.dumps({"model": "m", "messages": messages, "stream": True})
    text = []
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    async with session.post(url, data=body) as reply:
        async for line in reply.content:
            if line.startswith(b"data: {"):
                choices = orjson.loads(line[6:])["choices"]
                if choices:
                    text.append(choices[0]["delta"].get("content") or "")
    return "".join(text)
async def main():
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        numbers = iter(range(replies))
        await asyncio.gather(*(work(session, numbers) for _ in range(streams)))
asyncio.run(main())
"""


class Cost(NamedTuple):
    cpu_s: float
    wall_s: float


@contextmanager
def server(pieces: int, per_second: float) -> Iterator[int]:
    script = str(ROOT / "benchmarks" / "stream_server.py")
    command = [sys.executable, script, str(pieces), str(per_second), str(FIRST_MS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def measured(command: list[str]) -> Cost:
    """Run a command to its end on one core and return what it cost, its children included."""
    start = time.perf_counter()
    pin = ["taskset", "-c", "0"] if sys.platform == "linux" else []
    process = subprocess.Popen(
        [*pin, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=ROOT
    )
    assert process.stderr is not None
    complaint = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command} failed: {complaint.decode()[-2000:]}")
    return Cost(usage.ru_utime + usage.ru_stime, time.perf_counter() - start)


def write_workspace(folder: Path, port: int, streams: int) -> None:
    classes = [
        {
            "id": "sums",
            "work_prompt_template": {"default": "Solve {problem}."},
            "evaluation_module": {"name": "contains", "parameters": {"any": ["word"]}},
        }
    ]
    tests = [
        {
            "test_id": f"sum_{number:06}",
            "class_id": "sums",
            "level": 1,
            "text": f"{number} + 2",
            "evaluation_module": {
                "name": "contains",
                "parameters": {"any": ["word"]},
            },
        }
        for number in range(streams * REPLIES_PER_STREAM)
    ]
    llm = {
        "provider": "openai",
        "name": "m",
        "endpoint": f"http://127.0.0.1:{port}/v1",
        "concurrency": streams,
    }
    (folder / "test_classes.yaml").write_text(
        json.dumps({"version": "1.0", "test_classes": classes})
    )
    (folder / "tests.json").write_text(json.dumps({"version": "1.0", "tests": tests}))
    (folder / "llms.json").write_text(json.dumps({"llms": [llm]}))


class Streamed(NamedTuple):
    cost: Cost
    late_ms: list[float]
    """Time to first token, beyond what the server took to send it."""
    behind_ms: list[float]
    """Time of the whole reply, beyond what the server took to send it."""
    gap_ms: float
    """Milliseconds of the server for a piece, the wait for the first one included."""


def run_cost(port: int, streams: int) -> Streamed:
    with tempfile.TemporaryDirectory() as name:
        write_workspace(Path(name), port, streams)
        cost = measured([sys.executable, "main.py", "--data", name, "run", "--json"])
        stored = json.loads((Path(name) / "results.json").read_text())["results"]
    rows = [row for of_llm in stored.values() for row in of_llm]
    assert len(rows) == streams * REPLIES_PER_STREAM, f"{len(rows)} stored"
    rows = sorted(rows, key=_started_s)[streams:]  # the first ones all connect at the same moment
    texts = [row["response"].split() for row in rows]
    sent_ms = [(float(text[0]), float(text[-1])) for text in texts]
    return Streamed(
        cost,
        [row["first_token_ms"] - sent[0] for row, sent in zip(rows, sent_ms, strict=True)],
        [row["execution_time_ms"] - sent[-1] for row, sent in zip(rows, sent_ms, strict=True)],
        statistics.median(sent[-1] / len(text) for sent, text in zip(sent_ms, texts, strict=True)),
    )


def _started_s(row: dict[str, Any]) -> float:
    ended = datetime.fromisoformat(row["timestamp"]).timestamp()
    return ended - float(row["execution_time_ms"]) / 1000


def lean_cost(port: int, streams: int) -> Cost:
    replies = streams * REPLIES_PER_STREAM
    return measured([sys.executable, "-c", _LEAN, str(port), str(streams), str(replies)])


def print_comparison(streams: int = 200, per_second: float = 50.0) -> None:
    """Measure both and print what the head of this file promises."""
    ours: dict[int, Streamed] = {}
    lean: dict[int, Cost] = {}
    for pieces in (SHORT, LONG):
        with server(pieces, per_second) as port:
            lean[pieces] = lean_cost(port, streams)
            ours[pieces] = run_cost(port, streams)
    replies = range(streams * REPLIES_PER_STREAM)
    n_pieces = sum(length_of(number, LONG) - length_of(number, SHORT) for number in replies)
    our_us = (ours[LONG].cost.cpu_s - ours[SHORT].cost.cpu_s) / n_pieces * 1e6
    lean_us = (lean[LONG].cpu_s - lean[SHORT].cpu_s) / n_pieces * 1e6
    print(f"{streams} streams, {per_second:g} pieces a second each, in HTTP chunks, on one core")
    print(f"CPU per piece: {our_us:.0f} us; aiohttp and orjson {lean_us:.0f} us: ratio "
          f"{our_us / lean_us:.2f} (goal 1.0)")  # fmt: skip
    planned_ms = (FIRST_MS + LONG / per_second * 1000) / LONG
    print(f"the server took {ours[LONG].gap_ms:.1f} ms for a piece (planned: {planned_ms:.1f} ms)")
    for what, values in (
        ("time to first token beyond the server's", ours[LONG].late_ms),
        ("whole reply beyond the server's", ours[LONG].behind_ms),
    ):
        late = statistics.quantiles(values, n=20)
        print(f"{what}: median {statistics.median(values):.1f} ms, 95 % within {late[-1]:.1f} ms, "
              f"at most {max(values):.1f} ms")  # fmt: skip


if __name__ == "__main__":
    print_comparison(*map(int, sys.argv[1:3]))
