"""From names to what is tuned."""

from __future__ import annotations

from collections.abc import Mapping

from poor_bench.config.nearest_name import name_hint
from poor_bench.config_manager import ConfigManager
from poor_bench.errors import ConfigError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.llm import LLM
from poor_bench.tuning.prompt.cases import Subject
from poor_bench.tuning.prompt.class_prompt import ClassPart, ClassPrompt


def class_subject(
    config: ConfigManager, manager: LLMManager, llm: LLM, class_id: str, part: str
) -> ClassPrompt:
    """Return a text of a test class as a subject.

    Args:
        config: The workspace.
        manager: Asks the LLM.
        llm: Whom the text is for.
        class_id: Which class.
        part: A value of `ClassPart`.

    Raises:
        ConfigError: If there is no such class or text.
    """
    classes = config.workspace.test_classes
    if class_id not in classes:
        raise ConfigError(
            f"there is no test class {class_id!r}", hint=name_hint(class_id, list(classes))
        )
    return ClassPrompt(config, manager, llm, class_id, ClassPart(part))


def subject_of(
    reference: Mapping[str, str], config: ConfigManager, manager: LLMManager, llm: LLM
) -> Subject:
    """Return the subject that the header of a search names.

    Raises:
        ConfigError: If it is not in the workspace any more.
    """
    return class_subject(config, manager, llm, reference["class_id"], reference["part"])
