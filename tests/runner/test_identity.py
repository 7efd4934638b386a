from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from poor_bench.runs.history import make_run_id

MOMENTS = st.integers(0, 200_000_000_000).map(
    lambda seconds: datetime.fromtimestamp(seconds, tz=UTC).isoformat()
)


def test_run_id_tells_the_moment() -> None:
    assert make_run_id("2026-11-21T22:50:07.123Z").startswith("20261121T225007-")


@given(MOMENTS, MOMENTS)
def test_run_id_sorts_after_the_newest_one_wherever_the_clock_is(
    newest_moment: str, now: str
) -> None:
    newest = make_run_id(newest_moment)
    assert make_run_id(now, newest) > newest


def test_newest_run_of_another_naming_is_no_hindrance() -> None:
    assert make_run_id("2026-11-21T22:50:07Z", "results-old").startswith("20261121T225007-")
