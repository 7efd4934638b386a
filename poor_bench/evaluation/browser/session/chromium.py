"""Where Chromium is, and how it is started."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING

from poor_bench.command_line import python_command
from poor_bench.errors import MissingExtraError

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Playwright

VARIABLE = "POOR_BENCH_CHROMIUM"
VIEWPORT_WIDTH, VIEWPORT_HEIGHT = 1024, 768
_ACTION_MS = 6_000
_NAVIGATION_MS = 20_000
_FLAGS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-default-apps", "--no-pings",
    "--dns-prefetch-disable", "--disable-domain-reliability", "--disable-breakpad",
    "--proxy-bypass-list=<-loopback>",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)  # fmt: skip
"""Everything that could pass the proxy by is off; Chromium itself cannot resolve a single name."""


def executable(environ: Mapping[str, str] = os.environ) -> str | None:
    """The Chromium of the variable, else of the path; None means Playwright's own."""
    return environ.get(VARIABLE) or shutil.which("chromium") or shutil.which("chromium-browser")


def require_playwright() -> AbstractContextManager[Playwright]:
    """Context manager that starts Playwright.

    Raises:
        MissingExtraError: If the package is not installed.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise MissingExtraError(
            "agents in a browser need the package playwright",
            hint=python_command("-m pip install", "playwright>=1.65")
            + ", and a Chromium, such as: apt-get install chromium",
        ) from error
    return sync_playwright()


def launch(
    playwright: Playwright, proxy_address: str, environ: Mapping[str, str], flag: str
) -> Browser:
    """Start Chromium with a fresh profile, all its traffic through a proxy.

    Its own sandbox is on where there can be one: not for root, and not where the system lets
    nobody else make one.

    Args:
        playwright: Starts it.
        proxy_address: The only way out.
        environ: The few variables that it needs are taken from here.
        flag: One more argument, by which its process is found.

    Raises:
        Error: Of Playwright, if it cannot be started.
    """
    from playwright.sync_api import Error

    start = partial(
        playwright.chromium.launch,
        executable_path=executable(environ),
        args=[*_FLAGS, flag],
        proxy={"server": proxy_address},
        handle_sigint=False,
        handle_sigterm=False,
        handle_sighup=False,
        env=_without_secrets(environ),
    )
    if os.geteuid() == 0:
        return start(chromium_sandbox=False)
    try:
        return start(chromium_sandbox=True)
    except Error as error:
        if "no usable sandbox" not in error.message.lower():
            raise
        return start(chromium_sandbox=False)


def fresh_context(browser: Browser) -> BrowserContext:
    """A context without cookies or history, whose calls do not wait for ever."""
    context = browser.new_context(
        viewport={"width": VIEWPORT_WIDTH, "height": VIEWPORT_HEIGHT},
        locale="en-US",
        reduced_motion="reduce",
        service_workers="block",
        accept_downloads=True,
    )
    context.set_default_timeout(_ACTION_MS)
    context.set_default_navigation_timeout(_NAVIGATION_MS)
    return context


def _without_secrets(environ: Mapping[str, str]) -> dict[str, str | float | bool]:
    """The few variables that Chromium needs; keys and passwords are none of them.

    Neither is TMPDIR: Chromium puts a socket there, and ends if the path is longer than 107 bytes.
    """
    needed = ("PATH", "HOME", "LANG", "FONTCONFIG_PATH", "XDG_RUNTIME_DIR")
    return {name: environ[name] for name in needed if name in environ}
