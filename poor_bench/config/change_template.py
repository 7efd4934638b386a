"""Change a text of a class in test_classes.yaml; every other byte is kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from poor_bench.config.atomic_write import write_atomically
from poor_bench.config.document import open_document, read_text
from poor_bench.config.edit_scalar import value_at, with_text
from poor_bench.config.file_lock import locked_for_writing
from poor_bench.config.files import TEST_CLASSES_FILE, decode_test_classes_file
from poor_bench.config.load import raise_errors
from poor_bench.config.report import Report
from poor_bench.config.yaml_document import compose, parse_yaml
from poor_bench.errors import ConfigError

if TYPE_CHECKING:
    import yaml

_TEMPLATE = ("work_prompt_template", "default")
_SYSTEM_PROMPT = ("system_prompt",)


def change_template(data_dir: Path, class_id: str, template: str) -> None:
    """Write another default template; comments and the form of the rest survive.

    Args:
        data_dir: Folder of the workspace.
        class_id: Which class.
        template: The text, with placeholders.

    Raises:
        ConfigError: If there is no such template to replace, or the file, as it was or as it
            would be, has an error, or cannot be written; it is untouched then.
    """
    _change_text(data_dir, class_id, _TEMPLATE, template)


def change_system_prompt(data_dir: Path, class_id: str, prompt: str) -> None:
    """Write another system prompt of a class that has one; comments and the rest survive.

    Args:
        data_dir: Folder of the workspace.
        class_id: Which class.
        prompt: The text.

    Raises:
        ConfigError: If there is no such prompt to replace, or the file, as it was or as it would
            be, has an error, or cannot be written; it is untouched then.
    """
    _change_text(data_dir, class_id, _SYSTEM_PROMPT, prompt)


def _change_text(data_dir: Path, class_id: str, place: Sequence[str], new: str) -> None:
    path = data_dir / TEST_CLASSES_FILE
    with locked_for_writing(path):
        document, report = open_document(path, parse_yaml)
        if document is not None:
            decode_test_classes_file(document, report)
        raise_errors(report.problems)
        text = read_text(path)
        scalar = _scalar_of(compose(text), class_id, place)
        if scalar is None:
            message = f"{path}: class {class_id!r} has no {place[0]} that can be changed here"
            raise ConfigError(message, hint="Change it in the file.")
        changed = with_text(text, scalar, new)
        report = Report(str(path))
        decode_test_classes_file(parse_yaml(changed), report)
        raise_errors(report.problems)
        write_atomically(path, changed)


def _scalar_of(
    root: yaml.Node | None, class_id: str, place: Sequence[str]
) -> yaml.ScalarNode | None:
    import yaml

    classes = value_at(root, ("test_classes",))
    for entry in classes.value if isinstance(classes, yaml.SequenceNode) else ():
        name = value_at(entry, ("id",))
        if isinstance(name, yaml.ScalarNode) and name.value == class_id:
            found = value_at(entry, place)
            return found if isinstance(found, yaml.ScalarNode) else None
    return None
