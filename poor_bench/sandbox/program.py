"""What is run in the sandbox."""

from __future__ import annotations

from dataclasses import dataclass, field

from poor_bench.sandbox.limits import Limits

_MAX_CHARACTERS = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Python source of which one function is called."""

    source: str
    function: str | None = None
    """Its name; None for the last public function that the program defines."""
    setup: str = ""
    """Python source of ours that runs before, in the same module."""
    limits: Limits = field(default_factory=Limits)

    @property
    def is_too_large(self) -> bool:
        """Whether the source is longer than what is run."""
        return len(self.source) > _MAX_CHARACTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A test in the manner of HumanEval: source that defines `check(candidate)`.

    `check` raises if the candidate is wrong. It can use the candidate under its own name as well,
    and whatever `setup` defines.
    """

    source: str
    setup: str = ""
    """Python source that runs before, such as the helpers that a prompt gives."""
