from __future__ import annotations

import pytest

from poor_bench.judge.judged_run import summarise_run
from poor_bench.judge.report_text import list_run_notes
from tests.judge.run_builders import conversation_of, judgement_of, run_of


@pytest.mark.parametrize(("second", "names_a_dimension"), [(7, False), (9, True)])
def test_the_dimension_of_most_disagreement_is_named_if_there_is_any(
    second: float, names_a_dimension: bool
) -> None:
    judgements = (judgement_of(7, judge="a"), judgement_of(second, judge="b"))
    notes = list_run_notes(summarise_run(run_of(*judgements, conversations=(conversation_of(),))))
    [told] = [note for note in notes if note.startswith("The judges differ by")]
    assert ("most in" in told) is names_a_dimension
