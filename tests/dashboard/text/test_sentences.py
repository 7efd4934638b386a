from __future__ import annotations

import pytest

from poor_bench.dashboard.text.formatting import error_text, sentences
from poor_bench.errors import RunRefusedError


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((), ""),
        (("a run is under way", "Wait."), "A run is under way. Wait."),
        (("it ends here.", "", "so?", "yes"), "It ends here. So? Yes"),
        (("`x` is odd", ""), "`x` is odd"),
    ],
)
def test_parts_become_sentences(parts: tuple[str, ...], text: str) -> None:
    assert sentences(*parts) == text


def test_an_error_is_told_with_its_way_out() -> None:
    error = RunRefusedError("another run is under way", hint="Wait or cancel it.")
    assert error_text(error) == "Another run is under way. Wait or cancel it."
