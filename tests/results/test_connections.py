from __future__ import annotations

import gc

import pytest

from poor_bench.results import connections
from poor_bench.results.connections import connect, open_database


class Owner:
    pass


def count_databases() -> int:
    with connect() as connection:
        query = "SELECT count(*) FROM duckdb_databases() WHERE database_name LIKE 'store_%'"
        [[count]] = connection.execute(query).fetchall()
    return int(count)


@pytest.mark.parametrize("n_bytes", [0, connections._MANY_BYTES])
def test_a_reader_sees_the_tables_of_its_own_database_only(n_bytes: int) -> None:
    owners = [Owner(), Owner()]
    for number, owner in enumerate(owners):
        connection, reader = open_database(owner, n_bytes)
        connection.execute(f"CREATE TABLE rows AS SELECT {number} AS number")
        assert reader.execute("FROM rows").fetchall() == [(number,)]


def test_a_small_database_goes_with_its_owner() -> None:
    gc.collect()
    owner = Owner()
    before = count_databases()
    open_database(owner, 0)
    assert count_databases() == before + 1
    del owner
    assert count_databases() == before


def test_an_instance_that_answers_no_more_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_INSTANCES", [])  # others use the one of this process
    with connect():
        connections._INSTANCES[0].close()
    with connect() as connection:
        assert connection.execute("SELECT 1").fetchall() == [(1,)]
    owner = Owner()
    assert open_database(owner, 0)[1].execute("SELECT 1").fetchall() == [(1,)]
