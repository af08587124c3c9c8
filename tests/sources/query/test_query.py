"""A query sees the careful rows of the files and nothing else, and gives the same rows for the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.errors import AudiencekitError, Bug, SourceRefused, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.query import query, querytable
from audiencekit.sources.source import Source
from audiencekit.sources.sourceopening import open_source
from tests.canary.witnesses import package_frames_of

Rows = Callable[[Source], list[dict[str, Any]]]
Query = Callable[..., Source]

LIST = (
    b"Email,age,E Mail,phone\n"
    b"ann@example.com,31,ann@example.org,+493012345601\n"
    b"bob@example.com,7,,+493012345602\n"
    b"ragged@example.com\n"
    b"cay@example.com,007,cay@example.org,+493012345603\n"
)


@pytest.fixture
def ask(tmp_path: Path) -> Query:
    """Queries a small list; keywords are options."""
    path = tmp_path / "list.csv"
    path.write_bytes(LIST)

    def make(sql: str, **options: Any) -> Source:
        return open_source(path, SourceOptions(sql=sql, **options))

    return make


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT Email AS email FROM source", ["ann@example.com", "bob@example.com", "cay@example.com"]),
        ("select lower(Email) as email from source where age = '007'", ["cay@example.com"]),
        ("SELECT Email AS email FROM source WHERE CAST(age AS INT) < 10 LIMIT 1", ["bob@example.com"]),
        ("SELECT s.Email AS email FROM source AS s ORDER BY age",
         ["cay@example.com", "ann@example.com", "bob@example.com"]),
        ('SELECT "E Mail" AS email FROM source WHERE "E Mail" <> \'\'', ["ann@example.org", "cay@example.org"]),
        ("SELECT replace(column3, 'org', 'net') AS email FROM (SELECT \"E Mail\" AS column3 FROM source)",
         ["ann@example.net", "", "cay@example.net"]),
        ('SELECT Email AS email FROM source UNION ALL SELECT "E Mail" FROM source',
         ["ann@example.com", "bob@example.com", "cay@example.com", "ann@example.org", "", "cay@example.org"]),
        ("SELECT a.Email AS email FROM source a JOIN source b ON a.age = b.age ORDER BY a.Email DESC -- all",
         ["cay@example.com", "bob@example.com", "ann@example.com"]),
        ("WITH old AS (SELECT * FROM source WHERE age = '31') SELECT Email AS email FROM old;", ["ann@example.com"]),
        ("SELECT Email AS email FROM source WHERE false", []),
    ],
)  # fmt: skip
def test_the_result_is_the_source(ask: Query, rows_of: Rows, sql: str, expected: list[str]) -> None:
    """Its rows are numbered from 1, in its order, and text is text: 007 is not 7."""
    source = ask(sql)
    assert [(row["row"], row["c0"]) for row in rows_of(source)] == list(enumerate(expected, 1))
    assert (source.name, source.rows_read) == ("the query over list.csv", len(expected))
    assert source.parts[0].description == {"format": "query", "columns": 1}


def test_the_files_are_read_to_their_end_and_told_of(ask: Query, rows_of: Rows) -> None:
    """Whatever the query needed of them."""
    for sql in ("SELECT Email AS email FROM source LIMIT 1", "SELECT Email AS email FROM source WHERE false"):
        source = ask(sql)
        rows_of(source)
        assert "1 of the 4 rows could not be read, and the query did not see them" in source.notes


@pytest.mark.parametrize("sql", ["SELECT email FROM source LIMIT 1", "SELECT count(*) AS platform_id FROM source"])
@pytest.mark.parametrize(
    ("tail", "message"),
    [
        (b'"open@example.com,1\n', r"list\.csv: a quote is opened"),
        (b"ragged\n" * 12, r"list\.csv: 12 of "),
    ],
)
def test_files_that_cannot_be_trusted_are_refused(
    tmp_path: Path, rows_of: Rows, sql: str, tail: bytes, message: str
) -> None:
    """Also behind what LIMIT wants, and with the reader's own words."""
    path = tmp_path / "list.csv"
    path.write_bytes(b"email,n\n" + b"a@example.com,1\n" * 2000 + tail)
    with pytest.raises(SourceRefused, match=message) as caught:
        rows_of(open_source(path, SourceOptions(sql=sql)))
    assert caught.value.row is not None
    assert caught.value.row > 2000


def test_a_second_pass_asks_again(ask: Query, rows_of: Rows) -> None:
    """The first goes on with what the look began."""
    source = ask("SELECT Email AS email FROM source ORDER BY Email DESC")
    assert rows_of(source) == rows_of(source)


LOCKED = [
    "SELECT * FROM '/etc/passwd'",
    'SELECT * FROM "/etc/passwd"',
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_parquet('x')",
    "SELECT * FROM generate_series(1, 1000000000)",
    "SELECT * FROM range(1, 3)",
    "COPY source TO '{out}'",
    "COPY (SELECT Email FROM source) TO '{out}' STORED AS CSV",
    "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '/etc/passwd'",
    "CREATE TABLE t AS SELECT * FROM source",
    "CREATE VIEW v AS SELECT * FROM source",
    "DROP TABLE source",
    "INSERT INTO source VALUES ('a', 'b', 'c', 'd')",
    "UPDATE source SET age = '1'",
    "DELETE FROM source",
    "SET datafusion.execution.target_partitions = 4",
    "SHOW ALL",
    "SHOW TABLES",
    "DESCRIBE source",
    "EXPLAIN SELECT * FROM source",
    "EXPLAIN ANALYZE SELECT * FROM source",
    "PREPARE p AS SELECT * FROM source",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM source; SELECT * FROM source",
    "SELECT * FROM source; DROP TABLE source",
    "SELECT Email AS email, random() AS n FROM source",
    "SELECT Email AS email FROM source ORDER BY uuid()",
    "SELECT Email AS email FROM source WHERE now() > '2020-01-01'",
    "SELECT Email AS email, current_date FROM source",
    "SELECT Email AS email, CURRENT_TIMESTAMP FROM source",
    "SELECT Email AS email, current_time() FROM source",
    "SELECT getenv('HOME') AS handle FROM source",
    "SELECT 'someone@example.com' AS email",
    "VALUES ('someone@example.com')",
    "WITH source AS (SELECT 'a@example.com' AS email) SELECT * FROM source",
    "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT Email AS email FROM source, n",
    "SELECT DISTINCT email FROM (SELECT Email AS email FROM source UNION ALL SELECT Email FROM source)",
    "SELECT Email AS email FROM source UNION ALL SELECT Email FROM source ORDER BY 1",
    "SELECT nothing FROM source",
    "SELECT Email FROM elsewhere",
    "SELEC Email FROM source",
    "",
    "-- nothing",
]


@pytest.mark.parametrize("sql", LOCKED)
def test_anything_but_one_select_over_the_table_is_refused(ask: Query, tmp_path: Path, sql: str) -> None:
    """No file, no setting, no other table, no second statement, no chance, no clock; and nothing is written."""
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UsageError):
        ask(sql.format(out=tmp_path / "out.csv"))
    assert sorted(tmp_path.rglob("*")) == before


def test_a_mistake_is_placed(ask: Query) -> None:
    """By line and column, without quoting the query."""
    with pytest.raises(UsageError, match="line 2, column 6") as caught:
        ask("SELECT Email\nFORM source WHERE Email = 'markerson@example.com'")
    assert "markerson" not in str(caught.value) + caught.value.hint


MARKED = [
    ("email\nmarkerson@example.com\n", "SELECT CAST(email AS INT) AS platform_id FROM source"),
    ("email\nmarkerson@example.com\n", "SELECT email FROM source WHERE 1 / (length(email) - 21) = 1"),
    ("email\nmarkerson@example.com\n", "SELECT email FROM source WHERE markerson = 1"),
    ("email\nmarkerson@example.com\n", "SELECT email FROM source WHERE 'markerson' = CAST(email AS TIMESTAMP)"),
    ('email\nmarkerson@example.com\n"markerson"x\n', "SELECT email FROM source"),
]


@pytest.mark.parametrize(("data", "sql"), MARKED, ids=range(len(MARKED)))
def test_no_error_of_the_engine_shows_a_cell(write: Callable[..., Path], rows_of: Rows, data: str, sql: str) -> None:
    """It quotes them; what is raised does not, nor do its frames."""
    with pytest.raises(AudiencekitError) as caught:
        rows_of(open_source(write(data.encode()), SourceOptions(sql=sql)))
    error = caught.value
    assert not isinstance(error, Bug)
    assert "markerson" not in "\n".join([str(error), error.hint, repr(vars(error)), package_frames_of(error)])
    assert (error.__cause__, error.__context__) == (None, None)


def test_a_bug_of_the_table_is_a_bug(ask: Query, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not told as a fault of the query."""

    def stumble(*_: object) -> None:
        raise ValueError("markerson@example.com")

    monkeypatch.setattr(querytable, "_as_declared", stumble)
    with pytest.raises(Bug) as caught:
        ask("SELECT Email AS email FROM source")
    assert "markerson" not in str(caught.value)


def test_a_query_has_bounded_memory_and_no_disk(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, rows_of: Rows
) -> None:
    """A sort of more than it may hold is refused; a stream needs none."""
    monkeypatch.setattr(query, "QUERY_MEMORY_BYTES", 1_000_000)
    path = write(b"email\n" + b"".join(b"p%d@example.com\n" % n for n in range(200_000)))
    with pytest.raises(SourceRefused, match="more than 1,000,000 bytes of memory"):
        rows_of(open_source(path, SourceOptions(sql="SELECT email FROM source ORDER BY email")))
    assert len(rows_of(open_source(path, SourceOptions(sql="SELECT lower(email) AS email FROM source")))) == 200_000


@pytest.mark.parametrize(
    ("expression", "kind", "expected"),
    [
        ("CAST(age AS BIGINT) + 9007199254740993", Kind.PLATFORM_ID, ["9007199254741024", "9007199254741000"]),
        ("CAST(age AS DECIMAL(20, 2))", Kind.PLATFORM_ID, ["31", "7"]),
        ("CAST(NULL AS TEXT)", Kind.EMAIL, [None, None]),
        ("string_to_array(Email, '@')", Kind.EMAIL, [["ann", "example.com"], ["bob", "example.com"]]),
    ],
)
def test_results_are_text_exactly(ask: Query, rows_of: Rows, expression: str, kind: Kind, expected: list[Any]) -> None:
    """Whole numbers by their digits, lists as several values."""
    source = ask(f"SELECT {expression} AS x FROM source LIMIT 2", columns=((kind, "x"),))
    assert [row["c0"] for row in rows_of(source)] == expected


@pytest.mark.parametrize("expression", ["CAST(age AS DOUBLE)", "CAST(age AS INT) > 1", "named_struct('a', age)"])
def test_results_that_have_no_one_text_are_refused(ask: Query, expression: str) -> None:
    """As in Parquet, when they are mapped."""
    with pytest.raises(SourceRefused, match="the column x "):
        ask(f"SELECT {expression} AS x FROM source", columns=((Kind.EMAIL, "x"),))


def test_other_formats_are_text_to_a_query(tmp_path: Path, rows_of: Rows) -> None:
    """Lists are lists, numbers are digits, and what has lost digits is not there."""
    parquet, ndjson = tmp_path / "a.parquet", tmp_path / "b.jsonl"
    pq.write_table(pa.table({"mails": [["a@example.com", "b@example.com"]], "id": [2**53 + 1], "f": [1.5]}), parquet)
    ndjson.write_bytes(b'{"mails":["c@example.com"],"id":90071992547409931.0}\n{"mails":"d@example.com","id":null}\n')
    sql = "SELECT mails AS email, id AS platform_id FROM source"
    source = open_source([parquet, ndjson], SourceOptions(sql=sql))
    assert [(row["c0"], row["c1"]) for row in rows_of(source)] == [
        (["a@example.com", "b@example.com"], "9007199254740993"),
        (["c@example.com"], "90071992547409931.0"),
        (["d@example.com"], None),
    ]
    with pytest.raises(UsageError):
        open_source(parquet, SourceOptions(sql="SELECT f FROM source"))


def test_several_files_need_the_same_names(tmp_path: Path, rows_of: Rows) -> None:
    """In any order; else the file is named."""
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_bytes(b"email,n\na@example.com,1\n")
    two.write_bytes(b"n;email\n2;b@example.com\n")
    sql = "SELECT email, n AS handle FROM source"
    source = open_source([one, two], SourceOptions(sql=sql))
    assert [(row["c0"], row["c1"]) for row in rows_of(source)] == [("a@example.com", "1"), ("b@example.com", "2")]
    two.write_bytes(b"m;email\n2;b@example.com\n")
    with pytest.raises(SourceRefused, match=r"^two\.csv: its columns have other names than those of one\.csv"):
        open_source([one, two], SourceOptions(sql=sql))


def test_standard_input_can_be_queried_once(monkeypatch: pytest.MonkeyPatch, rows_of: Rows) -> None:
    """A query that reads a long input twice is told why it cannot."""
    code = (
        "import sys; from audiencekit.sources.sourceopening import open_source; "
        "from audiencekit.sources.options import SourceOptions\n"
        "source = open_source('-', SourceOptions(sql=sys.argv[1]))\n"
        "print(sum(batch.columns.unwrap().num_rows for batch in source.batches()))"
    )
    data = b"email\n" + b"".join(b"person%032d@example.com\n" % n for n in range(200_000))

    def run(sql: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([sys.executable, "-c", code, sql], input=data, capture_output=True, check=False)

    assert run("SELECT email FROM source").stdout == b"200000\n"
    assert b"it can be read only once" in run("SELECT email FROM source UNION ALL SELECT email FROM source").stderr


def test_the_order_of_rows_is_the_same_in_every_process(write: Callable[..., Path]) -> None:
    """Also where the query names none: hash tables have no seed of the day."""
    queries = [
        "SELECT email, count(*) AS n FROM source GROUP BY email",
        "SELECT DISTINCT email FROM source",
        "SELECT email FROM source WHERE email IN (SELECT email FROM source WHERE n < '5')",
        "SELECT a.email FROM source a JOIN source b ON a.n = b.n",
        "SELECT email, row_number() OVER (PARTITION BY n) AS k FROM source",
    ]
    path = write(b"email,n\n" + b"".join(b"p%d@example.com,%d\n" % (n * 7919 % 5000, n % 10) for n in range(2_000)))
    code = (
        "import hashlib, sys; from audiencekit.sources.sourceopening import open_source; "
        "from audiencekit.sources.options import SourceOptions\n"
        "for sql in sys.argv[2:]:\n"
        "    digest = hashlib.sha256()\n"
        "    for batch in open_source(sys.argv[1], SourceOptions(sql=sql)).batches():\n"
        "        cells = batch.columns.unwrap().column('c0').to_pylist()\n"
        "        digest.update('\\n'.join(map(str, cells)).encode() + b'\\n')\n"
        "    print(digest.hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code, str(path), *queries],
            env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True,
        ).stdout
        for seed in ("0", "1")
    }  # fmt: skip
    assert len(digests) == 1
    assert len(digests.pop().split()) == len(queries)


def test_true_and_false_are_words_that_a_query_compares(tmp_path: Path, rows_of: Rows) -> None:
    """In NDJSON as in Parquet."""
    parquet, ndjson = tmp_path / "a.parquet", tmp_path / "b.jsonl"
    pq.write_table(pa.table({"mail": ["a@example.com", "b@example.com"], "active": [True, False]}), parquet)
    ndjson.write_bytes(b'{"mail":"c@example.com","active":false}\n{"mail":"d@example.com","active":true}\n')
    source = open_source([parquet, ndjson], SourceOptions(sql="SELECT mail FROM source WHERE active = 'true'"))
    assert [row["c0"] for row in rows_of(source)] == ["a@example.com", "d@example.com"]


def test_without_the_engine_the_way_to_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an extra: most lists need no query."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="a query needs the package datafusion") as caught:
        query.open_query("SELECT 1", (), SourceOptions())
    assert caught.value.hint == "pip install 'audiencekit[sql]'"
