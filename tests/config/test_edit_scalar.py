from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.config.edit_yaml import value_at, with_text
from poor_bench.config.yaml_document import compose

DOCUMENTS = [
    "a: 1\nprompt: old # why\nb: 2\n",
    "a: 1\nprompt: |-\n  old\n  text\n# a comment\nb: 2\n",
    "a: 1\nprompt: >\n  old\n  text\n\nb: 2\n",
    "a: 1\nb: 2\nprompt: 'old'",
    "{a: 1, prompt: old, b: 2}\n",
    "a: 1\nb: 2\nprompt: |\n  old\n",
    "prompt: old\na: 1\nb: 2\n",
]


def changed(document: str, new: str) -> str:
    scalar = value_at(compose(document), ("prompt",))
    assert isinstance(scalar, yaml.ScalarNode)
    return with_text(document, scalar, new)


@pytest.mark.parametrize("document", DOCUMENTS)
@given(new=st.text(alphabet="ab #:{}\"'|->\n\t\\ä", max_size=40))
def test_the_new_text_stands_there_and_nothing_else_changed(document: str, new: str) -> None:
    written = changed(document, new)
    assert yaml.safe_load(written) == {"a": 1, "prompt": new, "b": 2}
    assert written.count("#") - new.count("#") == document.count("#")


def test_lines_stay_lines() -> None:
    written = changed("a: 1\nprompt: |-\n  old\n  text\n# a comment\nb: 2\n", "new\n\n  text")
    assert written == "a: 1\nprompt: |-\n  new\n\n    text\n# a comment\nb: 2\n"


def test_a_key_in_a_list_is_indented_enough() -> None:
    document = "list:\n  - prompt: old\n    b: 2\n"
    root = compose(document)
    scalar = value_at(value_at(root, ("list",)).value[0], ("prompt",))
    written = with_text(document, scalar, "new\ntext")
    assert written == "list:\n  - prompt: |-\n      new\n      text\n    b: 2\n"


def test_nothing_is_found_where_nothing_is() -> None:
    assert value_at(compose("a: {b: 1}"), ("a", "c")) is None
    assert value_at(compose("a: {b: 1}"), ("a", "b", "c")) is None
    assert value_at(None, ("a",)) is None
