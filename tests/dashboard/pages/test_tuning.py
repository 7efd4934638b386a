from __future__ import annotations

from typing import Any

import pytest

from poor_bench.dashboard.pages.run import tuning
from poor_bench.dashboard.pages.run.layout import LINKS
from poor_bench.dashboard.url_state import RunUrl
from poor_bench.errors import ConfigError
from poor_bench.runs.history import RunHistory
from poor_bench.tuning.searches import SEARCHES, list_searches
from tests.dashboard.seen_text import text_of

PROMPT = ("x:1", "prompt", "math", "", 300, "")
PARAMETERS = ("x:1", "params", None, "temperature=0,0.4 top_k=1", 50, 2)


def test_a_search_is_a_command_of_the_console() -> None:
    command = tuning.write_command(*PROMPT)
    assert command == ["tune", "prompt", "--llm=x:1", "--budget-calls=300", "--", "math"]
    command = tuning.write_command(*PARAMETERS)
    assert command[:2] == ["tune", "params"]
    wanted = {"--param=temperature=0,0.4", "--param=top_k=1", "--max-cost=2.0"}
    assert wanted <= set(command)
    assert command[-2:] == ["--", "all"]


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        (2, None, "Select class"),
        (4, 0, "1 or more"),
        (4, "many", "1 or more"),
        (5, -1, "0 or more"),
    ],
)
def test_an_incomplete_choice_is_refused(field: int, value: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        tuning.write_command(*PROMPT[:field], value, *PROMPT[field + 1 :])


def test_files_of_the_server_cannot_be_sent_to_a_model() -> None:
    tried = "base_system_prompt=terse,@/etc/passwd"
    with pytest.raises(ConfigError, match="console only"):
        tuning.write_command(*PARAMETERS[:3], tried, *PARAMETERS[4:])


def test_stored_searches_are_listed_with_their_end(tmp_path: Any) -> None:
    header = {"run_id": "20261123T000000-aa", "kind": "prompt", "name": "<b>", "llm": "x:1"}
    with RunHistory(tmp_path, SEARCHES).writing("20261123T000000-aa", header) as journal:
        journal.append_record({"end": {"reason": "no_gain"}})
    shown = text_of(tuning.TABLE.draw(list_searches(tmp_path), LINKS, RunUrl()))
    assert "<b>" in shown
    assert "no gain" in shown
