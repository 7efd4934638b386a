"""Models as judges: rubrics, requests, and judgements with checked scores."""

from poor_bench.judge.evaluator import Evaluator, evaluate_sync
from poor_bench.judge.judge import Judge
from poor_bench.judge.judge_error import JudgeError
from poor_bench.judge.judgement import CaseEvaluation, Judgement, judgement_from_dict
from poor_bench.judge.rubric import DEFAULT_RUBRIC, Dimension, Rubric, parse_rubric
from poor_bench.judge.subject import JudgedCase, Subject, Turn, case_of

__all__ = [
    "DEFAULT_RUBRIC",
    "CaseEvaluation",
    "Dimension",
    "Evaluator",
    "Judge",
    "JudgeError",
    "JudgedCase",
    "Judgement",
    "Rubric",
    "Subject",
    "Turn",
    "case_of",
    "evaluate_sync",
    "judgement_from_dict",
    "parse_rubric",
]
