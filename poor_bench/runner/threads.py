"""Threads of a run: an error that ends one stops the run, which raises it where it was started."""

from __future__ import annotations

import threading
from collections.abc import Callable

from poor_bench.errors import RunCancelledError
from poor_bench.runner.control import RunControl
from poor_bench.runner.work import Sink


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
