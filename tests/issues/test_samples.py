import pytest

from poor_bench.issues.detect import READ_FIELDS, READ_TEXTS, detect_issues
from poor_bench.issues.detector import IssueContext
from poor_bench.models.result import Result
from tests.issues.builders import ids_of, scored
from tests.issues.samples import SAMPLES, Sample


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_exactly_the_true_issues_are_found(sample: Sample) -> None:
    assert ids_of(scored(**sample.fields), sample.facts) == list(sample.issues)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_detectors_read_the_listed_fields_only(sample: Sample) -> None:
    read = {*READ_TEXTS, *READ_FIELDS, "failure"}
    whole = scored(**sample.fields)
    read_only = Result(**{name: value for name, value in vars(whole).items() if name in read})
    context = IssueContext(facts={whole.test_id: sample.facts} if sample.facts else {})
    assert [*detect_issues([read_only], context)] == [*detect_issues([whole], context)]
