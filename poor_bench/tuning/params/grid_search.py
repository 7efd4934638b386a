"""A grid: all combinations of values race side by side."""

from __future__ import annotations

from collections.abc import Sequence

from poor_bench.errors import ConfigError
from poor_bench.models.llm import LLM
from poor_bench.tuning.params.axes import Axis, grid
from poor_bench.tuning.params.sweep import Sweep
from poor_bench.tuning.params.variants import Variant, is_like, variant_of


def grid_variants(base: LLM, axes: Sequence[Axis]) -> list[Variant]:
    """Build a variant per combination, except those equal to the baseline.

    Raises:
        ConfigError: If there are none, or an axis is a range.
    """
    try:
        made = [variant_of(base, choice) for choice in grid(axes)]
    except ValueError as error:
        raise ConfigError(str(error)) from error
    variants = [variant for variant in made if not is_like(variant.llm, base)]
    if not variants:
        raise ConfigError("all combinations equal the model's current parameters")
    return variants


def run_grid(sweep: Sweep, variants: Sequence[Variant]) -> None:
    """Race the variants; losers are dropped after each step.

    Raises:
        SearchStoppedError: If it cannot go on.
        StoreError: If something could not be stored.
    """
    for variant in variants:
        sweep.add(variant)
    running = [sweep.base, *variants]
    for rung in sweep.rungs:
        running = sweep.drop_losers(sweep.advance(running, rung))
