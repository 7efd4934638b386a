"""What it costs to sum up, compare and explain 100,000 results: 10 LLMs on 10,000 tests.

The yardstick is one plain look at each result: a loop that adds up scores per LLM.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from poor_bench.issues.detect import detect_issues
from poor_bench.issues.detector import IssueContext, TestFacts
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.scoring.verdict import AnswerFormat
from poor_bench.statistics.comparison import compare_llms
from poor_bench.statistics.items import analyse_items
from poor_bench.statistics.summarise import summarise
from poor_bench.statistics.summary import GroupBy

N_LLMS = 10
N_TESTS = 10_000
RESPONSES = (
    '["good", "bad", "bad"]',
    '```json\n["good", "bad", "bad"]\n```',
    "All in all the first text is friendly, and the two others are not: " * 4 + '["good"].',
    '["good", "bad"]',
)


def _results() -> list[Result]:
    rng = random.Random(1)
    return [
        Result(
            llm_id=f"llm{llm}",
            test_id=f"test{test}",
            score=float(rng.random() < 0.6 + 0.02 * llm),
            response=RESPONSES[rng.randrange(len(RESPONSES))],
            execution_time_ms=rng.lognormvariate(7, 0.4),
            completion_tokens=40,
        )
        for llm in range(N_LLMS)
        for test in range(N_TESTS)
    ]


def _look_at_each(results: list[Result]) -> Counter[str]:
    sums: Counter[str] = Counter()
    for result in results:
        sums[result.llm_id] += result.score or 0.0
    return sums


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    """Print CPU seconds and the ratio to the yardstick."""
    results = _results()
    tests = {
        f"test{n}": Test(test_id=f"test{n}", class_id=f"class{n % 5}", level=n % 4 + 1, text="x")
        for n in range(N_TESTS)
    }
    facts = {
        test_id: TestFacts(class_id=test.class_id, wanted=AnswerFormat.JSON_LIST, n_items=3)
        for test_id, test in tests.items()
    }
    compare_llms(results[:2])  # imports scipy before the clock starts
    yardstick = min(_seconds(lambda: _look_at_each(results)) for _ in range(3))
    print(f"{len(results)} results; one look at each: {yardstick:.3f} s")
    for name, work in {
        "summary by LLM": lambda: summarise(results),
        "summary by LLM and class": lambda: summarise(results, tests=tests, by=GroupBy.LLM_CLASS),
        "comparison of 45 pairs": lambda: compare_llms(results),
        "item analysis": lambda: analyse_items(results, tests),
        "issues": lambda: detect_issues(results, IssueContext(facts=facts)),
    }.items():
        seconds = _seconds(work)
        print(f"{name:26} {seconds:6.2f} s {seconds / yardstick:8.0f} x")


if __name__ == "__main__":
    main()
