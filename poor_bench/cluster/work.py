"""Work that runs on a worker: describe it, prepare the workspace, ask a model, score responses.

Everything here is called by dask, in a thread of the worker. Errors of ours come back as values.
"""

from __future__ import annotations

import os
import pickle
import platform
import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Generic, NamedTuple, TypeVar

from poor_bench import __version__
from poor_bench.calls.caller import SystemClock
from poor_bench.cluster.definitions import Definitions, OpenedDefinitions
from poor_bench.errors import PoorBenchError, ProviderError
from poor_bench.models.completion import ChatRequest, Completion
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.plugins.sources import find_project_evaluators, hash_code
from poor_bench.ports import CallControl, Reachability, TellsServer
from poor_bench.providers.api_keys import find_key_variable, find_known_key, read_key
from poor_bench.providers.endpoint import build_endpoint_key
from poor_bench.runner.jobs import JudgeItem, collect_facts, score_again
from poor_bench.runner.machine import collect_machine_facts
from poor_bench.runner.scorer import SCORED
from poor_bench.sandbox import Level, accept_level, find_sandbox_status

Value = TypeVar("Value")
_TOGETHER_S = 0.01


@dataclass(frozen=True)
class WorkDone(Generic[Value]):
    """What came of a piece of work."""

    value: Value


Outcome = WorkDone[Value] | PoorBenchError
"""What came of a piece of work, or the error of ours that it ended with."""


class Identity(NamedTuple):
    """Versions of a worker; plain values, so that other versions can read them."""

    host: str
    python: str
    poor_bench: str
    code: str
    """Hash of the code that decides about scores, built-in evaluators included."""


class Readiness(NamedTuple):
    """What a worker can do for a workspace."""

    machine: dict[str, Any]
    sandbox: Level
    missing_keys: dict[str, str]
    """LLM id to what is wrong with its key in the worker's environment."""
    keys: tuple[str, ...]
    """Names of the variables with keys in the worker's environment."""
    servers: dict[str, str]
    """LLM id to the worker's own server for it, the same for workers that share one."""


def identify() -> Identity:
    """Describe the versions of this process."""
    return Identity(socket.gethostname(), platform.python_version(), __version__, _hash_code())


def _hash_code() -> str:
    files = sorted(find_project_evaluators().glob("*.py"))
    return hash_code(None) + "".join(hash_code(file)[:4] for file in files)


_opened: dict[str, OpenedDefinitions] = {}
"""By content hash: definitions are sent once to each process."""


def has_definitions(content_hash: str) -> bool:
    """True if the definitions of a workspace are here."""
    return content_hash in _opened


def prepare(
    content_hash: str, definitions: Definitions | None, lowest: Level
) -> Outcome[Readiness]:
    """Open the definitions of a workspace, and find out what can be done for it here.

    Args:
        content_hash: Names the definitions.
        definitions: None if they are here already.
        lowest: Lowest sandbox level at which code of models may run.
    """
    return _note_error(lambda: _prepare(content_hash, definitions, lowest))


def _prepare(content_hash: str, definitions: Definitions | None, lowest: Level) -> Readiness:
    if definitions is not None and content_hash not in _opened:
        _opened[content_hash] = OpenedDefinitions(definitions)
    accept_level(lowest)
    _opened[content_hash].forget_models()
    llms = _opened[content_hash].llms
    host = socket.gethostname()
    return Readiness(
        machine=collect_machine_facts(),
        sandbox=_find_level(),
        missing_keys={llm.id: text for llm in llms if (text := _find_key_problem(llm))},
        keys=tuple(sorted({name for llm in llms if (name := _find_key_name(llm))})),
        servers={llm.id: f"{host} {_name_server(llm)}" for llm in llms},
    )


def _find_level() -> Level:
    try:
        return find_sandbox_status().level
    except PoorBenchError:
        return Level.NONE


def _find_key_problem(llm: LLM) -> str:
    try:
        read_key(llm, os.environ)
    except ProviderError as error:
        return str(error)
    except PoorBenchError:
        return ""  # its settings are wrong, which its provider tells
    return ""


def _find_key_name(llm: LLM) -> str:
    try:
        return (find_key_variable(llm, os.environ) or "") if find_known_key(llm, os.environ) else ""
    except PoorBenchError:
        return ""


def _name_server(llm: LLM) -> str:
    try:
        return build_endpoint_key(llm, os.environ)
    except PoorBenchError:
        return ""


def ask(content_hash: str, key: str, llm: LLM, request: ChatRequest) -> Outcome[Completion]:
    """Send one request; `key` is the name of the dask task."""
    control = CallControl(timeouts=llm.timeouts, cancelled=_leave_slot(key))
    return _note_error(lambda: _opened[content_hash].provider(llm).complete(request, control))


class ChunkTrial(NamedTuple):
    """One trial of a chunk."""

    request: ChatRequest
    start_s: float
    """When it may be sent, in seconds from the beginning of the chunk."""
    test_id: str
    """Says how its answer is scored; empty if it is not scored on this worker."""


ANSWER, SCORE = "answer", "score"
ChunkPart = tuple[str, int, Outcome[Any] | None]
"""`ANSWER` or `SCORE`, number of the trial, and what came of it; None if it has to be repeated."""


def ask_chunk(
    content_hash: str, key: str, topic: str, llm: LLM, trials: Sequence[ChunkTrial]
) -> None:
    """Ask trials one after another, and score each while the next ones are asked.

    An answer, and then its score, is told under `topic` as soon as it exists. After an error
    nothing more is asked: whoever sent the chunk knows when it pays to ask again.
    """
    cancelled = _leave_slot(key)
    opened, teller, started = _opened[content_hash], _ChunkTeller(topic, key), time.monotonic()
    control = CallControl(timeouts=llm.timeouts, cancelled=cancelled)
    scorings = []
    for number, trial in enumerate(trials):
        SystemClock().wait(trial.start_s - (time.monotonic() - started), cancelled)
        if cancelled():
            break
        answer = _try(partial(_ask, opened, llm, trial.request, control))
        teller.tell((ANSWER, number, answer))
        if not isinstance(answer, WorkDone):
            break
        if trial.test_id:
            result = Result(
                llm_id=llm.id, test_id=trial.test_id, **collect_facts(answer.value, llm.prices)
            )
            scorings.append(
                teller.threads.submit(_score_of_chunk, opened, result, number, teller, cancelled)
            )
    for scoring in scorings:
        scoring.result()
    teller.flush()


def _ask(
    opened: OpenedDefinitions, llm: LLM, request: ChatRequest, control: CallControl
) -> Completion:
    return opened.provider(llm).complete(request, control)


def _score_of_chunk(
    opened: OpenedDefinitions,
    result: Result,
    number: int,
    teller: _ChunkTeller,
    cancelled: Callable[[], bool],
) -> None:
    if cancelled():
        return

    def score() -> dict[str, Any]:
        test = opened.workspace.tests_by_id[result.test_id]
        scored = opened.scorer.score(result, test, cancelled)
        return {name: getattr(scored, name) for name in SCORED}

    teller.tell((SCORE, number, _try(score)))


def _try(do: Callable[[], Value]) -> Outcome[Value] | None:
    """Do something; None for an error that is not ours: it is repeated, and recorded, elsewhere."""
    try:
        return _note_error(do)
    except Exception:  # noqa: BLE001 - repeated where it is recorded
        return None


class _ChunkTeller:
    """Tells the client what came of a chunk; what comes within milliseconds goes together."""

    def __init__(self, topic: str, key: str) -> None:
        from distributed import get_worker

        self._worker = get_worker()
        self.threads = _open_scoring_threads(self._worker.state.nthreads)
        self._topic = topic
        self._key = key
        self._waiting: list[ChunkPart] = []
        self._lock = threading.Lock()

    def tell(self, part: ChunkPart) -> None:
        """Tell a part, at the latest after a moment."""
        with self._lock:
            is_first = not self._waiting
            self._waiting.append(part)
        if is_first:
            loop = self._worker.loop
            loop.add_callback(loop.call_later, _TOGETHER_S, self._send)

    def flush(self) -> None:
        """Tell what is left before dask tells that the task is done."""
        self._worker.loop.add_callback(self._send)

    def _send(self) -> None:
        with self._lock:
            parts, self._waiting = self._waiting, []
        if parts:
            self._worker.log_event(self._topic, pickle.dumps((self._key, parts)))


@lru_cache(maxsize=1)
def _open_scoring_threads(n_threads: int) -> ThreadPoolExecutor:
    """Open the threads that score answers of all chunks: as many as dask gives to a worker."""
    return ThreadPoolExecutor(n_threads, thread_name_prefix="score")


def preload(content_hash: str, key: str, llm: LLM) -> Outcome[float | None]:
    """Bring a model into memory; milliseconds, or None where no such step exists."""
    control = CallControl(timeouts=llm.timeouts, cancelled=_leave_slot(key))
    return _note_error(lambda: _opened[content_hash].provider(llm).preload(control))


def unload(content_hash: str, key: str, llm: LLM) -> Outcome[None]:
    """Free the memory of a model."""
    _leave_slot(key)
    return _note_error(lambda: _opened[content_hash].provider(llm).unload())


def check(content_hash: str, key: str, llm: LLM) -> Outcome[Reachability]:
    """Find out whether a model can be asked."""
    _leave_slot(key)
    return _note_error(lambda: _opened[content_hash].provider(llm).check())


def describe_server(content_hash: str, key: str, llm: LLM) -> Outcome[str]:
    """Find name and version of the server of a model; empty if it does not tell."""
    _leave_slot(key)
    return _note_error(lambda: _describe_server(_opened[content_hash], llm))


def _describe_server(opened: OpenedDefinitions, llm: LLM) -> str:
    provider = opened.provider(llm)
    return provider.describe_server() if isinstance(provider, TellsServer) else ""


def score(content_hash: str, key: str, result: Result) -> Outcome[Result]:
    """Score one response."""
    opened = _opened[content_hash]
    test = opened.workspace.tests_by_id[result.test_id]
    return _note_error(lambda: opened.scorer.score(result, test, _is_cancelled(key)))


def rescore(content_hash: str, key: str, results: Sequence[Result]) -> Outcome[list[Result]]:
    """Score stored responses again; one that cannot be scored has a failure."""
    opened = _opened[content_hash]
    cancelled = _is_cancelled(key)
    return _note_error(lambda: [_rescore_one(opened, result, cancelled) for result in results])


def _rescore_one(
    opened: OpenedDefinitions, result: Result, cancelled: Callable[[], bool]
) -> Result:
    item = JudgeItem(result, opened.workspace.tests_by_id[result.test_id])
    return score_again(item, opened.scorer, cancelled)[0]


def _note_error(do: Callable[[], Value]) -> Outcome[Value]:
    try:
        return WorkDone(do())
    except PoorBenchError as error:
        error.__cause__ = None  # may hold sockets
        return error


def _leave_slot(key: str) -> Callable[[], bool]:
    """Let the worker start other tasks: this one waits for a server and computes nothing."""
    from distributed import secede

    secede()
    return _is_cancelled(key)


def _is_cancelled(key: str) -> Callable[[], bool]:
    """Build a check for a task that nobody wants any more, as when the run or its process ended."""
    from distributed import get_worker

    tasks = get_worker().state.tasks

    def is_cancelled() -> bool:
        task = tasks.get(key)
        return task is None or task.state == "cancelled"

    return is_cancelled
