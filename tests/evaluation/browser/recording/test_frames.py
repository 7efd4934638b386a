"""Recording what was done within frames, in a real Chromium."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from poor_bench.errors import ConfigError
from poor_bench.evaluation.recording import record_playbook
from tests.evaluation.browser.conftest import Trials, scripted
from tests.evaluation.browser.sites import Answer, Site

pytestmark = pytest.mark.browser
Serve = Callable[[Mapping[str, str | Answer]], Site]
OUTER = (
    "<title>Shop</title><h1>Shop</h1><iframe src='/other'></iframe><iframe src='{src}'></iframe>"
)
FORM = """<label for=q>Search</label><input id=q>
<button onclick="n.textContent = 'Bought ' + q.value">Buy</button><p id=n>Nothing</p>"""
OTHER = "<p>Other</p><button>Buy</button>"
DEEP = "<iframe src='/form'></iframe>"
DONE = {"action": "done", "summary": "Bought it."}


def act(trials: Trials, site: Site, prefix: str) -> None:
    llm = scripted(
        {"action": {"action": "type", "ref": f"{prefix}e2", "text": "teapot"}},
        {"action": {"action": "click", "ref": f"{prefix}e3"}},
        {"action": DONE},
    )
    outcome = trials.run(start_url=site.address, llm=llm)
    assert outcome.success
    assert [step.error for step in trials.steps] == ["", "", ""]


def written(trials: Trials) -> str:
    return record_playbook(trials.steps, name="x", description="", params={})


def test_elements_of_a_frame_are_found_again(trials: Trials, serve: Serve) -> None:
    site = serve({"/": OUTER.format(src="/form"), "/form": FORM, "/other": OTHER})
    act(trials, site, "f2")
    text = written(trials)
    path = trials.folder / "recorded.yaml"
    path.write_text(text.replace("- done", f"- expect: {_BOUGHT}\n- done"))
    outcome = trials.run(playbook=path, execution_mode="playbook_only", start_url=site.address)
    assert (outcome.success, outcome.error) == (True, "")


_BOUGHT = "{text: Bought teapot, frame: 'iframe:nth-of-type(2)'}"


ASKS_LATE = "<script>setTimeout(() => fetch('/late'), 500)</script>"
WAITS = "<body><script src='/wait.js'></script>"


def test_an_agent_sees_at_first_what_a_frame_loads_late(trials: Trials, serve: Serve) -> None:
    script = Answer(headers={"Content-Type": "text/javascript"}, after="/late")
    page = ASKS_LATE + OUTER.format(src="/form")
    site = serve({"/": page, "/form": WAITS + FORM, "/wait.js": script, "/other": OTHER})
    act(trials, site, "f2")


def test_a_frame_within_a_frame_is_told_and_makes_no_playbook(trials: Trials, serve: Serve) -> None:
    pages: dict[str, Any] = {"/": OUTER.format(src="/deep"), "/deep": DEEP}
    site = serve({**pages, "/form": FORM, "/other": OTHER})
    act(trials, site, "f3")
    with pytest.raises(ConfigError, match="step 1 cannot be recorded") as raised:
        written(trials)
    assert "frame inside a frame" in raised.value.hint
    assert not list(Path(trials.folder).glob("recorded*"))
