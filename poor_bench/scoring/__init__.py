"""From an evaluator's answer to a verdict: pure, no files, network or clock."""

from poor_bench.scoring.verdict import AnswerFormat, Cause, Verdict, check_verdict

__all__ = ["AnswerFormat", "Cause", "Verdict", "check_verdict"]
