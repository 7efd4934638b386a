"""Files and replies that are nested without end are refused by one reader, not met by a crash."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import poor_bench
from poor_bench.config.document import UnreadableError
from poor_bench.config.json_document import parse_json
from poor_bench.errors import ConfigError
from poor_bench.importers.rows import read_rows
from poor_bench.models.llm import LLM
from poor_bench.providers.error_reply import hide_key_in_reply, parse_error_reply
from poor_bench.providers.scripted import load_script
from poor_bench.providers.transport.reply import MalformedJsonError, load_json
from poor_bench.safe_files import MAX_DEPTH, TooDeepError, load_json_text

DEEP = "[" * 30_000
CLOSED = '{"a":' * 900 + "1" + "}" * 900


@pytest.mark.parametrize("text", [DEEP, "{a: " * 30_000, "- " * 30_000, CLOSED])
def test_a_deep_script_is_a_mistake_of_its_file(text: str, tmp_path: Path) -> None:
    (tmp_path / "script.yaml").write_text(text)
    llm = LLM(id="scripted:a", provider="scripted", name="a", parameters={"script": "script.yaml"})
    with pytest.raises(ConfigError, match=f"nested more than {MAX_DEPTH} levels"):
        load_script(llm, tmp_path)


@pytest.mark.parametrize("text", [DEEP, CLOSED])
@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_deep_rows_are_a_mistake_of_their_file(suffix: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows.{suffix}"
    path.write_text(text)
    with pytest.raises(ConfigError, match=f"nested more than {MAX_DEPTH} levels"):
        list(read_rows(path))


@pytest.mark.parametrize("text", [DEEP, CLOSED])
def test_a_deep_file_of_a_workspace_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableError, match=f"nested more than {MAX_DEPTH} levels"):
        parse_json(text)


@pytest.mark.parametrize("text", [DEEP, CLOSED])
def test_a_deep_reply_of_a_server_is_malformed(text: str) -> None:
    with pytest.raises(MalformedJsonError):
        load_json(text.encode())
    error = parse_error_reply(500, text.encode())
    assert len(error.message) < 1_000
    assert hide_key_in_reply(text.encode(), "secret-key-1")


@pytest.mark.parametrize(
    "text", ["[" * MAX_DEPTH + "]" * MAX_DEPTH, '["' + "[" * 500 + '\\"{"]', "[[],[]," * 50 + "0"]
)
def test_only_open_brackets_outside_of_texts_count(text: str) -> None:
    try:
        load_json_text(text)
    except TooDeepError:
        pytest.fail("refused")
    except ValueError:
        pass


@pytest.mark.slow(reason="reads the whole package")
def test_all_texts_of_others_are_read_by_that_reader() -> None:
    root = Path(poor_bench.__file__).parent
    found = {
        f"{path.relative_to(root).as_posix()}: {ast.unparse(node)}"
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in {"yaml.safe_load", "json.loads", "json.load", "yaml.load"}
    }
    assert {line.partition(":")[0] for line in found} == OF_OURS | {"safe_files.py"}, found


OF_OURS = {
    "config/json_document.py",  # one key, cut out by a pattern
    "config/edit_json.py",  # what was just written
    "generators/reasoning_gym.py",  # what was just written
    "importers/code_datasets.py",  # what was just written
}
