from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE_MS
from tests.browser.served import TOKEN, restartable
from tests.browser.watched import heading
from tests.browser.workspaces import to_run
from tests.conftest import WorkspaceFiles

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_pages_tell_of_a_killed_server_and_catch_up_after_its_restart(
    workspace_files: WorkspaceFiles, browser: Browser
) -> None:
    with restartable(to_run(workspace_files, n_tests=3)) as server:
        context = browser.new_context(base_url=server.address)
        context.set_default_timeout(PATIENCE_MS)
        context.request.get(f"/?token={TOKEN}")
        page = context.new_page()
        told: list[str] = []
        page.on("console", lambda message: told.append(message.text))
        page.goto("/run")
        expect(
            page.get_by_role("region", name="Plan").get_by_role("button", name="Start", exact=True)
        ).to_be_enabled()
        banner = page.locator("#shell-connection-banner")
        expect(banner).to_be_hidden()

        server.kill()
        expect(banner).to_contain_text("Server does not answer")
        expect(banner).to_be_visible()
        page.get_by_role("link", name="Tests", exact=True).click()
        workspace_files.add_tests(1)
        workspace_files.write()
        server.start(TOKEN)
        expect(banner).to_be_hidden()
        heading(page, "Tests")
        expect(page.get_by_text("4 tests in 1 class")).to_be_visible()

        server.kill()
        server.start("another-token-for-journeys")
        page.get_by_role("link", name="Run", exact=True).click()  # callbacks are refused
        expect(banner.get_by_text("Open the printed link: it ends with ?token=")).to_be_visible()
        context.request.get("/?token=another-token-for-journeys")
        expect(banner).to_be_hidden()
        # A message that cannot be drawn takes all later ones with it.
        assert [text for text in told if "Invalid action" in text] == []
        context.close()
