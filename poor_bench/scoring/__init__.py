"""From an evaluator's answer to a verdict: pure, no files, network or clock."""

from poor_bench.scoring.verdict import AnswerFormat, Cause, Verdict, verdict_of

__all__ = ["AnswerFormat", "Cause", "Verdict", "verdict_of"]
