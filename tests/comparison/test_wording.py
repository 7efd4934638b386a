from __future__ import annotations

from poor_bench.comparison.obstacle import Obstacle
from poor_bench.comparison.wording import names_text, obstacles_text, way_out


def test_way_out_names_every_change() -> None:
    assert way_out((Obstacle.PROMPT_CHANGED, Obstacle.MODEL_MOVED)) == (
        "--allow prompt --allow model"
    )
    assert way_out((Obstacle.EVALUATOR_CHANGED,)) == "--rescore, or --allow evaluator"


def test_missing_results_have_no_way_out() -> None:
    assert way_out((Obstacle.ONLY_AFTER,)) == ""
    assert obstacles_text((Obstacle.ONLY_AFTER,)) == "no result before"


def test_every_obstacle_has_a_text() -> None:
    assert all(obstacle.text for obstacle in Obstacle)


def test_short_lists_are_named_in_full() -> None:
    assert names_text(["a", "b"], limit=2) == "a, b"
