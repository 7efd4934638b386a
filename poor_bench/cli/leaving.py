"""End the process, whatever threads are still at work in native code."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from typing import NoReturn


def leave(code: int) -> NoReturn:
    """End the process with an exit code, after everything that was registered for its end.

    A background thread that is still inside a native library, such as a model in the middle of an
    answer that nobody waits for, would crash the ordinary way out as soon as it comes back.
    """
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    if not others or not all(thread.daemon for thread in others):
        sys.exit(code)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # nobody reads any more
            continue
    os._exit(code)
