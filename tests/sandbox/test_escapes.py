"""Each way to break out, tried for real; and tried where nothing holds, to know that it works."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from poor_bench.errors import ConfigError
from poor_bench.sandbox import Level, Sandbox, parse_level
from poor_bench.sandbox.launchers import PipeLauncher
from poor_bench.sandbox.selftest import ESCAPES, Escape, EscapeFixture, prepare_fixture

pytestmark = pytest.mark.slow(reason="real escape attempts, each in a process")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    opened = Sandbox()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def weak_sandbox() -> Iterator[Sandbox]:
    """A child process and little more, as on systems without mechanisms of the kernel."""
    opened = Sandbox(lambda _processor: PipeLauncher())
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def fixture() -> Iterator[EscapeFixture]:
    with prepare_fixture() as prepared:
        yield prepared


def named(name: str) -> Escape:
    return next(escape for escape in ESCAPES if escape.name == name)


@pytest.mark.parametrize("escape", ESCAPES, ids=lambda escape: escape.name)
def test_escape_is_withstood(escape: Escape, sandbox: Sandbox, fixture: EscapeFixture) -> None:
    level = sandbox.status().level
    evidence = escape.evidence(sandbox, fixture)
    if escape.is_promised(sandbox.status()):
        assert not evidence
    else:
        pytest.skip(f"level {level.label} does not promise it: {sandbox.status().missing}")


@pytest.mark.parametrize("name", ["network of this machine", "reading the workspace"])
def test_escape_works_where_nothing_holds_it(
    name: str, weak_sandbox: Sandbox, fixture: EscapeFixture
) -> None:
    assert any(named(name).evidence(weak_sandbox, fixture) for _ in range(3))


@pytest.mark.parametrize(
    "name",
    ["endless loop", "forged replies", "leaving at once", "leaving politely", "killing itself"],
)
def test_verdicts_hold_even_in_a_mere_process(
    name: str, weak_sandbox: Sandbox, fixture: EscapeFixture
) -> None:
    assert not named(name).evidence(weak_sandbox, fixture)


def test_weak_sandbox_says_what_is_missing(weak_sandbox: Sandbox) -> None:
    status = weak_sandbox.status()
    assert status.level < Level.ISOLATED
    assert all(status.missing.values())


def test_demand_above_what_is_in_force_is_refused_with_reasons(weak_sandbox: Sandbox) -> None:
    weak_sandbox.require(Level.PROCESS)
    with pytest.raises(ConfigError, match="sandbox level full is required"):
        weak_sandbox.require(Level.FULL)


def test_unknown_level_lists_the_known_ones() -> None:
    assert parse_level(" Isolated ") is Level.ISOLATED
    with pytest.raises(ValueError, match="none, process, limits, isolated, full"):
        parse_level("fort knox")
