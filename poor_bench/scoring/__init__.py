"""From an evaluator's answer to a verdict: pure, no files, network or clock."""

from poor_bench.scoring.verdict import Verdict, verdict_of

__all__ = ["Verdict", "verdict_of"]
