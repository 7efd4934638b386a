from __future__ import annotations

import pytest

from poor_bench.errors import ConfigError
from poor_bench.evaluation.factories import import_factory


@pytest.mark.parametrize(
    ("written", "message", "hint"),
    [
        ("tests.evaluation.agent:echo", "`tests.evaluation.agent` does not exist", "agents"),
        ("poor_bench.evaluatoin.x:echo", "`poor_bench.evaluatoin` does not exist", "evaluation"),
        ("tests.evaluation.agents:ecco", "does not have a function `ecco`", "`echo`"),
    ],
)
def test_a_profile_that_does_not_exist_names_the_nearest(
    written: str, message: str, hint: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        import_factory(written)
    assert message in str(caught.value)
    assert hint in caught.value.hint
    assert "importlib" not in str(caught.value)
