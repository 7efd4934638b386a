"""What holds where some mechanisms are missing, as in containers and on older kernels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from poor_bench.sandbox import Level, Mechanism, Program, Sandbox
from poor_bench.sandbox.launchers import ZygoteLauncher
from poor_bench.sandbox.levels import grade_isolation
from poor_bench.sandbox.selftest import ESCAPES, EscapeFixture, prepare_fixture

NAMESPACES = (Mechanism.BARE_ROOT, Mechanism.OWN_NETWORK, Mechanism.OWN_PROCESSES)
WITHOUT = {
    "no namespaces": NAMESPACES,
    "no Landlock": (Mechanism.FILE_RULES, Mechanism.OWN_NETWORK, Mechanism.OWN_PROCESSES),
    "no seccomp": (Mechanism.SYSTEM_CALL_FILTER,),
    "no seccomp and no namespaces": (Mechanism.SYSTEM_CALL_FILTER, *NAMESPACES),
    "nothing": tuple(Mechanism),
}


@pytest.fixture(scope="module", params=WITHOUT.values(), ids=WITHOUT.keys())
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    opened = Sandbox(partial(ZygoteLauncher, avoided=request.param))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def fixture() -> Iterator[EscapeFixture]:
    with prepare_fixture() as prepared:
        yield prepared


@pytest.mark.slow(reason="attacks the sandbox in every way at each level")
def test_every_promise_of_the_level_in_force_is_kept(
    sandbox: Sandbox, fixture: EscapeFixture
) -> None:
    status = sandbox.status()
    promised = [escape for escape in ESCAPES if escape.is_promised(status)]
    broken = {escape.name: escape.evidence(sandbox, fixture) for escape in promised}
    assert promised
    assert not any(broken.values()), broken


def test_missing_mechanisms_are_named_with_their_reasons(sandbox: Sandbox) -> None:
    status = sandbox.status()
    assert status.level < Level.FULL
    assert "switched off" in status.missing.values()
    assert all(status.missing.values())


@pytest.mark.slow(reason="waits for real processes or limits")
def test_nothing_survives_that_stayed_in_sight(sandbox: Sandbox, fixture: EscapeFixture) -> None:
    daemon = next(escape for escape in ESCAPES if escape.name.startswith("daemon"))
    assert not daemon.evidence(sandbox, fixture)


def test_programs_have_files_of_their_own(sandbox: Sandbox) -> None:
    source = (
        "import os, tempfile\ndef f(name):\n    before = os.listdir()\n"
        "    with open(name, 'w') as file: file.write('kept')\n"
        "    with tempfile.TemporaryFile() as file: file.write(b'x')\n"
        "    return before, open(name).read()"
    )
    program = Program(source=source, function="f")
    for _ in range(2):
        [case] = sandbox.run_cases(program, ["notes.txt"]).cases
        assert case.value == ([], "kept"), case


@pytest.mark.parametrize(
    ("missing", "level"),
    [
        ((), Level.FULL),
        ((Mechanism.OWN_PROCESSES,), Level.ISOLATED),
        ((Mechanism.BARE_ROOT, Mechanism.OWN_NETWORK), Level.ISOLATED),
        ((Mechanism.FILE_RULES,), Level.ISOLATED),
        ((Mechanism.BARE_ROOT, Mechanism.FILE_RULES), Level.LIMITS),
        ((Mechanism.SYSTEM_CALL_FILTER,), Level.LIMITS),
        ((Mechanism.RESOURCE_LIMITS,), Level.PROCESS),
        (tuple(Mechanism), Level.PROCESS),
    ],
    ids=str,
)
def test_level_follows_from_what_is_missing(missing: tuple[Mechanism, ...], level: Level) -> None:
    assert grade_isolation(dict.fromkeys(missing, "not here")).level is level
