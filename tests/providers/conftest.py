from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.providers import asking

if TYPE_CHECKING:
    import anthropic
    import openai

    from tests.providers.servers.fake_server import FakeServer


@pytest.fixture(autouse=True)
def close_providers() -> Iterator[None]:
    yield
    while asking.OPEN:
        asking.OPEN.pop().close()


@pytest.fixture
def openai_client(server: FakeServer) -> Iterator[openai.OpenAI]:
    import openai

    url = f"{server.url}/v1"
    with openai.OpenAI(base_url=url, api_key="k", max_retries=0) as client:
        yield client


@pytest.fixture
def anthropic_client(server: FakeServer) -> Iterator[anthropic.Anthropic]:
    import anthropic

    with anthropic.Anthropic(base_url=server.url, api_key="k", max_retries=0) as client:
        yield client
