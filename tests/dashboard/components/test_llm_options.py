from __future__ import annotations

from poor_bench.dashboard.components.controls import llm_options


def test_what_is_chosen_stays_a_choice_when_its_results_are_gone() -> None:
    options = llm_options(["a:b"], ["gone:c", "a:b"], str.upper)
    assert options == [
        {"value": "a:b", "label": "A:B"},
        {"value": "gone:c", "label": "GONE:C"},
    ]
