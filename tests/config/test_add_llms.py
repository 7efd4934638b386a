from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from poor_bench.config.edit_entries import add_llms
from poor_bench.config.load import load_workspace
from poor_bench.errors import ConfigError
from tests.config.workspace_files import SCRIPTED, write_workspace


def listed_in(folder: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((folder / "llms.json").read_text("utf-8"))["llms"]
    return entries


def test_entries_are_added_at_the_end(tmp_path: Path) -> None:
    write_workspace(tmp_path)
    add_llms(tmp_path, [{"provider": "ollama", "name": "a"}, {"provider": "ollama", "name": "b"}])
    assert [llm.id for llm in load_workspace(tmp_path).llms] == [
        "scripted:demo",
        "ollama:a",
        "ollama:b",
    ]


def test_what_the_user_wrote_survives(tmp_path: Path) -> None:
    path = write_workspace(tmp_path) / "llms.json"
    content = {"_comment": "mine", "llms": [{**SCRIPTED, "_why": "ünïcode", "extra": 1e3}]}
    path.write_text(json.dumps(content, indent="\t", ensure_ascii=False), encoding="utf-8")
    add_llms(tmp_path, [{"provider": "ollama", "name": "a"}])
    content["llms"].append({"provider": "ollama", "name": "a"})  # type: ignore[attr-defined]
    expected = json.dumps(content, indent="\t", ensure_ascii=False)
    assert path.read_text(encoding="utf-8") == expected


def test_a_bare_list_stays_one(tmp_path: Path) -> None:
    path = write_workspace(tmp_path) / "llms.json"
    path.write_text(json.dumps([SCRIPTED]), encoding="utf-8")
    add_llms(tmp_path, [{"provider": "ollama", "name": "a"}])
    assert json.loads(path.read_text(encoding="utf-8")) == [
        SCRIPTED,
        {"provider": "ollama", "name": "a"},
    ]


def test_a_twin_leaves_the_id_of_the_listed_one_alone(tmp_path: Path) -> None:
    write_workspace(tmp_path, llms=[{"provider": "ollama", "name": "a"}])
    add_llms(tmp_path, [{"provider": "ollama", "name": "a", "parameters": {"think": True}}])
    assert [llm.id for llm in load_workspace(tmp_path).llms] == ["ollama:a", "ollama:a:true"]


@pytest.mark.parametrize(
    "entry", [SCRIPTED, {"provider": "ollama"}, {"provider": "ollama", "name": "a", "size": "x"}]
)
def test_an_entry_that_does_not_fit_leaves_the_file_untouched(
    tmp_path: Path, entry: dict[str, Any]
) -> None:
    path = write_workspace(tmp_path) / "llms.json"
    before = path.read_bytes()
    with pytest.raises(ConfigError):
        add_llms(tmp_path, [entry])
    assert path.read_bytes() == before


def test_a_file_that_cannot_be_parsed_is_untouched(tmp_path: Path) -> None:
    path = write_workspace(tmp_path) / "llms.json"
    path.write_text('{"llms": [', encoding="utf-8")
    with pytest.raises(ConfigError, match="1 problem"):
        add_llms(tmp_path, [{"provider": "ollama", "name": "a"}])
    assert path.read_text(encoding="utf-8") == '{"llms": ['


@pytest.mark.parametrize("content", ['{"llm": []}', '{"llms": {}}', "7"])
def test_a_file_without_a_list_is_refused(tmp_path: Path, content: str) -> None:
    path = write_workspace(tmp_path) / "llms.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError):
        add_llms(tmp_path, [{"provider": "ollama", "name": "a"}])


@pytest.mark.slow(reason="takes over a quarter of a second")
def test_two_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    write_workspace(tmp_path)
    barrier = threading.Barrier(8)

    def add(number: int) -> None:
        barrier.wait()
        add_llms(tmp_path, [{"provider": "ollama", "name": f"m{number}"}])

    threads = [threading.Thread(target=add, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = {entry["name"] for entry in listed_in(tmp_path)}
    assert names == {"demo", *(f"m{number}" for number in range(8))}
