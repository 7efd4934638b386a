"""Every code block of docs/python.md runs, in order, and yields what its comments say."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.specification import CLASSES
from tests.providers.servers import ollama_format, openai_format
from tests.providers.servers.fake_server import FakeServer, serving

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
LOCAL_SERVER = "http://127.0.0.1:8080"


def code_blocks(page: str) -> list[str]:
    return [part.partition("\n```\n")[0] for part in page.split("\n```python\n")[1:]]


@pytest.fixture
def servers() -> Iterator[tuple[FakeServer, FakeServer]]:
    with (
        serving(ollama_format.ollama(ollama_format.reply("hi"))) as ollama,
        serving(lambda _request: openai_format.reply("hi")) as openai,
    ):
        yield ollama, openai


@pytest.fixture
def _workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "data"
    data.mkdir()
    evaluator = {"name": "math_evaluator", "parameters": {"expected_answer": 4}}
    test = {"class_id": "math", "level": 1, "text": "2 + 2", "evaluation_module": evaluator}
    tests = [{"test_id": test_id, **test} for test_id in ("math_001", "math_002")]
    demo = {"provider": "scripted", "name": "demo", "parameters": {"responses": '{"answer": 4}'}}
    llms = [demo, {"provider": "ollama", "name": "gemma3:1b"}]
    (data / "test_classes.yaml").write_text(CLASSES.replace("sums", "math"))
    (data / "tests.json").write_text(json.dumps({"tests": tests}))
    (data / "llms.json").write_text(json.dumps({"llms": llms}))
    monkeypatch.chdir(tmp_path)


def run_block(block: str, names: dict[str, Any]) -> None:
    """Run a block; the value of an expression must be what a comment behind it says."""
    lines = block.split("\n")
    for node in ast.parse(block).body:
        source = ast.unparse(node)
        if not isinstance(node, ast.Expr):
            exec(source, names)
            continue
        value = eval(source, names)
        comment = lines[(node.end_lineno or 1) - 1][node.end_col_offset or 0 :].partition("#")[2]
        if comment.strip()[:1] in {"[", "(", "'", *"0123456789"}:
            assert value == ast.literal_eval(comment.strip()), source


@pytest.mark.slow(reason="runs every example of the page")
@pytest.mark.usefixtures("_workspace")
def test_the_blocks_of_the_page_run(
    servers: tuple[FakeServer, FakeServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    ollama, openai = servers
    monkeypatch.setenv("OLLAMA_HOST", ollama.url)
    names: dict[str, Any] = {"__name__": "page"}
    blocks = code_blocks(PAGE.read_text(encoding="utf-8"))
    for block in blocks:
        run_block(block.replace(LOCAL_SERVER, openai.url), names)
    assert len(blocks) > 10
    assert ollama.requests
    assert openai.requests


def test_a_wrong_comment_would_be_noticed() -> None:
    with pytest.raises(AssertionError):
        run_block("1 + 1  # 3", {})
