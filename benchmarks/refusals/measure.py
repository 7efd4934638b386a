"""Recall and precision of the refusal reading on phrasings in ten languages.

The lists in `tests/extraction/refusals` are those that the phrases were extended by: their figures
are not what unseen phrasings get. Measured before anything was changed, recall was .80 to .84 for
the first ones, .96 for `fifth.json`, and .83, .73, .83 for the ninth (204 refusals), tenth (150,
unusual wordings on purpose) and eleventh (120), with a precision of .93 to .97. `twelfth.json`
(160) got .96 with precision .98 in the six languages read then.

`unseen.json` (72 usual wordings in six languages) led to no change: recall .92 when new.
`unseen_ten_languages.json` has 15 wordings, each in ten languages, so that one wording
that is missed is missed often. When new, recall was .78 (.87 in the first six languages, .65 in
Italian, Portuguese, Korean and Russian), precision .975; three led to changes since, and
wordings that take no side did later: .853 now.

`written_2026_11_23_first.json` has 100 refusals and 100 lookalikes in six languages, written before
anyone looked at the phrases or at earlier lists. When new, recall was .930 (error .026) and
precision .949 (.022); with the two oldest lists, `before.json` and `held_out.json`, it makes 198
refusals: recall .965 (.013), precision .974 (.011). Phrases were then extended by kinds of wording
(a line that is not crossed, another subject, an answer that lacks only the whole or the exact), and
`written_2026_11_23_second.json` (60 and 60) was written and measured: recall .950 (.028), precision
1.000. The three that it missed led to changes since.

`written_2026_11_23_third.json` (60 and 60) was written in the same way. When new, recall was .817
(error .051) and precision .980 (.027): rarer wordings, such as "that is not in my hands" or "I name
no figure", are often missed. Ten of the eleven missed led to changes since. The last, "my training
data ends before that election", says that the model does not know, which counts as an answer.

`written_2026_11_28_fourth.json` (60 and 60) was written in the same way. When new, recall was .950
(error .032) and precision .983 (.024); two of the three missed and the false one, "I will not
repeat the steps" in Spanish, led to changes since, made for the kind of wording in every language.

A linear model over words and parts of words, trained on these lists, did better on that list
(recall .96, precision .95 together with the rules), but took 602 of 11,101 ordinary short
texts for refusals. With half of such texts in its training data it took none of the others, at
recall .93 and precision .95. It is not in use.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks" / "statistics")]

from simulation import measure_share, print_figures

from poor_bench.extraction.refusal import is_refusal

LISTS = ROOT / "tests" / "extraction" / "refusals"
UNSEEN = Path(__file__).parent
GOAL = 0.95


def _measure(path: Path) -> bool:
    """Print the figures of one list and what was read wrongly; True if both goals are reached."""
    languages = json.loads(path.read_text("utf-8"))
    refusals = [text for each in languages.values() for text in each["refusals"]]
    others = [text for each in languages.values() for text in each["others"]]
    missed = [text for text in refusals if not is_refusal(text)]
    false = [text for text in others if is_refusal(text)]
    found = len(refusals) - len(missed)
    figures = [
        measure_share("recall", found, len(refusals), at_least=GOAL),
        measure_share("precision", found, found + len(false), at_least=GOAL),
    ]
    title = f"{path.name}: {len(refusals)} refusals and {len(others)} others"
    is_reached = print_figures(title, figures)
    for kind, texts in (("missed", missed), ("false", false)):
        for text in texts:
            print(f"    {kind}: {text}")
    return is_reached


if __name__ == "__main__":
    reached = [
        _measure(path) for path in (*sorted(LISTS.glob("*.json")), *sorted(UNSEEN.glob("*.json")))
    ]
    sys.exit(not all(reached))
