"""Models as judges: rubrics, requests, and judgements with checked scores."""

from poor_bench.judge.evaluator import Evaluator, evaluate_sync
from poor_bench.judge.evidence import JudgedCase, JudgeEvidence, Turn, build_case
from poor_bench.judge.judge import Judge
from poor_bench.judge.judgement import CaseEvaluation, JudgeError, Judgement, judgement_from_dict
from poor_bench.judge.rubric import DEFAULT_RUBRIC, Dimension, Rubric, parse_rubric

__all__ = [
    "DEFAULT_RUBRIC",
    "CaseEvaluation",
    "Dimension",
    "Evaluator",
    "Judge",
    "JudgeError",
    "JudgeEvidence",
    "JudgedCase",
    "Judgement",
    "Rubric",
    "Turn",
    "build_case",
    "evaluate_sync",
    "judgement_from_dict",
    "parse_rubric",
]
