r"""GSM8K: grade-school mathematics in words.

A row is `{"question": ..., "answer": "... <<48/2=24>>24 ...\n#### 72"}`.

Source:
    Cobbe et al. 2021, "Training Verifiers to Solve Math Word Problems", arXiv:2110.14168.
"""

from __future__ import annotations

import re

from poor_bench.importers.imported import Entry, Importer, Row, RowError, text_in

_TEMPLATE = """\
{problem}

Work it out step by step. End with the result as JSON, such as {"answer": 42}.
"""
_ANSWER = re.compile(r"####\s*(-?[\d,]*\.?\d+)\s*$")
_STEP = re.compile(r"<<[^<>]*>>")
_LEVEL_BY_STEPS = (1, 1, 1, 2, 3, 4, 4)
"""Level by the number of calculation steps in the answer; 5 for more."""


def _to_test(row: Row, number: int) -> Entry:
    solution = text_in(row, "answer")
    answer = _ANSWER.search(solution)
    if answer is None:
        raise RowError("the answer does not end with `#### number`")
    result = answer[1].replace(",", "")
    n_steps = len(_STEP.findall(solution))
    return {
        "test_id": f"{number:04}",
        "level": _LEVEL_BY_STEPS[n_steps] if n_steps < len(_LEVEL_BY_STEPS) else 5,
        "text": text_in(row, "question"),
        "evaluation_module": {"parameters": {"expected_answer": result}},
        "reference_response": f'{_STEP.sub("", solution[: answer.start()])}{{"answer": {result}}}',
    }


GSM8K = Importer(
    name="gsm8k",
    description="Grade-school mathematics in words: question, answer ending in #### number",
    class_entry={
        "description": "Grade-school mathematics in words (GSM8K)",
        "work_prompt_template": {"default": _TEMPLATE},
        "evaluation_module": {
            "name": "math_evaluator",
            "parameters": {"precision": 2, "expected_format": "json"},
        },
    },
    recognises=lambda row: "question" in row and "####" in str(row.get("answer")),
    to_test=_to_test,
)
