"""Settings that servers drop: does `llms probe` find them within 20 calls, and nothing else?

Each run draws a model (skill, entropy, thinking) and a server (default temperature and seed,
rounding noise, cache, counts of tokens, context and what happens beyond it) and drops each of the
256 subsets of the eight settings in turn. What no answer can show is not counted: the effort of a
model that does not think, and the seed of a server that drops the temperature and always answers
at temperature 0 or with a seed of its own.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations

import numpy as np
from simulation import Figure, measure_share, print_figures, read_runs

from poor_bench.probe.finding import ProbeFinding, ProbeSubject, ProbeVerdict, Setting
from poor_bench.probe.plan import MOST_CALLS, probe_settings
from tests.probe.fake_model import FakeModel, draw_model

_FRESH = 2027
"""First part of all seeds: none of these servers was looked at while the rules were written."""
SETTINGS = tuple(Setting)
SUBSETS = tuple(
    frozenset(subset)
    for subset in chain.from_iterable(combinations(SETTINGS, n) for n in range(len(SETTINGS) + 1))
)


def run_probe(model: FakeModel) -> tuple[tuple[ProbeFinding, ...], int]:
    """Probe a model; give the findings and the number of calls."""
    probe = probe_settings(ProbeSubject(own={}))
    n_calls = 0
    call = next(probe)
    while True:
        n_calls += 1
        try:
            call = probe.send(model.answer(call))
        except StopIteration as end:
            return end.value, n_calls


def main() -> None:
    """Print precision and recall of each setting, and the calls of the longest probe."""
    runs = read_runs(__doc__ or "", 40)
    counts: Counter[tuple[Setting | None, bool, ProbeVerdict]] = Counter()
    most = 0
    for run in range(runs):
        for number, dropped in enumerate(SUBSETS):
            model = draw_model(np.random.default_rng([_FRESH, run, number]), dropped)
            findings, n_calls = run_probe(model)
            most = max(most, n_calls)
            for finding in findings:
                if finding.setting not in model.hidden:
                    counts[finding.setting, finding.setting in dropped, finding.verdict] += 1
                    counts[None, finding.setting in dropped, finding.verdict] += 1
    figures = [figure for setting in (None, *SETTINGS) for figure in measure(counts, setting)]
    figures.append(
        Figure(label="calls, most", value=most, error=0, at_most=MOST_CALLS, percent=False)
    )
    print_figures(f"{runs} x {len(SUBSETS)} servers, each of 8 settings kept or dropped", figures)


def measure(
    counts: Counter[tuple[Setting | None, bool, ProbeVerdict]], setting: Setting | None
) -> list[Figure]:
    """Measure precision and recall of `ignored`, and how often a kept setting is called kept."""
    name = setting.words if setting else "all settings"
    hits = counts[setting, True, ProbeVerdict.IGNORED]
    flagged = hits + counts[setting, False, ProbeVerdict.IGNORED]
    n_dropped = sum(counts[setting, True, verdict] for verdict in ProbeVerdict)
    n_kept = sum(counts[setting, False, verdict] for verdict in ProbeVerdict)
    doubts = (
        counts[setting, True, ProbeVerdict.NOT_KNOWN]
        + counts[setting, False, ProbeVerdict.NOT_KNOWN]
    )
    wrong = counts[setting, True, ProbeVerdict.HONOURED]
    return [
        measure_share(f"{name}: precision", hits, max(1, flagged), at_least=0.95),
        measure_share(f"{name}: recall", hits, n_dropped, at_least=0.95),
        measure_share(f"{name}: dropped, called honoured", wrong, n_dropped),
        measure_share(f"{name}: not known", doubts, n_dropped + n_kept),
    ]


if __name__ == "__main__":
    main()
