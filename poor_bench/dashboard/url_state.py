"""The state of a page in the query of its address."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, ClassVar, Self
from urllib.parse import parse_qs, urlencode

from poor_bench.dashboard.url_values import YES, TableView, pack_values, parse_value, unpack_values

_MOST_FIELDS = 500
_THEMES = frozenset({"light", "dark"})
"""As `assets/00-color-scheme.js` reads them."""


Checks = Mapping[str, Callable[[Any], bool]]
"""Name of a field of `UrlState` to what tells if a value of it exists."""


def query_field(
    name: str, default: Any = "", *, kind: type | None = None, is_packed: bool = False
) -> Any:
    """Declare a field of `UrlState` whose name in the query differs, or whose values are parsed.

    Args:
        name: Name in the query.
        default: Its value where the query does not name it; a tuple takes several values.
        kind: Type of a value, if the default does not tell.
        is_packed: Write many values as one short text; for tuples of texts.
    """
    return field(default=default, metadata={"name": name, "kind": kind, "is_packed": is_packed})


@dataclass(frozen=True, kw_only=True)
class UrlState:
    """The state of one page; subclasses declare its fields, with types and defaults.

    A value that equals its default is left out of the query. What makes no sense in a query is
    read as the default.
    """

    LLM_FIELDS: ClassVar[tuple[str, ...]] = ("llm_ids",)
    """Fields whose values name models."""
    STEPS: ClassVar[frozenset[str]] = frozenset()
    """Fields with the page of a list, from 1: other filters begin at the first page."""
    STAYS_ON_PAGE: ClassVar[frozenset[str]] = frozenset()
    """Fields that change without going back to the first page."""

    @classmethod
    def name_in_query(cls, names: Iterable[str]) -> list[str]:
        """List what the query calls some fields."""
        queried = {each.name: _name(each) for each in fields(cls)}
        return [queried[name] for name in names]

    @classmethod
    def read(cls, search: str | None) -> Self:
        """Parse the query of an address; one of absurd length counts as empty.

        Example:
            >>> @dataclass(frozen=True, kw_only=True)
            ... class Demo(UrlState):
            ...     classes: tuple[str, ...] = query_field("class", ())
            ...     page: int = 1
            >>> Demo.read("?class=a&class=b&page=x")
            Demo(classes=('a', 'b'), page=1)
        """
        query = _parse_query(search)
        return cls(
            **{
                each.name: _parse(query[name], each)
                for each in fields(cls)
                if (name := _name(each)) in query
            }
        )

    @classmethod
    def find_senseless(cls, search: str | None) -> list[str]:
        """List what a query holds that `read` takes as the default, as `name=value`.

        Example:
            >>> ListUrl.find_senseless("?page=x&page=2&text=y")
            ['page=x']
        """
        query = _parse_query(search)
        themes = [f"theme={text}" for text in query.get("theme", ()) if text not in _THEMES]
        return themes + [
            f"{name}={text}"
            for each in fields(cls)
            for name in [_name(each)]
            for text in query.get(name, ())[: _most_values(each)]
            if _is_senseless(text, each)
        ]

    def keep_known(self, checks: Checks) -> tuple[Self, list[str]]:
        """Copy the state without values that do not exist, and list those as `name=value`.

        Args:
            checks: Name of a field to what tells if one of its values exists.
        """
        kept: dict[str, Any] = {}
        unknown: list[str] = []
        for each in (each for each in fields(self) if each.name in checks):
            value, exists = getattr(self, each.name), checks[each.name]
            chosen = value if isinstance(value, tuple) else (value,) * (value != each.default)
            gone = [one for one in chosen if not exists(one)]
            unknown += [f"{_name(each)}={one}" for one in gone]
            if gone:
                known = tuple(one for one in chosen if one not in gone)
                kept[each.name] = known if isinstance(value, tuple) else each.default
        return replace(self, **kept), unknown

    @property
    def search(self) -> str:
        """The query of the address of this state."""
        return write_query(
            (_name(each), value)
            for each in fields(self)
            if getattr(self, each.name) != each.default
            for value in _values(getattr(self, each.name), each)
        )

    def change(self, **changes: Any) -> Self:
        """Copy the state with other values."""
        if changes.keys() - self.STAYS_ON_PAGE - self.STEPS:
            changes = dict.fromkeys(self.STEPS, 1) | changes
        return replace(self, **changes)

    def toggle(self, name: str, value: Any) -> Self:
        """Copy the state with a value added to a field, or removed if it is there."""
        present: tuple[Any, ...] = getattr(self, name)
        others = tuple(other for other in present if other != value)
        return self.change(**{name: others if value in present else (*present, value)})

    def with_llm_ids(self, find_id: Callable[[str], str]) -> Self:
        """Copy the state with the ids of the models that it names.

        Args:
            find_id: Finds the id of the model that a name means.
        """
        found: dict[str, Any] = {}
        for name in self.LLM_FIELDS:
            value = getattr(self, name, None)
            if value:
                is_one = isinstance(value, str)
                found[name] = find_id(value) if is_one else tuple(map(find_id, value))
        return replace(self, **found)


@dataclass(frozen=True, kw_only=True)
class GridUrl(UrlState):
    """The state of a page with a table of `components/grids.py`; `assets/grid_view.js` writes it.

    Empty texts and 0 stand for what the table starts with.
    """

    sort: str = query_field("table-sort")
    """Fields in the order in which they sort, joined by commas; descending ones after a minus."""
    columns: str = query_field("table-columns")
    """Fields of the columns that are shown, in their order, joined by commas."""
    rows: int = query_field("table-rows", 0)
    """Rows on a page."""
    page: int = query_field("table-page", 1)

    @property
    def view(self) -> GridUrl:
        """The state of the table alone."""
        return GridUrl(sort=self.sort, columns=self.columns, rows=self.rows, page=self.page)

    @property
    def without_view(self) -> Self:
        """The same without the state of the table."""
        return self.change(sort="", columns="", rows=0, page=1)

    @property
    def sorting(self) -> list[tuple[str, bool]]:
        """Fields that sort, first the most important one, and True where descending.

        Example:
            >>> GridUrl(sort="-score,model").sorting
            [('score', True), ('model', False)]
        """
        names = filter(None, self.sort.split(","))
        return [(name.removeprefix("-"), name.startswith("-")) for name in names]


@dataclass(frozen=True, kw_only=True)
class TablesUrl(UrlState):
    """The state of a page with tables of `components/sheets.py`."""

    tables: tuple[str, ...] = query_field("table", ())
    """Name, order and columns of each table whose view the reader changed, as `cases~-score~case`.
    """

    def find_view(self, name: str) -> TableView:
        """Read what the reader chose of a table.

        Example:
            >>> TablesUrl(tables=("cases~-score~case.score",)).find_view("cases")
            TableView(name='cases', sort='-score', columns=('case', 'score'))
        """
        texts = (text for text in self.tables if text.split("~")[0] == name)
        return TableView.read(next(texts, name))

    def with_view(self, view: TableView) -> Self:
        """Copy the state with another view of a table; lists stay on their page."""
        others = [text for text in self.tables if text.split("~")[0] != view.name]
        return replace(self, tables=tuple(sorted(filter(None, [*others, view.text]))))


@dataclass(frozen=True, kw_only=True)
class ListUrl(TablesUrl):
    """The state of a page with a list of tests and a panel beside it."""

    STEPS = frozenset({"page"})
    STAYS_ON_PAGE = frozenset({"test"})
    classes: tuple[str, ...] = query_field("class", ())
    text: str = ""
    page: int = 1
    test: str = ""
    """The test that is open; may be empty."""


def write_query(pairs: Iterable[tuple[str, str]]) -> str:
    """Write names and values as the query of an address; empty values are left out.

    Example:
        >>> write_query([("llm", "a:b"), ("class", "c"), ("text", "")])
        '?llm=a%3Ab&class=c'
    """
    query = urlencode([(name, value) for name, value in pairs if value])
    return f"?{query}" if query else ""


def model_link(
    llm_id: str, *, classes: Iterable[str] = (), levels: Iterable[int] = (), **further: str
) -> str:
    """Write the address of the results of a model.

    Example:
        >>> model_link("ollama:gemma3:1b", classes=["math"], levels=[1])
        '/model?llm=ollama%3Agemma3%3A1b&class=math&level=1'
    """
    query = [("llm", llm_id), *(("class", name) for name in classes)]
    query += [("level", str(level)) for level in levels]
    return f"/model{write_query([*query, *further.items()])}"


def result_link(llm_id: str, test_id: str, *, trial: int = 1, is_failure: bool = False) -> str:
    """Write the address of one result on page Model.

    Example:
        >>> result_link("ollama:gemma3:1b", "sum_001", trial=2)
        '/model?llm=ollama%3Agemma3%3A1b&test=sum_001&trial=2'
    """
    further = [("trial", str(trial) if trial > 1 else ""), ("failed", YES if is_failure else "")]
    return f"/model{write_query([('llm', llm_id), ('test', test_id), *further])}"


def compare_link(llm_ids: Iterable[str], *, test: str = "") -> str:
    """Write the address of some models side by side, one test open.

    Example:
        >>> compare_link(["a", "b"], test="sum_001")
        '/compare?llm=a&llm=b&test=sum_001'
    """
    return f"/compare{write_query([*(('llm', llm_id) for llm_id in llm_ids), ('test', test)])}"


def edit_test_link(test_id: str) -> str:
    """Write the address of one test on page Tests, where it can be edited.

    Example:
        >>> edit_test_link("sum_001")
        '/tests?test=sum_001'
    """
    return f"/tests{write_query([('test', test_id)])}"


def link_to_tests(
    *, classes: Iterable[str] = (), levels: Iterable[int] = (), severity: str = ""
) -> str:
    """Write the address of page Tests with filters.

    Example:
        >>> link_to_tests(classes=["math"], severity="high")
        '/tests?class=math&severity=high'
    """
    query = [*(("class", name) for name in classes), *(("level", str(each)) for each in levels)]
    return f"/tests{write_query([*query, ('severity', severity)])}"


class Redo(StrEnum):
    """Which trials of a selection a run asks."""

    PENDING = "pending"
    """Those without a current score: new, failed and stale ones."""
    FAILED = "failed"
    STALE = "stale"
    AGAIN = "again"
    """Failed and stale ones."""
    ALL = "all"
    """Completed ones, too."""


@dataclass(frozen=True, kw_only=True)
class RunUrl(TablesUrl):
    """The state of page Run: what its controls choose. Empty filters choose everything."""

    llm_ids: tuple[str, ...] = query_field("llm", ())
    classes: tuple[str, ...] = query_field("class", ())
    levels: tuple[str, ...] = query_field("level", ())
    tests: tuple[str, ...] = query_field("test", (), is_packed=True)
    """Ids or globs."""
    trials: int = 1
    redo: Redo = Redo.PENDING


def run_link(
    *,
    llm_ids: Iterable[str] = (),
    classes: Iterable[str] = (),
    levels: Iterable[int | str] = (),
    tests: Iterable[str] = (),
    trials: int = 1,
    redo: Redo | bool = Redo.PENDING,
) -> str:
    """Write the address of page Run with a selection; empty filters choose everything.

    Choose by filters where they say the same as a list of tests; a list of any length works.

    Args:
        llm_ids: Ids of models.
        classes: Ids of test classes.
        levels: Numbers of levels.
        tests: Ids of tests, or globs.
        trials: Trials of every test.
        redo: Which trials of the selection are asked; True stands for all.

    Example:
        >>> run_link(llm_ids=["ollama:gemma3:1b"], tests=["sum_001"], redo=Redo.ALL)
        '/run?llm=ollama%3Agemma3%3A1b&test=sum_001&redo=all'
    """
    url = RunUrl(
        llm_ids=tuple(llm_ids),
        classes=tuple(classes),
        levels=tuple(map(str, levels)),
        tests=tuple(tests),
        trials=trials,
        redo=(Redo.ALL if redo else Redo.PENDING) if isinstance(redo, bool) else redo,
    )
    return f"/run{url.search}"


def _parse_query(search: str | None) -> dict[str, list[str]]:
    try:
        return parse_qs((search or "").removeprefix("?"), max_num_fields=_MOST_FIELDS)
    except ValueError:
        return {}


def _most_values(each: Field[Any]) -> int:
    return _MOST_FIELDS if isinstance(each.default, tuple) else 1


def _kind(each: Field[Any]) -> Any:
    """Type of one value."""
    default = each.default
    return each.metadata.get("kind") or (str if isinstance(default, tuple) else type(default))


def _is_senseless(text: str, each: Field[Any]) -> bool:
    value = parse_value(text, _kind(each))
    return value is None or (type(each.default) is type(value) is int and value < each.default)


def _name(each: Field[Any]) -> str:
    return str(each.metadata.get("name", each.name))


def _values(value: Any, each: Field[Any]) -> Iterable[str]:
    if isinstance(value, tuple):
        texts = tuple(map(str, value))
        return pack_values(texts) if each.metadata.get("is_packed") else texts
    if isinstance(value, bool):
        return [YES if value else ""]
    return ["" if value is None else str(value)]


def _parse(texts: list[str], each: Field[Any]) -> Any:
    default: Any = each.default
    if isinstance(default, tuple):
        texts = list(unpack_values(texts)) if each.metadata.get("is_packed") else texts
        parsed = (parse_value(text, _kind(each)) for text in texts)
        return tuple(value for value in parsed if value is not None)
    value = parse_value(texts[0], _kind(each))
    if type(value) is int:
        return max(value, default)  # no page before the first
    return default if value is None else value
