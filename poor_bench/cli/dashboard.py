"""`dashboard`: serve the dashboard."""

from __future__ import annotations

import os
from pathlib import Path

import click

from poor_bench.cli.context import AppContext, pass_app

_EPILOG = """\b
Examples:
  python main.py dashboard                        http://127.0.0.1:8050
  python main.py dashboard --data my_bench --port 9000
  POOR_BENCH_PASSWORD=... python main.py dashboard --host 0.0.0.0
"""
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(epilog=_EPILOG)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to bind to.")
@click.option(
    "--port", type=click.IntRange(1, 65535), default=8050, show_default=True, help="Port."
)
@click.option(
    "--data",
    "data_dir",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="POOR_BENCH_DATA",
    help="The workspace folder.",
)
@click.option("--results", type=_FILE, envvar="POOR_BENCH_RESULTS", help="Another results file.")
@click.option("--llms", type=_FILE, envvar="POOR_BENCH_LLMS", help="Another file of LLMs.")
@pass_app
def command(
    app: AppContext,
    /,
    host: str,
    port: int,
    data_dir: Path | None,
    results: Path | None,
    llms: Path | None,
) -> int:
    """Serve the dashboard on this machine: browse results, compare LLMs, run tests.

    Any other address than 127.0.0.1 needs a password in the variable POOR_BENCH_PASSWORD.
    """
    from poor_bench.dashboard.web.server import serve

    for variable, path in (("POOR_BENCH_RESULTS", results), ("POOR_BENCH_LLMS", llms)):
        if path is not None:
            os.environ[variable] = str(path)
    return serve(data_dir or app.data_dir, host, port, click.echo)
