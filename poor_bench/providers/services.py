"""What the outer world lends to every provider."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from poor_bench.ports import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderServices:
    """What a provider may use besides its LLM's own settings."""

    clock: Clock
    workspace: Path = Path()
    """Folder that relative paths in an LLM's parameters start from."""
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    """Where keys, proxies and default endpoints are looked up; never shown."""
