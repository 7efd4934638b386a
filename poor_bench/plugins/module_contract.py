"""What an evaluator module must and may define.

```
evaluate(response, parameters[, *, context][, *, judge])   required: a pair (score 0.0 to 1.0,
                   details), or a poor_bench.scoring.Verdict
Parameters         a pydantic model of the parameters; wrong ones are then found before a run
wants(parameters)  the poor_bench.scoring.AnswerFormat that the prompt should ask for
reference(parameters)   a response that scores 1.0, or None where the parameters do not tell one
parts(parameters)  the evaluators that this one calls, by their place in the parameters
question(parameters)    for an evaluator that takes `judge`: the poor_bench.scoring.JudgeQuestion
                   that it asks, so that it is known beforehand who judges and by what
```

The first line of the module's docstring is what lists of evaluators show.
"""

from __future__ import annotations

import inspect
from types import ModuleType

from pydantic import BaseModel

from poor_bench.errors import PluginError
from poor_bench.ports import Evaluate

_OPTIONAL_FUNCTIONS = ("wants", "reference", "parts", "question")


def require_contract(module: ModuleType, origin: str) -> None:
    """Check that a module is an evaluator.

    Raises:
        PluginError: If it is not; the message has origin and reason.
    """
    problem = _first_problem(module)
    if problem:
        raise PluginError(
            f"{origin} is not an evaluator: {problem}",
            hint="an evaluator defines evaluate(response, parameters) -> (score, details)",
        )


def takes_context(evaluate: Evaluate) -> bool:
    """Return whether a function `evaluate` wants a `context`."""
    return "context" in inspect.signature(evaluate).parameters


def takes_judge(evaluate: Evaluate) -> bool:
    """Return whether a function `evaluate` wants to ask a `judge`."""
    return "judge" in inspect.signature(evaluate).parameters


def parameters_model(module: ModuleType) -> type[BaseModel] | None:
    """Return the model of a module's parameters, if it has one."""
    return getattr(module, "Parameters", None)


def _first_problem(module: ModuleType) -> str:
    evaluate = getattr(module, "evaluate", None)
    if not callable(evaluate):
        return "it has no function evaluate"
    if not _can_be_called(evaluate):
        return "evaluate does not take (response, parameters)"
    model = getattr(module, "Parameters", None)
    if model is not None and not (inspect.isclass(model) and issubclass(model, BaseModel)):
        return "Parameters is not a pydantic model"
    for name in _OPTIONAL_FUNCTIONS:
        function = getattr(module, name, None)
        if function is not None and not callable(function):
            return f"{name} is not a function"
    return ""


def _can_be_called(evaluate: Evaluate) -> bool:
    wanted = inspect.signature(evaluate).parameters
    extra = dict.fromkeys({"context", "judge"} & set(wanted))
    try:
        inspect.signature(evaluate).bind("response", {}, **extra)
    except TypeError:
        return False
    return True
