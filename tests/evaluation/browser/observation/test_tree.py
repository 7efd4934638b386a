from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from poor_bench.evaluation.browser.observation import (
    describe_element,
    find_refs,
    hide_passwords,
    shorten_tree,
    write_compact_tree,
)

TREE = """\
- generic [active] [ref=e1]:
  - banner [ref=e2]:
    - link "Home" [ref=e3] [cursor=pointer]:
      - /url: /
  - generic [ref=e4]:
    - generic [ref=e5]:
      - textbox "Name" [active] [ref=e6]: ada
      - textbox "Password" [ref=e7]: secret
    - generic [ref=e8]: secret
  - button "Say \\"hi\\"" [disabled] [ref=e9]
  - heading "Title" [level=1] [ref=f1e2]"""


def test_elements_that_only_hold_others_are_left_out() -> None:
    assert write_compact_tree(TREE).splitlines() == [
        "- banner [ref=e2]:",
        '  - link "Home" [ref=e3] [cursor=pointer]:',
        "    - /url: /",
        '- textbox "Name" [active] [ref=e6]: ada',
        '- textbox "Password" [ref=e7]: secret',
        "- generic [ref=e8]: secret",
        '- button "Say \\"hi\\"" [disabled] [ref=e9]',
        '- heading "Title" [level=1] [ref=f1e2]',
    ]


def test_only_fields_hide_what_was_typed_into_password_fields() -> None:
    lines = hide_passwords(TREE, ["secret"]).splitlines()
    assert '      - textbox "Password" [ref=e7]: [hidden]' in lines
    assert "    - generic [ref=e8]: secret" in lines


def test_passwords_that_need_quotes_are_hidden_too() -> None:
    line = '- textbox "Password" [ref=e7]: "a: \\"b\\""'
    assert hide_passwords(line, ['a: "b"']) == '- textbox "Password" [ref=e7]: [hidden]'


def test_elements_are_described_by_role_and_name() -> None:
    assert describe_element(TREE, "e3") == 'link "Home"'
    assert describe_element(TREE, "e6") == 'textbox "Name"'
    assert describe_element(TREE, "f1e2") == 'heading "Title"'
    assert describe_element(TREE, "e8") == "generic secret"
    assert describe_element(TREE, "e99") is None


def test_references_are_listed_in_the_order_of_the_page() -> None:
    assert find_refs(TREE) == ["e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8", "e9", "f1e2"]


def test_a_long_tree_is_cut_at_the_end_of_a_line() -> None:
    shown, n_left_out = shorten_tree(TREE, 100)
    assert TREE.startswith(shown)
    assert len(shown) <= 100
    assert len(shown.splitlines()) + n_left_out == len(TREE.splitlines())


@given(st.text(), st.integers(min_value=1, max_value=200))
def test_no_tree_is_longer_than_allowed(tree: str, most: int) -> None:
    assert len(shorten_tree(tree, most)[0]) <= most


@given(st.text())
def test_any_text_can_be_compacted(tree: str) -> None:
    assert len(write_compact_tree(tree)) <= len(tree) + 1


def test_quotes_of_yaml_are_no_part_of_an_element() -> None:
    tree = """- 'link "Tom''s tab #1" [ref=e7] [cursor=pointer]':"""
    assert describe_element(tree, "e7") == """link "Tom's tab #1\""""
