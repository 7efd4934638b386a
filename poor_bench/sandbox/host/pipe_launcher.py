"""Children for systems that cannot fork: an interpreter each, ended in time, nothing more."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

from poor_bench.errors import SandboxError
from poor_bench.models.failure import FailureKind
from poor_bench.sandbox.host.interpreter import clean_environment, interpreter_command
from poor_bench.sandbox.host.killing_connection import KillingConnection, kill_group
from poor_bench.sandbox.host.output_file import OutputFile
from poor_bench.sandbox.levels import Mechanism
from poor_bench.sandbox.outcomes import Exit
from poor_bench.sandbox.wire.channel import Channel


class PipeChild:
    """A child with an interpreter of its own; see `ChildProcess`."""

    def __init__(self, process: subprocess.Popen[bytes], output: OutputFile) -> None:
        self.channel = Channel(KillingConnection(process))
        self.output = output
        self._process = process

    def hand_over(self, _other: Channel, _message: object, _deadline: float) -> bool:
        """Return False: pipes cannot be handed over."""
        return False

    def end(self) -> Exit:
        """Kill the child; see `ChildProcess`."""
        with self._process as process:
            kill_group(process)
            return Exit(status=process.wait(), cpu_s=0.0)


class PipeLauncher:
    """Starts an interpreter per child; see `Launcher`."""

    links_children = False

    def missing(self) -> Mapping[Mechanism, str]:
        """Return which mechanisms are not in force: none is."""
        return dict.fromkeys(Mechanism, "this system cannot fork processes")

    def launch(self, *, is_apart: bool = False) -> PipeChild:
        """Start a child; see `Launcher`."""
        del is_apart  # all have their own
        output = OutputFile()
        try:
            process = subprocess.Popen(
                interpreter_command("standalone"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output.fileno(),
                bufsize=0,
                env=clean_environment(),
                start_new_session=True,
            )
        except OSError as error:
            output.close()
            message = f"a program could not be run: {error.strerror}"
            raise SandboxError(message, kind=FailureKind.SANDBOX) from error
        return PipeChild(process, output)

    def close(self) -> None:
        """Do nothing: no child outlives its run."""
