from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from poor_bench.evaluation import reports
from poor_bench.evaluation.models import EvalSuite
from poor_bench.evaluation.reports import report_to_html
from poor_bench.evaluation.runner import SuiteOptions, run_suite_now
from poor_bench.evaluation.scoring import score_case, score_suite
from poor_bench.evaluation.stored_run import find_suite_run
from tests.evaluation.builders import make_case

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
AGENTS = "tests.evaluation.agents"


class Tags(HTMLParser):
    """Collects tags with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def page_of(folder: Path, *cases: Any) -> str:
    suite = EvalSuite(name="demo <suite>", cases=cases)
    report = run_suite_now(suite, SuiteOptions(data_dir=folder))
    return report_to_html(report, find_suite_run(folder, report.run_id))


def test_page_shows_cases_checks_and_steps(tmp_path: Path) -> None:
    page = page_of(
        tmp_path,
        make_case(id="good", profile=f"{AGENTS}:echo"),
        make_case(id="flaky", profile=f"{AGENTS}:every_other", trials=2),
        make_case(id="broken", profile=f"{AGENTS}:broken"),
    )
    for words in ("good", "flaky", "opened", "trial 2: must_succeed", "no licence", "not run"):
        assert words in page
    images = [attributes for tag, attributes in Tags(page).found if tag == "img"]
    assert [str(image["src"])[:22] for image in images] == ["data:image/png;base64,"]


def test_hostile_text_is_only_text_and_nothing_is_asked_for(tmp_path: Path) -> None:
    case = make_case(profile=f"{AGENTS}:echo", directive=HOSTILE, metadata={HOSTILE: HOSTILE})
    page = page_of(tmp_path, case)
    tags = Tags(page).found
    assert "script" not in {tag for tag, _ in tags}
    assert not any(name.startswith("on") for _, attributes in tags for name in attributes)
    assert "demo &lt;suite&gt;" in page
    addresses = [
        value for _, given in tags for key, value in given.items() if key in {"src", "href"}
    ]
    assert all(str(address).startswith(("#", "data:")) for address in addresses)
    policy = next(given["content"] for tag, given in tags if "http-equiv" in given)
    assert "default-src 'none'" in str(policy)
    assert "img-src data:" in str(policy)


def test_screenshots_beyond_the_room_are_left_out_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "_ROOM_BYTES", 0)
    page = page_of(tmp_path, make_case(profile=f"{AGENTS}:echo"))
    assert "<img" not in page
    assert "1 screenshots are omitted" in page


def test_report_without_a_run_has_no_steps() -> None:
    report = score_suite("bare", [score_case(make_case(), [])])
    assert "not run" in report_to_html(report, None)
