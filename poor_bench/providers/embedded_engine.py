"""Models in memory: llama.cpp's server inside this process, through xllamacpp.

One engine serves all LLMs that differ only in their parameters.

Measured on two cores with the smallest model, 40 tokens a reply: two requests at once finish 13 %
more work, four 20 %, but then a reply depends on what else is computed in the same batch. The same
holds for prompts that are continued from an earlier request's (6 of 20 greedy replies stayed the
same). So by default one request is computed at a time and every prompt from its beginning: a run
can be repeated token by token.
"""

from __future__ import annotations

import atexit
import os
import secrets
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from poor_bench.command_line import write_python_command
from poor_bench.errors import ProviderError, RunCancelledError
from poor_bench.models.failure import FailureKind
from poor_bench.providers.error_reply import join_lines

if TYPE_CHECKING:
    from xllamacpp import CommonParams, Server


LIBRARY_DECIDES = -1
"""llama.cpp's own choice: the physical cores of the machine."""


def count_compute_threads() -> int:
    """Count one thread for each physical core that this process may use.

    llama.cpp itself counts all cores of the machine, also those that a container or `taskset`
    withholds, and is many times slower with more threads than cores. Only Linux tells more.
    """
    if sys.platform != "linux":
        return LIBRARY_DECIDES
    cores = count_physical_cores(os.sched_getaffinity(0), Path("/sys/devices/system/cpu"))
    return max(1, min(cores, count_quota_cores(Path("/sys/fs/cgroup/cpu.max"))))


def count_physical_cores(cpus: Iterable[int], topology: Path) -> int:
    """Count the physical cores on which the given logical ones lie.

    Args:
        cpus: Numbers of logical cores.
        topology: Folder with one folder `cpuN` each.

    Source:
        Linux, Documentation/ABI/stable/sysfs-devices-system-cpu.
    """
    return len({_find_siblings(topology / f"cpu{cpu}" / "topology", cpu) for cpu in cpus})


def count_quota_cores(limit: Path) -> int:
    """Count the whole cores of a container's quota; a very large number without a quota.

    Source:
        Linux, Documentation/admin-guide/cgroup-v2.rst, cpu.max: quota and period in microseconds.
    """
    try:
        quota, period = limit.read_text().split()
        return max(1, int(quota) // int(period))
    except (OSError, ValueError):
        return sys.maxsize


def _find_siblings(topology: Path, cpu: int) -> str:
    try:
        return (topology / "thread_siblings_list").read_text().strip()
    except OSError:
        return str(cpu)


_SILENT = -1
_BATCH_TOKENS = 256
"""Prompt tokens computed in one go; between two, a request can be stopped."""
_LONGEST_STOP_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """What a model is loaded with; LLMs that agree in it share one engine."""

    path: Path
    context_tokens: int
    """Prompt and reply of one request together."""
    slots: int
    """Requests computed at once."""


class Engine:
    """A loaded model; called from several threads.

    It has to be closed before Python ends: a thread that is still inside llama.cpp would take the
    process down with it.
    """

    def __init__(self, settings: EngineSettings) -> None:
        """Load the model, which takes from half a second to minutes.

        Raises:
            ProviderError: If it cannot be loaded.
        """
        started = time.perf_counter()
        self._server: Server | None = _start_server(settings)
        self.load_ms = (time.perf_counter() - started) * 1000
        self._under_way: set[Generation] = set()
        self._lock = threading.Lock()

    @property
    def address(self) -> str:
        """URL that llama.cpp listens on, which lets nobody in."""
        return str(self._server.listening_address) if self._server else ""

    def generate(
        self, body: Mapping[str, Any], check: Callable[[], None]
    ) -> Generator[Piece, None, None]:
        """Yield the pieces of a reply as they are computed; closing the generator ends that.

        Args:
            body: A request in llama.cpp's form of OpenAI's chat completions, with `stream`.
            check: Called several times a second; raises when the reply is no longer wanted.

        Raises:
            ProviderError: If llama.cpp cannot read the request.
            RunCancelledError: If the engine was closed.
        """
        generation = self._begin(body)
        try:
            yield from generation.pieces(check)
        finally:
            generation.stop()

    def close(self) -> None:
        """End what is being computed and free the memory."""
        with self._lock:
            self._server = None
            left = tuple(self._under_way)
        for generation in left:
            generation.abandon()
        for generation in left:
            generation.join(_LONGEST_STOP_S)

    def _begin(self, body: Mapping[str, Any]) -> Generation:
        with self._lock:
            if self._server is None:
                raise RunCancelledError("the model is being unloaded")
            generation = Generation(partial(_compute, self._server, dict(body)), self._forget)
            self._under_way.add(generation)
            generation.start()
            return generation

    def _forget(self, generation: Generation) -> None:
        with self._lock:
            self._under_way.discard(generation)


def _compute(server: Server, body: dict[str, Any], take: Callable[[Piece], bool]) -> None:
    try:
        server.handle_chat_completions(body, take)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ProviderError(
            f"llama.cpp cannot read the request: {join_lines(str(error))}",
            kind=FailureKind.BAD_REQUEST,
            hint="see the parameters of the LLM, such as response_format",
        ) from error


def _start_server(settings: EngineSettings) -> Server:
    """Load a model and wait until its server is at work.

    A server that is freed before its loop runs never ends (xllamacpp 2026.10); one token computed
    shows that it does, and takes the place of llama.cpp's own warm-up.
    """
    xllamacpp = require_library()
    try:
        server = xllamacpp.Server(_build_parameters(xllamacpp.CommonParams(), settings))
        server.handle_completions({"prompt": "a", "max_tokens": 1})
        return server
    except RuntimeError as error:
        raise ProviderError(
            f"the model's file {settings.path} cannot be loaded",
            kind=FailureKind.MODEL_NOT_FOUND,
            hint="is it a complete GGUF file, and is there memory enough for it and its context?",
        ) from error


def require_library() -> Any:
    """Import llama.cpp's module.

    Its threads wait for each other by spinning. With nothing else running that is the fastest way,
    but where other programs want the cores too it costs ten times the time and more; a short spin
    before going to sleep costs 5 % in the first case and spares most of it in the second.

    Raises:
        ProviderError: If it is not installed or misses a library of the system.
    """
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")
    try:
        import xllamacpp
    except ImportError as error:
        raise ProviderError(
            f"llama.cpp cannot be loaded: {error}",
            kind=FailureKind.MODEL_NOT_FOUND,
            hint=_find_library(str(error)),
        ) from error
    return xllamacpp


def _find_library(reason: str) -> str:
    if "libgomp" in reason:
        return "install the system's OpenMP library: `apt-get install libgomp1` (Debian, Ubuntu)"
    return f"install the requirements: {write_python_command('-m pip install -r requirements.txt')}"


def _build_parameters(parameters: CommonParams, settings: EngineSettings) -> CommonParams:
    """Fill in llama.cpp's settings.

    The server also listens on a loopback port, which cannot be switched off; a key that nobody
    knows keeps everybody out.
    """
    threads = count_compute_threads()
    parameters.model.path = str(settings.path)
    parameters.n_ctx = settings.context_tokens * settings.slots
    parameters.n_parallel = settings.slots
    parameters.n_batch = parameters.n_ubatch = _BATCH_TOKENS
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.cache_ram_mib = 0
    parameters.warmup = False
    parameters.verbosity = _SILENT
    parameters.api_keys = [secrets.token_urlsafe()]
    parameters.ui = False
    parameters.endpoint_slots = False
    return parameters


class EnginePool:
    """Loads an engine for its first holder and frees it after its last, or when Python ends."""

    def __init__(self, load: Callable[[EngineSettings], Engine] = Engine) -> None:
        self._load = load
        self._engines: dict[EngineSettings, Engine] = {}
        self._n_holders: Counter[EngineSettings] = Counter()
        self._lock = threading.Lock()

    def take(self, settings: EngineSettings) -> tuple[Engine, float]:
        """Take an engine; also tell in how many milliseconds it was loaded, 0 if it was there.

        Raises:
            ProviderError: If it cannot be loaded.
        """
        with self._lock:
            engine = self._engines.get(settings)
            load_ms = 0.0
            if engine is None:
                engine = self._engines[settings] = self._load(settings)
                load_ms = engine.load_ms
                atexit.register(engine.close)
            self._n_holders[settings] += 1
            return engine, load_ms

    def give_back(self, settings: EngineSettings) -> None:
        """Tell that one holder no longer needs its engine."""
        with self._lock:
            self._n_holders[settings] -= 1
            if self._n_holders[settings]:
                return
            engine = self._engines.pop(settings)
            engine.close()
            atexit.unregister(engine.close)


ENGINES = EnginePool()
"""Of this process: memory is shared, whoever asks."""


_LOOK_EVERY_S = 0.05


Piece = Mapping[str, Any]


Compute = Callable[[Callable[[Piece], bool]], None]
"""Computes a reply and hands over each piece; stops when handing over returns true."""


class Generation:
    """Computes one reply; to be used once."""

    def __init__(self, compute: Compute, ended: Callable[[Generation], None]) -> None:
        """Compute nothing yet.

        Args:
            compute: Does the work; raises ProviderError where the request makes no sense.
            ended: Is told when the computation has really ended.
        """
        self._ended = ended
        self._pieces: SimpleQueue[Piece | ProviderError | RunCancelledError | None] = SimpleQueue()
        self._stopped = threading.Event()
        self._thread = threading.Thread(
            target=self._work, args=(compute,), name="poor-bench-embedded", daemon=True
        )

    def start(self) -> None:
        """Begin to compute."""
        self._thread.start()

    def pieces(self, check: Callable[[], None]) -> Iterator[Piece]:
        """Yield the pieces of the reply as they are computed.

        Args:
            check: Called several times a second; raises when the reply is no longer wanted.

        Raises:
            ProviderError: If the request makes no sense.
            RunCancelledError: If the generation was abandoned.
        """
        while True:
            check()
            try:
                piece = self._pieces.get(timeout=_LOOK_EVERY_S)
            except Empty:
                continue
            if piece is None:
                return
            if isinstance(piece, Exception):
                raise piece
            yield piece

    def stop(self) -> None:
        """Let the computation end at its next step."""
        self._stopped.set()

    def abandon(self) -> None:
        """Stop, and tell whoever waits for pieces."""
        self._stopped.set()
        self._pieces.put(RunCancelledError("the model is being unloaded"))

    def join(self, seconds: float) -> None:
        """Wait until the computation has ended, but not longer than `seconds`."""
        self._thread.join(seconds)

    def _work(self, compute: Compute) -> None:
        try:
            compute(self._take)
        except ProviderError as error:
            self._pieces.put(error)
        finally:
            self._pieces.put(None)
            self._ended(self)

    def _take(self, piece: Piece) -> bool:
        if self._stopped.is_set():
            return True
        self._pieces.put(piece)
        return False
