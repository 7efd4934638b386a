from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from poor_bench.comparison.result_set import (
    ComparedSubject,
    SubjectKind,
    hash_prompt,
    tell_parameters_apart,
)
from poor_bench.models.test import Test
from poor_bench.prompts import render_prompt

names = st.text(min_size=1, max_size=20).filter(lambda name: "@" not in name)
versions = st.from_regex(r"[a-zA-Z0-9_.-]{1,20}", fullmatch=True)


@given(names, st.sampled_from(SubjectKind), versions)
def test_a_subject_is_read_as_it_is_written(llm_id: str, kind: SubjectKind, version: str) -> None:
    is_model = kind is SubjectKind.MODEL
    subject = ComparedSubject(llm_id=llm_id, kind=kind, version="" if is_model else version)
    if "\n" not in llm_id:
        assert ComparedSubject.parse(subject.text) == subject


def test_an_id_with_an_at_sign_is_a_model() -> None:
    assert ComparedSubject.parse("ollama:x@latest").kind is SubjectKind.MODEL


def test_a_prompt_version_changes_with_the_template_and_the_system_prompt_only() -> None:
    one, two = (Test(test_id=t, class_id="c", level=1, text=t) for t in ("1+1", "2+2"))
    assert hash_prompt("", "Do 1+1", one) == hash_prompt("", "Do 2+2", two)
    assert hash_prompt("", "Do 1+1", one) != hash_prompt("", "Solve 1+1", one)
    assert hash_prompt("", "Do 1+1", one) != hash_prompt("Be brief", "Do 1+1", one)
    assert hash_prompt("", "", one) == ""


def test_tests_of_several_texts_share_the_version_of_their_prompt() -> None:
    counts = (["Good"], ["Good", "Bad"], ['She said "no"', "Müde", "Bad"])
    tests = [Test(test_id=str(len(each)), class_id="c", level=1, texts=each) for each in counts]
    template = "{texts}\nGood or Bad?"
    assert len({hash_prompt("", render_prompt(template, test), test) for test in tests}) == 1


def test_sets_with_long_parameters_have_short_names_that_differ() -> None:
    schemas = [{"properties": {f"key_{n}": {} for n in range(99)}, "required": [k]} for k in "ab"]
    sets = [{"response_format": schema, "seed": n} for n, schema in enumerate(schemas)]
    first, second = (tell_parameters_apart(each, sets) for each in sets)
    assert first.startswith('response_format {"properties": {"key_0": {}')
    assert len(first) < 120
    assert first.replace("seed 0", "") != second.replace("seed 1", "")
