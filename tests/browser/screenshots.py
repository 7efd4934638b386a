"""Take the screenshots of the README: `python -m tests.browser.screenshots docs/screenshots`.

Add names of pages to take only those: `... docs/screenshots judge suites`. They show what a user
sees: the real dashboard over real workspaces, in Chromium. For the pages Judge and Suites the runs
are really made, by the embedded LLM and by playbooks: it takes minutes.
"""

from __future__ import annotations

import argparse
import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.chromium import started_browser
from tests.browser.served import TOKEN, served
from tests.browser.watched import heading
from tests.forked import PROJECT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

RECORDED = PROJECT / "examples" / "recorded"
SIZE = {"width": 1440, "height": 900}
PATIENCE_MS = 60_000
_COLOURS = 256
_PAGES = ("overview", "model", "compare", "issues", "tests", "llms", "run")
_HEADINGS = {"llms": "Models"}
_JUDGE = "embedded:smollm2-135m:judge"
_SUITE_RUN = ("suite", "run", "example")
_RUNS = {
    "judge": (("judge", "run", "support_desk", "--judge", _JUDGE, "--repeat", "2"),),
    "suites": (_SUITE_RUN, _SUITE_RUN),
}
"""Pages that show runs of their own, and these."""


def main() -> None:
    """Take the screenshots that are wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="Where the files go.")
    parser.add_argument("--data", type=Path, default=RECORDED, help="The workspace to show.")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="Only these. Default: all.")
    arguments = parser.parse_args()
    known = (*_PAGES, *_RUNS)
    if unknown := [name for name in arguments.pages if name not in known]:
        parser.error(f"unknown: {', '.join(unknown)}; pages: {', '.join(known)}")
    wanted = arguments.pages or known
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        shown = {}
        if pages := [name for name in _PAGES if name in wanted]:
            shown[copied(arguments.data, scratch)] = pages
        if pages := [name for name in _RUNS if name in wanted]:
            shown[with_runs(scratch, pages)] = pages
        for workspace, pages in shown.items():
            with served(workspace) as address, started_browser() as browser:
                for name, content in screenshots(browser, address, pages):
                    path = arguments.folder / f"{name}.png"
                    path.write_bytes(content)
                    print(f"{path}: {len(content) / 1000:.0f} kB")


def copied(workspace: Path, scratch: str) -> Path:
    """Return a copy of a workspace, so that the original stays as it is."""
    return Path(shutil.copytree(workspace, Path(scratch) / workspace.name))


def with_runs(scratch: str, pages: Sequence[str]) -> Path:
    """Return a copy of the default workspace with the runs that these pages show."""
    workspace = copied(PROJECT / "data", scratch)
    for run in (run for page in pages for run in _RUNS[page]):
        command = [sys.executable, "main.py", "--data", str(workspace), *run]
        subprocess.run(command, cwd=PROJECT, check=True)
    return workspace


def screenshots(
    browser: Browser, address: str, pages: Sequence[str]
) -> Iterator[tuple[str, bytes]]:
    """Yield name and PNG of some pages, light and dark."""
    for scheme in ("light", "dark"):
        context = browser.new_context(
            base_url=address, viewport=SIZE, color_scheme=scheme, reduced_motion="reduce"
        )
        context.request.get(f"/?token={TOKEN}")
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        for name in pages:
            open_page(page, name)
            yield f"{name}-{scheme}", small_png(page.screenshot())
        context.close()


def open_page(page: Page, name: str) -> None:
    """Open a page and wait until everything in sight is there."""
    from playwright.sync_api import expect

    address = {"overview": "/", "run": "/run?redo=all"}.get(name, f"/{name}")
    page.goto(address)
    heading(page, _HEADINGS.get(name, name.capitalize()))
    expect(page.locator(".loading-state").first).not_to_be_in_viewport(timeout=PATIENCE_MS)
    expect(page.get_by_text("computing ...")).to_have_count(0, timeout=PATIENCE_MS)
    if name == "model":
        page.get_by_role("gridcell").first.wait_for()
        page.get_by_role("group", name="Issues").wait_for()
    if name in _RUNS:
        page.locator(".js-plotly-plot").first.wait_for()
    if name == "run":
        expect(page.get_by_text("Nothing is pending")).to_have_count(0, timeout=PATIENCE_MS)
    page.wait_for_load_state("networkidle")


def small_png(content: bytes) -> bytes:
    """Return a picture with a palette, which is a third of the size and looks the same."""
    from PIL import Image

    stream = io.BytesIO()
    picture = Image.open(io.BytesIO(content)).convert("RGB")
    picture.quantize(_COLOURS, kmeans=1, dither=Image.Dither.NONE).save(
        stream, "PNG", optimize=True
    )
    return stream.getvalue()


if __name__ == "__main__":
    main()
