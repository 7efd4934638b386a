"""Credentials reach the origin that they belong to, and nothing else at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict

import pytest

from poor_bench.evaluation.browser.actions import _CLIPBOARD_KEYS, fill_credential
from poor_bench.evaluation.browser.observation import observe
from tests.evaluation.browser.conftest import Trials, scripted
from tests.evaluation.browser.sites import Answer, Site

pytestmark = pytest.mark.browser
Serve = Callable[[Mapping[str, str | Answer]], Site]

PASSWORD = 'hunter2 & "co"/é'
LOGIN = """<title>Sign in</title><form method="post" action="/welcome">
<label for="p">Password</label><input id="p" type="password" name="p">
<label for="u">PIN in plain sight</label><input id="u" name="u">
<button>Sign in</button></form>"""
ECHO = f"<p>You typed <b>{PASSWORD.replace('&', '&amp;')}</b></p>"
SIGN_IN = """steps:
  - type: {label: Password, credential: PASSWORD}
  - type: {label: PIN in plain sight, credential: PASSWORD, submit: true}
  - extract: {key: shown, css: b}
  - extract: {key: page}
"""


def test_they_are_typed_and_never_told(trials: Trials, serve: Serve) -> None:
    trials.environ["PASSWORD"] = PASSWORD
    site = serve({"/": LOGIN, "/welcome": ECHO})
    outcome = trials.playbook(
        SIGN_IN, start_url=site.address, credentials={"PASSWORD": site.address}
    )
    assert outcome.error == ""
    assert outcome.data["shown"] == "[PASSWORD]"
    told = json.dumps([asdict(step) for step in trials.steps]) + repr(outcome)
    assert "hunter2" not in told
    assert "typed the credential PASSWORD" in told
    for path in trials.last_folder().rglob("*"):
        assert b"hunter2" not in path.read_bytes()


def test_fields_that_hold_them_show_dots_and_observations_do_not_show_them(
    trials: Trials, serve: Serve
) -> None:
    trials.environ["PASSWORD"] = PASSWORD
    site = serve({"/": LOGIN + ECHO})
    page = {"start_url": site.address, "credentials": {"PASSWORD": site.address}}
    with trials.session(**page) as session:
        fill_credential(session, session.page.locator("#u"), "PASSWORD")
        session.page.locator("#p").fill("typed by hand")
        seen = observe(session)
        security = session.page.locator("#u").evaluate("e => e.style.webkitTextSecurity")
    assert security == "disc"
    assert "hunter2" not in repr(seen)
    assert "typed by hand" not in repr(seen)
    assert "You typed" in seen.text


@pytest.mark.parametrize(
    "key", ["Control+c", "Control+V", "Meta+x", "ControlOrMeta+Insert", "Copy"]
)
def test_keys_of_the_clipboard_are_known(key: str) -> None:
    assert _CLIPBOARD_KEYS.search(key)


@pytest.mark.parametrize("key", ["Enter", "c", "Control+a", "Shift+Tab", "Control+Enter", "Insert"])
def test_other_keys_are_not_keys_of_the_clipboard(key: str) -> None:
    assert not _CLIPBOARD_KEYS.search(key)


def test_the_clipboard_cannot_carry_them_elsewhere(trials: Trials, serve: Serve) -> None:
    trials.environ["PASSWORD"] = PASSWORD
    site = serve({"/": LOGIN})
    outcome = trials.playbook(
        "steps:\n  - press: Control+c\n  - type: {css: '#u', credential: PASSWORD}\n"
        "  - press: Control+a\n  - press: Control+c\n",
        start_url=site.address,
        credentials={"PASSWORD": site.address},
    )
    assert outcome.error.startswith("line 6: press Control+c: the clipboard is blocked")


def test_another_origin_does_not_get_them(trials: Trials, serve: Serve) -> None:
    trials.environ["PASSWORD"] = PASSWORD
    site, thief = serve({"/": LOGIN}), serve({"/": LOGIN})
    outcome = trials.playbook(
        SIGN_IN, start_url=thief.address, credentials={"PASSWORD": site.address}
    )
    assert not outcome.success
    assert f"belongs to {site.address} only" in outcome.error
    assert f"this part of the page is of {thief.address}" in outcome.error


def test_a_frame_of_another_origin_does_not_get_them(trials: Trials, serve: Serve) -> None:
    trials.environ["PASSWORD"] = PASSWORD
    thief = serve({"/": LOGIN})
    site = serve({"/": f"<iframe id='f' src='{thief.address}'></iframe>"})
    written = 'steps:\n  - type: {label: Password, credential: PASSWORD, frame: "#f"}\n'
    outcome = trials.playbook(
        written, start_url=site.address, credentials={"PASSWORD": site.address}
    )
    assert f"this part of the page is of {thief.address}" in outcome.error


def test_an_llm_may_ask_for_them_by_name_only(trials: Trials, serve: Serve) -> None:
    trials.environ["PASSWORD"] = PASSWORD
    site = serve({"/": LOGIN, "/welcome": ECHO})
    typing = {"action": "type", "ref": "e4", "submit": True}
    llm = scripted(
        {**typing, "credential": "AWS_SECRET_ACCESS_KEY"},
        {**typing, "credential": "PASSWORD"},
        {"action": "done", "summary": f"signed in with {PASSWORD}"},
    )
    outcome = trials.run(
        start_url=site.address, llm=llm, credentials={"PASSWORD": site.address}, max_steps=5
    )
    assert "credential 'AWS_SECRET_ACCESS_KEY' does not exist" in trials.steps[0].error
    assert trials.steps[1].error == ""
    assert trials.steps[1].url == f"{site.address}/welcome"
    assert outcome.summary == "signed in with [PASSWORD]"
