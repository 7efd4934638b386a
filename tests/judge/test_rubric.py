from __future__ import annotations

from contextlib import suppress
from textwrap import indent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.errors import ConfigError
from poor_bench.judge.rubric import DEFAULT_RUBRIC, parse_rubric

TWO = """\
# How we judge

Look at every turn.

### 1. TONE (60%)
Polite.

```python
### 2. not a heading (10%)
```

### 2. Need & Timeline (40 %)
Asks for both.
#### Examples
"When?"

## Always
Be strict.
"""


def test_dimensions_weights_and_descriptions_are_read() -> None:
    rubric, warnings = parse_rubric(TWO, name="sales")
    assert warnings == ()
    assert rubric.names == ("tone", "need_timeline")
    assert [dimension.weight for dimension in rubric.dimensions] == [60.0, 40.0]
    assert "not a heading" in rubric.dimensions[0].description
    assert '"When?"' in rubric.dimensions[1].description
    assert rubric.text == "Look at every turn.\n\nBe strict."


@pytest.mark.parametrize("margin", ["    ", "\t\t", "  \t"])
@pytest.mark.parametrize("start", ["\n", ""])
def test_a_rubric_that_is_indented_as_a_whole_is_the_same_rubric(margin: str, start: str) -> None:
    indented = start + indent(TWO, margin) + margin
    rubric, _ = parse_rubric(indented.lstrip(" \t"))
    assert rubric == parse_rubric(TWO)[0]


def test_lines_of_an_indented_rubric_are_counted_as_they_stand() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_rubric("\n    Be strict.\n\n    ### TONE\n")
    assert [problem.line for problem in caught.value.problems] == [4]


def test_weights_that_do_not_sum_to_100_are_normalised_with_a_warning() -> None:
    rubric, (warning,) = parse_rubric("### A (30%)\n### B (30%)")
    assert [dimension.weight for dimension in rubric.dimensions] == [50.0, 50.0]
    assert "60 %" in warning


def test_weights_that_do_not_sum_to_100_are_an_error_when_strict() -> None:
    with pytest.raises(ConfigError, match=r"custom:2: the weights sum to 60 %"):
        parse_rubric("\n### A (30%)\n### B (30%)", strict=True)


def test_thirds_are_a_whole() -> None:
    assert parse_rubric("### A (33.33%)\n### B (33,33%)\n### C (33.34 %)", strict=True)[1] == ()


@pytest.mark.parametrize(
    ("markdown", "line", "message"),
    [
        ("Be nice.", 1, "the rubric has no dimension"),
        ("", 1, "the rubric has no dimension"),
        ("### A (100%)\n\n### B", 3, "has no weight"),
        ("### A (0%)\n### B (100%)", 1, "greater than 0"),
        ("### A (50%)\n### B (-50%)", 2, "greater than 0"),
        ("### A (101%)", 1, "at most 100"),
        ("### 1. Tone (50%)\ntext\n### 2. TONE (50%)", 3, "already defined in line 1"),
        ("### ??? (100%)", 1, "has no name"),
    ],
)
def test_mistakes_are_told_with_their_line(markdown: str, line: int, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_rubric(markdown, name="r.md")
    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == ("r.md", line)
    assert message in problem.message


def test_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_rubric("### A\n### B\n### C (x%)")
    assert [problem.line for problem in caught.value.problems] == [1, 2, 3]


def test_default_rubric_is_the_documented_one() -> None:
    weights = {item.name: item.weight for item in DEFAULT_RUBRIC.dimensions}
    assert weights == {
        "completeness": 25,
        "tone": 20,
        "engagement": 20,
        "compliance": 20,
        "conversion": 15,
    }


def test_hash_changes_with_what_the_judge_is_told_and_with_nothing_else() -> None:
    same, _ = parse_rubric(TWO, name="other name")
    other, _ = parse_rubric(TWO.replace("Polite", "Rude"))
    assert parse_rubric(TWO)[0].hash == same.hash != other.hash
    assert len(same.hash) == 16


weights = st.lists(st.integers(1, 100), min_size=1, max_size=8)


@given(weights)
def test_any_weights_end_up_as_a_whole_in_proportion(weights: list[int]) -> None:
    markdown = "\n".join(f"### {n}. d{n} ({weight}%)" for n, weight in enumerate(weights))
    rubric, warnings = parse_rubric(markdown)
    found = [dimension.weight for dimension in rubric.dimensions]
    assert sum(found) == pytest.approx(100)
    assert found == pytest.approx([weight * 100 / sum(weights) for weight in weights])
    assert bool(warnings) == (sum(weights) != 100)


@given(st.text())
def test_any_text_is_a_rubric_or_a_clear_error(text: str) -> None:
    with suppress(ConfigError):
        assert parse_rubric(text)[0].dimensions
