from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.providers import asking


@pytest.fixture(autouse=True)
def close_providers() -> Iterator[None]:
    yield
    while asking.OPEN:
        asking.OPEN.pop().close()
