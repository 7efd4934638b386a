"""Make a new workspace with commented examples."""

from __future__ import annotations

from pathlib import Path

from poor_bench.command_line import program, quote_word
from poor_bench.errors import ConfigError

_EXAMPLES = Path(__file__).with_name("example_workspace")
_SCHEMAS = "schemas"


def create_workspace(folder: Path) -> list[Path]:
    """Write an example workspace into `folder`, which is made where it does not exist.

    Returns:
        The files that were written, schemas for editors among them.

    Raises:
        ConfigError: If a file of that name is there already, or cannot be written; nothing is
            left half done.
    """
    from poor_bench.config.json_schemas import json_schemas_as_text

    contents = {
        path.relative_to(_EXAMPLES): _with_commands(path.read_text(encoding="utf-8"), folder)
        for path in sorted(_EXAMPLES.rglob("*"))
        if path.is_file()
    }
    schemas = json_schemas_as_text()
    contents |= {Path(_SCHEMAS, name): text for name, text in schemas.items()}
    _require_absent([folder / name for name in contents], folder)
    return _write_new({folder / name: text for name, text in contents.items()})


def _with_commands(text: str, folder: Path) -> str:
    """Write commands into an example as they can be typed in the user's shell."""
    return text.replace("python main.py", program()).replace("THIS_FOLDER", quote_word(folder))


def _require_absent(paths: list[Path], folder: Path) -> None:
    present = [str(path) for path in paths if path.exists() or path.is_symlink()]
    if present:
        raise ConfigError(
            f"{folder} already has a workspace: {', '.join(present)}",
            hint="nothing was written; choose another folder",
        )


def _write_new(contents: dict[Path, str]) -> list[Path]:
    written: list[Path] = []
    for path, text in contents.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8", newline="\n") as stream:
                written.append(path)
                stream.write(text)
        except OSError as error:
            for earlier in written:
                earlier.unlink(missing_ok=True)
            raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from error
    return written
