from __future__ import annotations

import subprocess
import sys

import pytest

from poor_bench.errors import ConfigError
from poor_bench.providers.catalog import provider_names
from tests.providers.asking import make_provider


@pytest.mark.parametrize("name", [name for name in provider_names() if name != "embedded"])
def test_every_known_provider_can_be_made(name: str) -> None:
    parameters = {"responses": "x"} if name == "scripted" else {}
    assert make_provider(name, None, parameters=parameters).preload


def test_an_unknown_provider_without_endpoint_cannot_be_made() -> None:
    with pytest.raises(ConfigError, match="unknown provider"):
        make_provider("nobody", None)


def test_the_registry_imports_nothing_heavy() -> None:
    code = "import sys, poor_bench.providers.registry; print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"urllib3", "orjson", "pydantic", "yaml", "http.client"} & set(modules)
