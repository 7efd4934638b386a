import numpy as np
import pytest

from poor_bench.statistics.significance import (
    NeededEvidence,
    compute_sign_flip_p_values,
    count_needed_tests,
    count_needed_trials,
    plan_evidence,
    smallest_difference,
)


# Miller 2024, "Adding Error Bars to Evals", section 5: a variance of 1/9 between questions and a
# difference of 3 points ask for 969 questions.
def test_published_number_of_questions() -> None:
    assert count_needed_tests(0.03, (1 / 9) ** 0.5) == 969


def test_needed_tests_and_smallest_difference_are_each_others_inverse() -> None:
    n_tests = count_needed_tests(0.04, 0.5)
    assert smallest_difference(n_tests, 0.5) == pytest.approx(0.04, rel=1e-3)


def test_no_difference_needs_no_end_of_tests() -> None:
    assert count_needed_tests(0.0, 0.3) is None


@pytest.mark.parametrize("difference", [1e-17, -1e-12])
def test_a_difference_of_rounding_is_none(difference: float) -> None:
    assert count_needed_tests(difference, 0.3) is None
    barely = {"between_variance": 0.0, "trial_variance": 0.1}
    assert count_needed_trials(difference, 100, **barely) is None


def test_stricter_demands_need_more_tests() -> None:
    assert count_needed_tests(0.05, 0.3) < count_needed_tests(0.05, 0.3, alpha=0.05 / 36)


def test_the_promised_power_is_kept() -> None:
    rng = np.random.default_rng(7)
    n_tests = count_needed_tests(0.2, 1.0 * 0.6**0.5)
    draws = rng.choice([1.0, 0.0, -1.0], (n_tests, 1500), p=[0.42, 0.36, 0.22])
    found = compute_sign_flip_p_values(draws) < 0.05
    assert 0.75 < found.mean() < 0.87


def test_many_pairs_need_more_tests() -> None:
    seen, ones, none = [1.0, 0.0, -1.0, 0.0, 1.0] * 12, [[1, 1]] * 60, [[0.0, 0.0]] * 60
    alone = plan_evidence(seen, ones, none)
    among = plan_evidence(seen, ones, none, factor=153)
    assert alone.tests == count_needed_tests(0.2, np.std(seen, ddof=1))
    assert among.tests == count_needed_tests(0.2, np.std(seen, ddof=1), alpha=0.05 / 153)
    assert (alone.trials, alone.text) == (None, f"about {alone.tests} tests")


def test_what_needs_fewer_calls_is_recommended() -> None:
    few_noisy = NeededEvidence(n_tests=60, n_trials=2, tests=150, trials=5)
    assert few_noisy.text == ("about 5 trials of each of these tests (or 150 tests)")
    differing = NeededEvidence(n_tests=60, n_trials=2, tests=90, trials=50)
    assert not differing.prefers_trials
    assert differing.text.startswith("about 90 tests (or 50 trials")
    enough = NeededEvidence(n_tests=60, n_trials=2, tests=60, trials=2)
    assert enough.text == ""


def test_trials_help_only_against_the_noise_of_trials() -> None:
    variances = {"between_variance": 0.06, "trial_variance": 0.12}
    assert count_needed_trials(0.05, 300, **variances) == 4
    assert count_needed_trials(0.05, 150, **variances) is None
    assert count_needed_trials(0.0, 300, **variances) is None


def test_trials_are_at_least_one() -> None:
    assert count_needed_trials(0.5, 300, between_variance=0.01, trial_variance=0.0) == 1


@pytest.mark.parametrize("options", [{"alpha": 0}, {"alpha": 1}, {"deviation": -1}])
def test_impossible_demands_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        count_needed_tests(0.1, **{"deviation": 0.3, **options})


def test_no_tests_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        smallest_difference(0, 0.3)
    with pytest.raises(ValueError, match="at least 1"):
        count_needed_trials(0.1, 0, between_variance=0.1, trial_variance=0.1)
