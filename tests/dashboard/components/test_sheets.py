"""Tables whose order and columns stand in the address; files have the same."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.dashboard.components.controls import StayLinks
from poor_bench.dashboard.components.sheets import SheetColumn, SheetTable
from poor_bench.dashboard.url_state import TablesUrl
from poor_bench.dashboard.url_values import TableView
from tests.dashboard.seen_text import of_type, text_of


@dataclass(frozen=True)
class Line:
    name: str
    score: float | None = None
    cost: float | None = None


TABLE: SheetTable[Line] = SheetTable(
    name="lines",
    label="Lines",
    kept=[("ID", lambda line: f"id-{line.name}")],
    columns=[
        SheetColumn(field="name", heading="Name", value=lambda line: line.name),
        SheetColumn(
            field="score", heading="Score", value=lambda line: line.score,
            further=[("Score low", lambda line: 0.0)],
        ),
        SheetColumn(
            field="cost", heading="Cost", value=lambda line: line.cost, is_optional=True,
            file_heading="Cost ($)",
        ),
        SheetColumn(field="extra", heading="Extra", value=lambda line: 1, is_hidden=True),
    ],
)  # fmt: skip
LINES = [Line("b", 0.5), Line("C"), Line("a", 0.7)]
LINKS = StayLinks("store")


def url(sort: str = "", *columns: str) -> TablesUrl:
    return TablesUrl().with_view(TableView("lines", sort, columns))


def test_cells_have_thousands_apart_and_files_the_plain_number() -> None:
    column: SheetColumn[int] = SheetColumn(field="n", heading="N", value=lambda n: n)
    table = SheetTable(name="counts", label="Counts", columns=[column])
    assert column.draw(2000) == "2,000"
    assert table.file("f", [2000], TablesUrl()).rows == [{"N": 2000}]


@pytest.mark.parametrize(
    ("sort", "names"),
    [("", "bCa"), ("name", "abC"), ("-name", "Cba"), ("score", "baC"), ("-score", "abC"),
     ("cost", "bCa"), ("nonsense", "bCa")],
)  # fmt: skip
def test_the_screen_and_the_file_have_the_chosen_order(sort: str, names: str) -> None:
    drawn = of_type(TABLE.draw(LINES, LINKS, url(sort)), "Tbody")[0].children
    assert "".join(text_of(line)[0] for line in drawn) == names
    assert "".join(row["Name"] for row in TABLE.file("f", LINES, url(sort)).rows) == names


@pytest.mark.parametrize(
    ("columns", "headings"),
    [
        ((), ["ID", "Name", "Score", "Score low"]),
        (("name", "cost"), ["ID", "Name", "Cost ($)"]),
        (("extra", "score"), ["ID", "Name", "Score", "Score low", "Extra"]),
        (("name",), ["ID", "Name"]),
        (("nonsense",), ["ID", "Name", "Score", "Score low"]),
    ],
)
def test_files_hold_the_shown_columns_and_what_belongs_to_them(
    columns: tuple[str, ...], headings: list[str]
) -> None:
    file = TABLE.file("f", LINES, url("", *columns))
    assert [heading for _, heading in file.columns] == headings


def test_a_heading_sorts_up_then_down_then_not_at_all() -> None:
    state = TablesUrl()
    for order, following in (("none", "score"), ("ascending", "-score"), ("descending", "")):
        [head] = [
            head for head in of_type(TABLE.draw(LINES, LINKS, state), "Th")
            if text_of(head).startswith("Score")
        ]  # fmt: skip
        assert getattr(head, "aria-sort") == order
        state = TablesUrl.read(head.children.href)
        assert state.find_view("lines").sort == following


def test_a_tick_hides_a_column_and_reset_brings_it_back() -> None:
    def tick(state: TablesUrl, text: str) -> TablesUrl:
        links = of_type(of_type(TABLE.draw(LINES, LINKS, state), "Details")[0], "A")
        return TablesUrl.read(next(link for link in links if text_of(link) == text).href)

    hidden = tick(TablesUrl(), "Score")
    assert "0.5" not in text_of(TABLE.draw(LINES, LINKS, hidden))
    assert tick(hidden, "Reset") == TablesUrl()
    assert "n/a" in text_of(TABLE.draw(LINES, LINKS, tick(TablesUrl(), "Cost")))


@given(st.text(max_size=20), st.lists(st.sampled_from(["lines", "others"])))
def test_any_address_can_be_read(text: str, names: list[str]) -> None:
    state = TablesUrl(tables=(text, *(f"{name}~{text}" for name in names)))
    TABLE.draw(LINES, LINKS, state)
    kept = state.with_view(TableView("lines", "-score"))
    assert kept.find_view("lines") == TableView("lines", "-score")
    assert kept.find_view("others") == state.find_view("others") or "others" not in names
