r"""The formats that are known by name, and import of questions with one short answer.

A row of GSM8K is `{"question": ..., "answer": "... <<48/2=24>>24 ...\n#### 72"}`. Any of these rows
is a multiple-choice question, as MMLU, ARC and their copies write them:

    {"question": ..., "A": ..., "B": ..., "answer": "B"}
    {"question": ..., "choice0": ..., "choice1": ..., "answer": "1"}
    {"question": ..., "choices": ["...", "..."], "answer": 1}
    {"question": ..., "choices": {"text": [...], "label": [...]}, "answerKey": "C"}
    {"question": {"stem": ..., "choices": [{"label": "A", "text": ...}, ...]}, "answerKey": "C"}

Source:
    Cobbe et al. 2021, "Training Verifiers to Solve Math Word Problems", arXiv:2110.14168;
    Hendrycks et al. 2021, "Measuring Massive Multitask Language Understanding", arXiv:2009.03300;
    Clark et al. 2018, "Think you have Solved Question Answering?", arXiv:1803.05457.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from poor_bench.config.names import name_hint
from poor_bench.errors import ConfigError
from poor_bench.importers.code_datasets import HUMANEVAL, MBPP
from poor_bench.importers.rows import Entry, Importer, Row, RowError, read_text

_GSM8K_TEMPLATE = """\
{problem}

Work it out step by step. End with the result as JSON, such as {"answer": 42}.
"""
_ANSWER = re.compile(r"####\s*(-?[\d,]*\.?\d+)\s*$")
_STEP = re.compile(r"<<[^<>]*>>")
_LEVEL_BY_STEPS = (1, 1, 1, 2, 3, 4, 4)
"""Level by the number of calculation steps in the answer; 5 for more."""


def _gsm8k_to_test(row: Row, number: int) -> Entry:
    solution = read_text(row, "answer")
    answer = _ANSWER.search(solution)
    if answer is None:
        raise RowError("the answer does not end with `#### number`")
    result = answer[1].replace(",", "")
    n_steps = len(_STEP.findall(solution))
    return {
        "test_id": f"{number:04}",
        "level": _LEVEL_BY_STEPS[n_steps] if n_steps < len(_LEVEL_BY_STEPS) else 5,
        "text": read_text(row, "question"),
        "evaluation_module": {"parameters": {"expected_answer": result}},
        "reference_response": f'{_STEP.sub("", solution[: answer.start()])}{{"answer": {result}}}',
    }


GSM8K = Importer(
    name="gsm8k",
    description="Grade-school mathematics in words: question, answer ending in #### number",
    class_entry={
        "description": "Grade-school mathematics in words (GSM8K)",
        "work_prompt_template": {"default": _GSM8K_TEMPLATE},
        "evaluation_module": {
            "name": "math_evaluator",
            "parameters": {"precision": 2, "expected_format": "json"},
        },
    },
    recognises=lambda row: "question" in row and "####" in str(row.get("answer")),
    to_test=_gsm8k_to_test,
)


_MULTIPLE_CHOICE_TEMPLATE = """\
{question}

Reply with the letter of the right choice only.
"""
_CHOICE_COLUMN = re.compile(r"[A-J]|(?:choice|option)_?[0-9a-jA-J]")
_ANSWER_COLUMNS = ("answerKey", "answer", "label", "target")


class _Choices(NamedTuple):
    question: str
    labels: Sequence[str]
    """As the file names them; shown are letters from A on."""
    texts: Sequence[str]


def _multiple_choice_to_test(row: Row, number: int) -> Entry:
    choices = _read_choices(row)
    if len(choices.texts) < 2:
        raise RowError("fewer than two choices were found")
    right = _index_of_answer(row, choices)
    letters = string.ascii_uppercase[: len(choices.texts)]
    listed = [f"{letter}) {text}" for letter, text in zip(letters, choices.texts, strict=True)]
    return {
        "test_id": f"{number:04}",
        "level": 1,
        "text": "\n".join([choices.question.strip(), "", *listed]),
        "evaluation_module": {
            "parameters": {"expected": letters[right], "choices": list(choices.texts)}
        },
        "reference_response": letters[right],
    }


def _read_choices(row: Row) -> _Choices:
    question: Any = row.get("question")
    choices: Any = row.get("choices")
    if isinstance(question, Mapping):
        question, choices = question.get("stem"), question.get("choices")
    if not isinstance(question, str) or not question.strip():
        raise RowError("the column `question` has no text")
    if isinstance(choices, Mapping):
        return _Choices(
            question, _list_texts(choices.get("label")), _list_texts(choices.get("text"))
        )
    if isinstance(choices, list) and all(isinstance(choice, Mapping) for choice in choices):
        labels = [str(choice.get("label")) for choice in choices]
        return _Choices(question, labels, [str(choice.get("text")) for choice in choices])
    if isinstance(choices, list):
        return _Choices(question, string.ascii_uppercase, _list_texts(choices))
    columns = [column for column in row if _CHOICE_COLUMN.fullmatch(column)]
    labels = [column[-1].upper() for column in columns]
    return _Choices(question, labels, [str(row[column]) for column in columns])


def _index_of_answer(row: Row, choices: _Choices) -> int:
    answer = next((row[column] for column in _ANSWER_COLUMNS if column in row), None)
    written = str(answer).strip()
    labels = list(choices.labels[: len(choices.texts)])
    if written in labels:
        return labels.index(written)
    if written.upper() in string.ascii_uppercase[: len(labels)] and len(written) == 1:
        return string.ascii_uppercase.index(written.upper())
    if written.isdecimal() and int(written) < len(labels):
        return int(written)
    if written in choices.texts:
        return choices.texts.index(written)
    raise RowError(f"the answer {written!r:.40} is not one of the choices")


def _list_texts(value: Any) -> list[str]:
    if not isinstance(value, list):
        raise RowError("the choices are not a list")
    return [str(item) for item in value]


def _is_multiple_choice(row: Row) -> bool:
    if "question" not in row or not any(column in row for column in _ANSWER_COLUMNS):
        return False
    inner = row["question"]
    has_list = "choices" in row or (isinstance(inner, Mapping) and "choices" in inner)
    return has_list or sum(bool(_CHOICE_COLUMN.fullmatch(column)) for column in row) >= 2


MULTIPLE_CHOICE = Importer(
    name="multiple_choice",
    description="Questions with choices, as in MMLU and ARC: question, choices, answer",
    class_entry={
        "description": "Multiple-choice questions",
        "work_prompt_template": {"default": _MULTIPLE_CHOICE_TEMPLATE},
        "evaluation_module": {"name": "choice", "parameters": {}},
    },
    recognises=_is_multiple_choice,
    to_test=_multiple_choice_to_test,
)


IMPORTERS: Mapping[str, Importer] = MappingProxyType(
    {importer.name: importer for importer in (HUMANEVAL, MBPP, GSM8K, MULTIPLE_CHOICE)}
)


def find_importer(name: str) -> Importer:
    """Find the importer of a format.

    Raises:
        ConfigError: If there is none of that name.
    """
    if name not in IMPORTERS:
        raise ConfigError(f"unknown format `{name}`", hint=name_hint(name, IMPORTERS))
    return IMPORTERS[name]


def recognise(row: Row) -> Importer:
    """Recognise the importer for a file with such rows.

    Raises:
        ConfigError: If no format has such rows.
    """
    for importer in IMPORTERS.values():
        if importer.recognises(row):
            return importer
    columns = ", ".join(f"`{column}`" for column in list(row)[:12])
    raise ConfigError(
        f"no known format has the columns {columns}",
        hint="map the columns: --column text=COLUMN --evaluator NAME",
    )
