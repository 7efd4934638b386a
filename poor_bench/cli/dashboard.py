"""`dashboard`: serve the dashboard."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import click

from poor_bench.cli.context import DEFAULT_FOLDER, AppContext, pass_app
from poor_bench.cli.sandbox import sandbox_option
from poor_bench.command_line import use_workspace, write_examples

_EPILOG = write_examples(
    """
  {program} dashboard                        at 127.0.0.1:8050
  {program} dashboard --data my_bench --port 9000
  POOR_BENCH_PASSWORD=... {program} dashboard --host 0.0.0.0
"""
)
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(epilog=_EPILOG)
@click.option("--host", default="127.0.0.1", help="Address to bind to.")
@click.option("--port", type=click.IntRange(1, 65535), default=8050, help="Port.")
@click.option(
    "--results",
    type=_FILE,
    envvar="POOR_BENCH_RESULTS",
    help="Results file. Default: results.json in the workspace.",
)
@click.option(
    "--llms",
    type=_FILE,
    envvar="POOR_BENCH_LLMS",
    help="File of models. Default: llms.json in the workspace.",
)
@click.option(
    "--open/--no-open",
    "is_opened",
    default=None,
    help="Open the link in a browser. Default: on a terminal of a desktop.",
)
@sandbox_option
@pass_app
def command(
    app: AppContext,
    /,
    host: str,
    port: int,
    is_opened: bool | None,
    results: Path | None,
    llms: Path | None,
) -> int:
    """Serve the dashboard on this machine: browse results, compare models, run tests.

    Open the link that it prints: its token keeps other users of this machine out. Each start has
    a new token unless the variable POOR_BENCH_TOKEN holds one. Any other address than 127.0.0.1
    needs a password in the variable POOR_BENCH_PASSWORD.
    """
    from poor_bench.dashboard.web.server import serve

    for variable, path in (("POOR_BENCH_RESULTS", results), ("POOR_BENCH_LLMS", llms)):
        if path is not None:
            os.environ[variable] = str(path)
    is_wanted = _has_desktop() if is_opened is None else is_opened
    open_link = _open_link if is_wanted else None
    if app.data_dir != DEFAULT_FOLDER:
        use_workspace(app.data_dir)  # pasted into another shell, which may lack our variables
    # Programs inherit what is ignored: in the background of a script, Ctrl-C is, and no run that we
    # start could be cancelled.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return serve(app.data_dir, host, port, click.echo, open_link)


def _has_desktop() -> bool:
    """True if a browser can open on a screen of this machine."""
    is_shown = sys.platform in {"darwin", "win32"} or any(
        os.environ.get(variable) for variable in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    return is_shown and sys.stdout.isatty() and not os.environ.get("SSH_CONNECTION")


def _open_link(link: str) -> None:
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()
