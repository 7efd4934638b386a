"""Threads of a run: an error that ends one stops the run, which raises it where it was started."""

from __future__ import annotations

import threading
from collections.abc import Callable

from poor_bench.errors import RunCancelledError
from poor_bench.runner.control import RunControl
from poor_bench.runner.work import Sink

_AWAKE_S = 0.5


def start_thread(
    work: Callable[[], None], name: str, progress: Sink, control: RunControl
) -> threading.Thread:
    """Start a thread that hands every error over to its run."""

    def guarded() -> None:
        try:
            work()
        except RunCancelledError:
            return
        except Exception as error:  # noqa: BLE001 - raised again by the run itself
            progress.abort(error)
            control.cancel()

    thread = threading.Thread(target=guarded, name=name, daemon=True)
    thread.start()
    return thread


def wait_for(thread: threading.Thread) -> None:
    """Return when a thread has ended.

    The main thread handles signals only when it is awake, and a signal does not always wake it.
    """
    while thread.is_alive():
        thread.join(_AWAKE_S)
