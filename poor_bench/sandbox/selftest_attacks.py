"""What hostile programs try; each function is sent into the sandbox as source.

It returns evidence if it got through, and an empty text or an exception if not. None does harm
where it gets through: what is signalled or overwritten was made for that.
"""

from __future__ import annotations


def reach_outside() -> str:
    """Find a way to an address that belongs to nobody; nothing is sent."""
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 53))
        return f"has a route from {probe.getsockname()[0]}"


def reach_loopback(port: int) -> str:
    """Connect to a port of this machine."""
    import socket

    with socket.create_connection(("127.0.0.1", port), timeout=1):
        return f"connected to port {port}"


def reach_unix_socket(name: str) -> str:
    """Connect to a socket of this machine."""
    import socket

    with socket.socket(socket.AF_UNIX) as probe:
        probe.connect(name)
        return f"connected to {name!r}"


def read_files(*paths: str) -> str:
    """Read the first of some files that can be read."""
    from pathlib import Path

    for path in map(Path, paths):
        try:
            return f"{path} holds {path.read_bytes()[:20]!r}"
        except OSError:
            continue
    return ""


def find_secret(secret: str, parent: int) -> str:
    """Look for a secret in every environment within reach."""
    import os
    from pathlib import Path

    for process in ("self", 1, os.getppid(), parent):
        try:
            if secret.encode() in Path(f"/proc/{process}/environ").read_bytes():
                return f"read it from /proc/{process}/environ"
        except OSError:
            continue
    return "found it in the environment" if secret in str(dict(os.environ)) else ""


def look_at_processes(parent: int) -> str:
    """List other processes, and look at one."""
    import os
    from pathlib import Path

    names = [path.name for path in Path("/proc").iterdir()]
    others = [name for name in names if name.isdigit() and name != str(os.getpid())]
    if str(parent) in others:
        return f"{parent} runs {Path(f'/proc/{parent}/cmdline').read_bytes()[:40]!r}"
    return f"sees processes {others[:5]}" if others else ""


def write_files(*paths: str) -> str:
    """Overwrite files."""
    from pathlib import Path

    written = []
    for path in paths:
        try:
            Path(path).write_text("overwritten")
            written.append(path)
        except OSError:
            continue
    return f"wrote {written}" if written else ""


def change_rights(path: str) -> str:
    """Open a file to everybody."""
    from pathlib import Path

    Path(path).chmod(0o777)
    return f"changed the rights of {path}"


def signal_process(process: int) -> str:
    """Ask a process to end."""
    import os
    import signal

    os.kill(process, signal.SIGTERM)
    return f"sent SIGTERM to {process}"


def start_program() -> str:
    """Start another program."""
    import subprocess
    import sys

    command = [sys.executable, "-c", "print('ran')"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def fork_many() -> str:
    """Fork until it fails, within reason."""
    import os
    import time

    n_started = 0
    try:
        while n_started < 200:
            if os.fork() == 0:
                time.sleep(5)
                os._exit(0)
            n_started += 1
    except OSError:
        pass
    return f"started {n_started} processes" if n_started else ""


def start_threads(limit: int) -> str:
    """Start four times the threads that are allowed, each with little memory, and keep them."""
    import _thread

    _thread.stack_size(32768)
    lock = _thread.allocate_lock()
    lock.acquire()
    n_started = 0
    try:
        while n_started < 4 * limit:
            _thread.start_new_thread(lock.acquire, ())
            n_started += 1
    except RuntimeError:
        return ""
    lock.acquire(timeout=1)
    return f"started {n_started} threads"


def take_memory(limit: int) -> str:
    """Take twice the memory that is allowed."""
    piece = limit // 16
    taken: list[bytearray] = []
    try:
        while len(taken) < 32:
            taken.append(bytearray(piece))
    except MemoryError:
        return ""
    return f"took {len(taken) * piece >> 20} MiB"


def flood_output(limit: int) -> str:
    """Write twice the output that is allowed."""
    import os

    n_written = 0
    try:
        while n_written < 2 * limit:
            n_written += os.write(1, b"x" * 65536)
    except OSError:
        return ""
    return f"wrote {n_written >> 20} MiB"


def loop_forever() -> str:
    """Never return."""
    while True:
        pass


def leave_daemon() -> str:
    """Leave a process behind that has detached itself and goes on writing."""
    import os
    import time

    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for _ in range(100):
                os.write(1, b"still here")
                time.sleep(0.05)
        os._exit(0)
    return "started a daemon"


def leave_at_once() -> None:
    """End the process as if all were well."""
    import os

    os._exit(0)


def exit_politely() -> None:
    """End the program as if all were well."""
    import sys

    sys.exit(0)


def kill_itself() -> None:
    """Die by a signal."""
    import os

    os.kill(os.getpid(), 9)


def crash() -> None:
    """Die by reading outside of memory."""
    import ctypes

    ctypes.string_at(0)


def forge_replies() -> object:
    """Write what a passed test or a right answer would look like to every descriptor."""
    import marshal
    import os
    import struct

    class AlwaysEqual:
        def __eq__(self, _other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]  # as Python sets it beside __eq__

    messages = [
        ("checked", "passed", None, ("loaded",), "", False),
        ("returned", True),
        ("ready",),
        ("loaded",),
    ]
    for message in messages:
        content = marshal.dumps(message, 2)
        for descriptor in range(64):
            try:
                os.write(descriptor, struct.pack(">I", len(content)) + content)
            except OSError:
                continue
    return AlwaysEqual()


def find_answer(mark: str) -> str:
    """Look for a text that begins with a mark in all that can be inspected."""
    import gc
    import sys

    seen = [str(item) for item in gc.get_objects() if isinstance(item, dict | list | tuple)]
    for frame in sys._current_frames().values():
        outer = frame
        while outer.f_back is not None:
            outer = outer.f_back
            seen.append(str(outer.f_locals))
    start = mark + "-"
    for text in seen:
        position = text.find(start)
        if position >= 0:
            return text[position : position + len(start) + 16]
    return ""
