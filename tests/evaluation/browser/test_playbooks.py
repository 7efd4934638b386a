"""Playbooks in a real Chromium."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from poor_bench.errors import ConfigError
from poor_bench.evaluation.browser.playbook_file import load_playbook
from poor_bench.evaluation.browser.playbook_run import PlaybookRun
from poor_bench.evaluation.browser.session import ActionError
from tests.evaluation.browser.conftest import Trials
from tests.evaluation.browser.sites import Answer, Site

pytestmark = pytest.mark.browser
Serve = Callable[[Mapping[str, str | Answer]], Site]

FORM = """<title>Form</title>
<h1 id="task">Choose red, green and 12 pieces</h1>
<form action="/sent">
<label>Red <input type="checkbox" name="red"></label>
<label>Green <input type="checkbox" name="green"></label>
<label for="pieces">Pieces</label><input id="pieces" name="pieces">
<label for="size">Size</label>
<select id="size" name="size"><option value="s">Small</option><option value="l">Large</option>
</select>
<input type="search" placeholder="Find" name="q">
<button>Send</button></form>
<ul><li class="price" data-cents="100">€1</li><li class="price" data-cents="250">€2.50</li></ul>
<button type="button">Twice</button><button type="button">Twice</button>
<iframe id="inner"
 srcdoc="<button onclick='this.textContent=&quot;Inside&quot;'>Press</button>"></iframe>
<button type="button" onclick="if (confirm('Sure?')) this.remove()">Remove</button>
<a href="/next" target="_blank">New tab</a>
<button type="button" onclick="setTimeout(() => document.title = 'Late', 300)">Late</button>"""

EVERYTHING = """
params: {size: Large}
steps:
  - expect: {title_contains: Form, role: button, name: Send}
  - capture: {css: "#task", pattern: "Choose (?P<colours>.+) and (?P<pieces>[0-9]+) pieces"}
  - for_each:
      param: colour
      of: "{colours}"
      steps:
        - click: {label: "{colour}", exact: false}
  - when: {text: Not there, steps: [{press: Escape}]}
  - when: {role: button, name: Send, steps: [{type: {label: Pieces, value: "{pieces}"}}]}
  - select: {label: Size, option: "{size}"}
  - select: {label: Size, option: s}
  - select: {label: Size, option: "{size}"}
  - type: {placeholder: Find, value: "a b"}
  - extract: {key: prices, css: .price, all: true}
  - extract: {key: second.cents, css: .price, nth: 2, attribute: data-cents}
  - extract: {key: second.euros, css: .price, nth: 2, pattern: "€([0-9.]+)"}
  - extract: {key: typed, label: Pieces}
  - click: {role: button, name: Twice, nth: 2}
  - click: {role: button, name: Press, frame: "#inner"}
  - extract: {key: frame, role: button, frame: "#inner"}
  - scroll: down
  - click: {role: button, name: Remove}
  - wait: {role: button, name: Remove, absent: true}
  - wait: {seconds: 0.01}
  - click: {role: button, name: Send}
  - expect: {url_contains: "pieces=12"}
  - extract: {key: page}
  - back: true
  - click: {role: link, name: New tab}
  - expect: {text: The next page}
  - press: F2
  - done: {summary: "Sent {pieces}.", data: {size: "{size}", n.m: 1}}
  - click: {text: never reached}
"""


def test_every_kind_of_step_does_what_it_says(trials: Trials, serve: Serve) -> None:
    site = serve({"/": FORM, "/sent": "<p>Thank you</p>", "/next": "<p>The next page</p>"})
    outcome = trials.playbook(EVERYTHING, start_url=site.address)
    assert outcome.error == ""
    assert outcome.summary == "Sent 12."
    assert outcome.data == {
        "prices": ["€1", "€2.50"],
        "second": {"cents": "250", "euros": "2.50"},
        "typed": "12",
        "frame": "Inside",
        "page": "Thank you",
        "size": "Large",
        "n": {"m": 1},
    }
    assert (outcome.input_tokens, outcome.mode) == (0, "playbook")
    sent = next(path for path in site.asked if path.startswith("/sent"))
    assert sent == "/sent?red=on&green=on&pieces=12&size=l&q=a+b"


def test_every_step_is_told_with_what_happened_beside_it(trials: Trials, serve: Serve) -> None:
    site = serve({"/": FORM, "/next": "next"})
    written = (
        "steps:\n  - click: {role: button, name: Remove}\n  - click: {role: link, name: New tab}\n"
    )
    assert trials.playbook(written, start_url=site.address).success
    first, second = trials.steps
    assert (first.number, first.part, first.text) == (1, "playbook", 'click button "Remove"')
    assert first.action == {"action": "click", "role": "button", "name": "Remove"}
    assert "the page showed a dialog, which was accepted: 'Sure?'" in first.result
    assert "a new tab was opened" in second.result
    assert second.url == f"{site.address}/next"
    assert (trials.last_folder() / first.screenshot).read_bytes().startswith(b"\xff\xd8\xff")


FAULTY = {
    "click: {role: button, name: Twice}": '2 elements match button "Twice"; select one with `nth`',
    "expect: {url_contains: /cart}": "does not contain '/cart'",
    "select: {label: Size, option: Huge}": "known: 'Small', 'Large'",
    "capture: {css: '#task', pattern: '(?P<x>blue)'}": "does not match 'Choose red",
    "type: {label: Red, value: x, exact: false}": "this is not a text field; use `click`",
    "open: 'file:///etc/passwd'": "the scheme 'file' is refused",
    "press: NoSuchKey": "NoSuchKey",
}


def test_a_step_that_cannot_be_done_says_why(trials: Trials, serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "faulty.yaml"
    listed = "".join(f"  - {step}\n" for step in FAULTY)
    path.write_text(f"name: x\nsteps:\n{listed}", encoding="utf-8")
    with trials.session(start_url=serve({"/": FORM}).address) as session:
        run = PlaybookRun(session, {})
        for step, error in zip(load_playbook(path).steps, FAULTY.values(), strict=True):
            with pytest.raises(ActionError) as raised:
                run.do(step.kind, step.content)
            assert error in str(raised.value)


def test_the_error_of_a_playbook_names_the_line_of_the_step(trials: Trials, serve: Serve) -> None:
    outcome = trials.playbook(
        "steps:\n  - press: Tab\n  - expect: {title_contains: Cart}\n  - press: Tab\n",
        start_url=serve({"/": FORM}).address,
    )
    assert not outcome.success
    assert outcome.error.startswith("line 4: expect page: the title 'Form' does not contain")
    assert [step.error != "" for step in trials.steps] == [False, True]


def test_the_number_of_actions_is_limited(trials: Trials, serve: Serve) -> None:
    loop = "steps:\n  - for_each: {param: x, of: 'a, b, c', steps: [{press: Tab}]}\n"
    outcome = trials.playbook(loop, start_url=serve({"/": FORM}).address, max_steps=2)
    assert outcome.actions == 2
    assert "max_steps" in outcome.error


def test_facts_of_the_page_take_the_place_of_what_the_agent_says(
    trials: Trials, serve: Serve
) -> None:
    outcome = trials.playbook(
        "steps: [{done: {data: {page.title: made up}}}]\n",
        start_url=serve({"/": FORM}).address,
        read_at_end={"page.title": "document.title", "page.none": "no.such.thing"},
    )
    assert outcome.data == {"page": {"title": "Form", "none": None}}
    assert outcome.read_errors == {"page.none": "ReferenceError: no is not defined"}


def test_data_that_break_the_schema_are_no_success(trials: Trials, serve: Serve) -> None:
    outcome = trials.playbook(
        "steps: [{extract: {key: n, css: .price, nth: 1}}]\n",
        start_url=serve({"/": FORM}).address,
        output_schema={"type": "object", "properties": {"n": {"type": "number"}}},
    )
    assert not outcome.success
    assert "$.n: '€1' is not of type 'number'" in outcome.error


def test_downloads_stay_in_the_folder_of_the_trial(trials: Trials, serve: Serve) -> None:
    evil = {"Content-Disposition": 'attachment; filename="..%2f..%2fevil.sh"'}
    site = serve({"/": "<a href='/get'>Get</a>", "/get": Answer("#!/bin/sh", headers=evil)})
    written = "steps:\n  - click: {text: Get}\n  - wait: {seconds: 0.5}\n"
    assert trials.playbook(written, start_url=site.address).success
    (saved,) = (trials.last_folder() / "downloads").iterdir()
    assert saved.read_text() == "#!/bin/sh"
    assert saved.parent.parent == trials.last_folder()
    assert any("a file was downloaded: downloads/" in step.result for step in trials.steps)


def test_each_trial_has_a_fresh_profile(trials: Trials, serve: Serve) -> None:
    site = serve({"/": "<p id='c'></p><script>c.textContent = document.cookie || 'none';"
                       "document.cookie = 'seen=1; max-age=999'</script>"})  # fmt: skip
    for _ in range(2):
        outcome = trials.playbook(
            "steps: [{extract: {key: cookie, css: '#c'}}]\n", start_url=site.address
        )
        assert outcome.data == {"cookie": "none"}


def test_parameters_that_are_missing_are_a_mistake_of_the_suite(
    trials: Trials, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="needs the parameters order"):
        trials.playbook("params: {order: null}\nsteps: [{press: '{order}'}]\n")
