import pytest

from tests.issues.builders import ids_of, scored
from tests.issues.samples import SAMPLES, Sample


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_exactly_the_true_issues_are_found(sample: Sample) -> None:
    assert ids_of(scored(**sample.fields), sample.facts) == list(sample.issues)
