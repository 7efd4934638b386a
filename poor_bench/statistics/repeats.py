"""What repeated trials of one test say: pass@k, pass^k and how often the verdict flips."""

from __future__ import annotations

from math import comb


def pass_at_k(successes: int, trials: int, k: int) -> float:
    """Estimate the chance that at least one of `k` fresh trials passes (pass@k).

    Args:
        successes: Trials that passed, 0 to `trials`.
        trials: Trials with a score; failed ones belong in neither count.
        k: 1 to `trials`.

    Returns:
        An unbiased estimate, 0.0 to 1.0.

    Raises:
        ValueError: If a number is out of its range.

    Source:
        Chen et al. 2021, "Evaluating Large Language Models Trained on Code", arXiv:2107.03374.

    Example:
        >>> pass_at_k(successes=1, trials=4, k=2)
        0.5
    """
    _check(successes, trials, k)
    return 1 - comb(trials - successes, k) / comb(trials, k)


def pass_hat_k(successes: int, trials: int, k: int) -> float:
    """Estimate the chance that all of `k` fresh trials pass (pass^k).

    Args:
        successes: Trials that passed, 0 to `trials`.
        trials: Trials with a score; failed ones belong in neither count.
        k: 1 to `trials`.

    Returns:
        An unbiased estimate, 0.0 to 1.0.

    Raises:
        ValueError: If a number is out of its range.

    Source:
        Yao et al. 2024, "tau-bench", arXiv:2406.12045.

    Example:
        >>> pass_hat_k(successes=3, trials=4, k=2)
        0.5
    """
    _check(successes, trials, k)
    return comb(successes, k) / comb(trials, k)


def flip_rate(successes: int, trials: int) -> float:
    """Estimate the chance that two fresh trials of one test end differently.

    Args:
        successes: Trials that passed, 0 to `trials`.
        trials: Trials with a score, at least 2.

    Returns:
        An unbiased estimate; 0.0 where all trials agree, around 0.5 at a coin's toss, and 1.0 for
        one pass in two trials.

    Raises:
        ValueError: If a number is out of its range.

    Source:
        Simpson 1949, "Measurement of diversity", Nature 163: one minus the unbiased chance that
        two draws without replacement agree.

    Example:
        >>> flip_rate(successes=2, trials=4) == 2 / 3
        True
    """
    _check(successes, trials, 2)
    return successes * (trials - successes) / comb(trials, 2)


def _check(successes: int, trials: int, k: int) -> None:
    if not 0 <= successes <= trials:
        raise ValueError(f"successes must be from 0 to {trials} (trials), not {successes}")
    if not 1 <= k <= trials:
        raise ValueError(f"{k} of {trials} trials: there must be 1 to {trials}")
