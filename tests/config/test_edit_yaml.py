from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from poor_bench.config.edit_yaml import append_entry
from poor_bench.config.yaml_document import parse_yaml
from poor_bench.errors import ConfigError

ENTRY: dict[str, Any] = {
    "id": "new",
    "work_prompt_template": {"default": "two\n  lines: {text}\n"},
    "numbers_as_text": ["1e3", "012", "0x1F", "12:30", "yes", "null", "~", "- a", "# b", ""],
    "real": [1, 2.5, True, None, "ünïcode"],
}


def append(path: Path) -> None:
    append_entry(path, "classes", ENTRY, lambda _document, _report: None)


@pytest.mark.parametrize(
    "text",
    [
        "classes:\n- id: a\n",
        "# head\nclasses:\n  - id: a   # why\n    text: |\n      x\n\n  # tail\n",
        "classes:\n    - {id: a}",
        "classes:\n  - id: a\nversion: 1\n",
        "classes: []\nversion: 1\n",
        "classes: [{id: a}, {id: b},]\nversion: 1\n",
        '{"classes": [{"id": "a"}], "version": 1}',
        "classes: [] # none yet\n",
        '"classes":\n  - ü: "1"\n',
    ],
)
def test_an_entry_is_added_and_every_byte_before_it_kept(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text, encoding="utf-8")
    before = parse_yaml(text).data
    append(path)
    written = path.read_text(encoding="utf-8")
    after = parse_yaml(written).data
    assert after == {**before, "classes": [*before["classes"], ENTRY]}
    kept = [line for line in text.splitlines() if line.strip() and "[" not in line]
    assert [line for line in written.splitlines() if line in kept] == kept


def test_texts_of_several_lines_stay_readable(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("classes:\n- id: a\n", encoding="utf-8")
    append(path)
    assert "default: |\n      two\n        lines: {text}\n" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    ["classes:\n", "other: []\n", "[]", "classes: text\n", "[{id: a}]", "5"],
)
def test_a_list_of_another_form_is_left_to_the_user(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="cannot be added") as caught:
        append(path)
    assert "id: new" in caught.value.hint
    assert path.read_text(encoding="utf-8") == text
