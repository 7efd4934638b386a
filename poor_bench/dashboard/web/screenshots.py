"""Serve the screenshots of runs of suites, and no other file."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from poor_bench.dashboard.services.suite_runs import SuiteRuns

if TYPE_CHECKING:
    from flask import Flask, Response

_PATH = "/suite-screenshots"


def screenshot_address(run_id: str, case_id: str, trial: int, name: str) -> str:
    """Return where a screenshot is served.

    Example:
        >>> screenshot_address("20261122T025424-3a7b0f", "search", 1, "step 1.png")
        '/suite-screenshots/20261122T025424-3a7b0f/search/1/step%201.png'
    """
    return "/".join((_PATH, quote(run_id, ""), quote(case_id, ""), str(trial), quote(name, "")))


def serve_screenshots(server: Flask, runs: SuiteRuns) -> None:
    """Give a server the addresses of `screenshot_address`; images only, whatever a file holds."""
    from flask import Response, abort

    @server.get(f"{_PATH}/<run_id>/<case_id>/<int:trial>/<name>")
    def screenshot(run_id: str, case_id: str, trial: int, name: str) -> Response:
        image = runs.screenshot(run_id, case_id, trial, name)
        if image is None:
            abort(404)
        return Response(image.data, mimetype=image.content_type)
