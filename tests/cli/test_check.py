"""`hash`: a line in, a line out."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import pty
import sqlite3
from pathlib import Path

import pytest

from audiencekit.cli.check import _words_of
from tests.cases import each_case
from tests.cli.conftest import Run, write_source
from tests.moments import PATIENCE_SECONDS
from tests.processes import Commands, environment


@each_case(
    "kind, options, line, expected",
    [
        ("email", [], '" Ada@Example.com"', {"sha256": hashlib.sha256(b"ada@example.com").hexdigest()}),
        ("email", [], '"nonsense"', {"reason": "invalid_syntax"}),
        ("email", [], '""', {"reason": "empty"}),
        ("phone_number", ["--country", "GB"], '"020 7946 0958"', {
            "sha256": hashlib.sha256(b"+442079460958").hexdigest()}),
        ("phone_number", [], '"020 7946 0958"', {"reason": "no_country"}),
        ("handle", ["--show-normalized"], '"@Jack"', {
            "sha256": hashlib.sha256(b"jack").hexdigest(), "normalized": "jack"}),
        ("email", [], '"\\ud800@example.com"', {"reason": "invisible_character"}),
    ],
)  # fmt: skip
def test_hash_answers_line_by_line(
    run: Run, kind: str, options: list[str], line: str, expected: dict[str, str]
) -> None:
    """JSON strings in, one JSON object a line out."""
    done = run("hash", kind, *options, text=f"{line}\n{line}\n")
    assert [json.loads(answer) for answer in done.stdout.splitlines()] == [expected, expected]
    assert done.returncode == 0


def test_hash_refuses_what_is_no_json_string(run: Run) -> None:
    """The line is named, its content is not."""
    done = run("hash", "email", text='"ada@example.com"\nbo@example.com\n')
    assert done.returncode == 2
    assert "line 2" in done.stderr
    assert "bo@" not in done.stderr + done.stdout


def test_hash_answers_blank_lines_too(run: Run) -> None:
    """As many answers as lines, so that they stay side by side."""
    done = run("hash", "handle", text='"@ada"\n\n"@bo"\n')
    assert [list(json.loads(line)) for line in done.stdout.splitlines()] == [["sha256"], ["reason"], ["sha256"]]


def test_prepare_writes_the_directory(run: Run, tmp_path: Path) -> None:
    """Records, manifest, rejections and bodies; only the owner can read them; it can be done again."""
    source = write_source(tmp_path, "email,phone\nada@example.com,\nnull,\nbo@example.com,12\n")
    for _ in range(2):
        done = run("prepare", source, "--out", "out", "--requests", "--json", "--country", "DE")
        assert done.returncode == 0, done.stderr
    out = tmp_path / "out"
    assert sorted(path.name for path in out.iterdir()) == [
        "manifest.json", "records.parquet", "rejections.csv", "requests",
    ]  # fmt: skip
    manifest = json.loads((out / "manifest.json").read_text())
    (body,) = (out / "requests").iterdir()
    assert manifest["requests"] == [
        {"number": 1, "wave": 0, "records": 2, "operations": 2, "bytes": body.stat().st_size}
    ]
    assert {path.stat().st_mode & 0o077 for path in (out / "manifest.json", out / "records.parquet", body)} == {0}
    import pyarrow.parquet as pq

    table = pq.read_table(out / "records.parquet")
    assert table.column("row").to_pylist() == [1, 3]
    assert table.column("email").to_pylist()[0] == [hashlib.sha256(b"ada@example.com").hexdigest()]


def test_prepare_touches_no_foreign_directory(run: Run, tmp_path: Path) -> None:
    """A directory with something else in it is refused."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letters.txt").write_text("dear")
    done = run("prepare", write_source(tmp_path, "email\nada@example.com\n"), "--out", "out")
    assert done.returncode == 2
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["letters.txt"]


def test_rejections_are_written_where_asked(run: Run, tmp_path: Path) -> None:
    """row, column, reason; and no value."""
    source = write_source(tmp_path, "email\nada@example.com\nada at example\n")
    assert run("check", source, "--rejections", "why.csv").returncode == 0
    with (tmp_path / "why.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["row", "column", "reason"], ["2", "email", "invalid_syntax"]]


def test_rejections_never_replace_the_source_or_what_is_no_file(run: Run, tmp_path: Path) -> None:
    """The list of customers stays as it was, and so does whatever a link points to."""
    source = write_source(tmp_path, "email\nada@example.com\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "other.csv")
    (tmp_path / "again.csv").hardlink_to(source)
    os.mkfifo(tmp_path / "pipe")
    for target in ("list.csv", "again.csv", "link.csv", "pipe"):
        assert run("check", source, "--rejections", target).returncode == 2
    assert Path(source).read_text() == "email\nada@example.com\n"
    assert (tmp_path / "link.csv").is_symlink()
    assert not (tmp_path / "other.csv").exists()


def test_a_dash_is_nothing_to_write_to(run: Run, tmp_path: Path) -> None:
    """It would be a file of that name, while the user waits for it on standard output."""
    source = write_source(tmp_path, "email\nada@example.com\n")
    for arguments in (["check", source, "--rejections", "-"], ["prepare", source, "--out", "-"]):
        ended = run(*arguments)
        assert (ended.returncode, "not standard output" in ended.stderr) == (2, True)
    assert not (tmp_path / "-").exists()


def test_prepare_keeps_what_it_did_not_write_and_what_it_reads(run: Run, tmp_path: Path) -> None:
    """Foreign files, its own source, and an earlier result when the new source cannot be read."""
    source = write_source(tmp_path, "email\nada@example.com\n")
    out = tmp_path / "out"
    assert run("prepare", source, "--out", "out", "--requests").returncode == 0
    before = {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    (tmp_path / "ragged.csv").write_text('email\n"ada@example.com\n')
    for arguments in (["missing.csv"], ["ragged.csv"], ["out/rejections.csv"]):
        assert run("prepare", *arguments, "--out", "out").returncode in (2, 3)
        assert {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    (out / "requests" / "precious.txt").write_text("mine")
    assert run("prepare", source, "--out", "out").returncode == 2
    assert (out / "requests" / "precious.txt").read_text() == "mine"
    (out / "requests" / "precious.txt").unlink()
    (out / ".preparing-0123").mkdir()
    assert run("prepare", source, "--out", "out").returncode == 0
    assert sorted(path.name for path in out.iterdir()) == ["manifest.json", "records.parquet", "rejections.csv"]


def test_a_refused_prepare_leaves_the_rejections_only(run: Run, tmp_path: Path) -> None:
    """And says why, as check does."""
    source = write_source(tmp_path, "email\nnull\n")
    done = run("prepare", source, "--out", "out")
    assert done.returncode == 3
    assert "placeholder" in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["rejections.csv"]


@each_case("data", ["email\nada@example.com\n", '{"email":"ada@example.com"}\n'])
def test_standard_input_is_a_source(run: Run, data: str) -> None:
    """A dash, and what is piped in."""
    done = run("check", "-", "--json", text=data)
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert (plan["rows"]["pending"], plan["sources"][0]["name"]) == (1, "standard input")
    assert plan["sources"][0]["repeatable"] is False


def test_no_file_of_the_source_is_written_over(run: Run, tmp_path: Path) -> None:
    """Neither by rejections nor by what is prepared, whichever of the files it is."""
    (tmp_path / "out").mkdir()
    for name in ("one.csv", "out/two.csv"):
        (tmp_path / name).write_text(f"email\n{len(name)}@example.com\n")
    assert run("check", "one.csv", "out/two.csv", "--rejections", "out/two.csv").returncode == 2
    assert run("prepare", "one.csv", "out/two.csv", "--out", "out").returncode == 2
    assert (tmp_path / "out/two.csv").read_text() == "email\n11@example.com\n"


def test_a_column_is_left_out(run: Run, tmp_path: Path) -> None:
    """Its values say nothing about the list, and one that is mapped cannot be left out."""
    source = write_source(tmp_path, "email,phone,mobile\n" + "ada@example.com,x,y\n" * 3)
    done = run("check", source, "--ignore", "phone", "--ignore", "Mobile", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["columns"] == {"email": ["email"]}
    assert run("check", source, "--ignore", "email", "--map", "email=email").returncode == 2
    assert run("check", source, "--ignore", "fax").returncode == 3


@pytest.mark.parametrize(
    ("country", "plain", "verdict"),
    [("", {}, "\x1b[33mverdict: ready with warnings\x1b[0m"), ("US", {}, "\x1b[32mverdict: ready\x1b[0m"),
     ("US", {"NO_COLOR": "1"}, "verdict: ready")],
)  # fmt: skip
def test_a_verdict_is_seen_on_a_terminal(
    commands: Commands, tmp_path: Path, country: str, plain: dict[str, str], verdict: str
) -> None:
    """In colour, the warnings too; without it where the user wants none."""
    lines = (f"p{number}@example.com,(212) 234-20{number}\n" for number in range(10, 50))
    (tmp_path / "list.csv").write_text("email,phone\n" + "".join(lines))
    ours, theirs = pty.openpty()
    try:
        done = commands.begin(
            "check", "list.csv", *(["--country", country] if country else []),
            env=environment(tmp_path / "state", {"TERM": "xterm", **plain}), cwd=tmp_path, stdout=theirs, stderr=None,
        )  # fmt: skip
        assert done.wait(timeout=PATIENCE_SECONDS) == 0
        told = os.read(ours, 100_000).decode().split("\r\n")
    finally:
        os.close(ours)
        os.close(theirs)
    assert verdict in told
    assert any(line.startswith("\x1b[33mwarning: ") for line in told) == (not country)


def test_columns_are_shown_alone(run: Run, tmp_path: Path) -> None:
    """Of a list that would be refused for a later row, too: it is not read to its end."""
    rows = "".join(f"p{number}@example.com,x{number}@example.com,Ulm\n" for number in range(20))
    path = write_source(tmp_path, "Email,Coach Email,town\n" + rows)
    done = run("check", path, "--columns")
    assert [line.split("  ")[0] for line in done.stdout.splitlines()] == ["Email", "Coach Email", "town"]
    assert "left out" in done.stdout.splitlines()[1]
    told = json.loads(run("check", path, "--columns", "--json").stdout)["column_uses"]
    assert [(each["column"], each["use"]) for each in told] == [
        ("Email", "email"), ("Coach Email", "left out"), ("town", "not used"),
    ]  # fmt: skip
    assert json.loads(run("check", path, "--json").stdout)["column_uses"] == told


def test_the_next_command_is_this_one_and_what_it_advises(run: Run, tmp_path: Path) -> None:
    """It can be typed as it is printed: the list by its name, and each option that was given."""
    people = "a@b.example;0151 23456789;no\nc@d.example;;yes\ne@f.example;;no\n;0151 23456780;no\n"
    (tmp_path / "my list.csv").write_text(f"email;phone;opt_out\n{people}", "cp1252")
    given = ["my list.csv", "--encoding", "cp1252", "--delimiter=;"]
    asked = [
        (["--json"], "check 'my list.csv' … --consent-column opt_out=no --doctor --rejections rejections.csv"),
        (["--ignore", "opt_out"], "check 'my list.csv' … --ignore opt_out --doctor --rejections rejections.csv"),
        (["--ignore", "opt_out", "--rejections", "r.csv"], "upload 'my list.csv' … --ignore opt_out --audience NAME"),
        (["--ignore", "opt_out", "--doctor"], "check 'my list.csv' … --ignore opt_out --country DE"),
    ]
    for more, expected in asked:
        told = run("check", *given, *more).stderr.splitlines()[-1]
        assert told == "Next: audiencekit " + expected.replace("…", "--encoding cp1252 --delimiter ';'"), more


def test_the_next_command_of_a_query_has_the_query(run: Run, tmp_path: Path) -> None:
    """In the place of a file."""
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("CREATE TABLE people (email)")
        connection.execute("INSERT INTO people VALUES ('ada@example.com')")
    connection.close()
    (tmp_path / "q.sql").write_text("SELECT email FROM people")
    query = ("--from-sql", "sqlite:///shop.db", "--sql", "@q.sql")
    told = run("check", *query).stderr.splitlines()[-1]
    assert told == f"Next: audiencekit upload {' '.join(query)} --audience NAME"


@each_case(
    "advice, words",
    [
        ("`country='DE'`", ["--country", "DE"]),
        ("`split_cells='|'`", ["--split-cells", "|"]),
        ("`hashed=['email']`", ["--hashed", "email"]),
        ("`split_cells='\\n'`", []),
        ("`hashed=['email', 'handle']`", []),
        ("written with a blank", []),
    ],
)
def test_the_option_that_a_doctor_advises_is_one_of_the_shell(advice: str, words: list[str]) -> None:
    """None is printed whose value is no line of text, or several."""
    assert _words_of(advice) == words


def test_rows_of_blank_cells_are_not_counted(run: Run, tmp_path: Path) -> None:
    """Excel writes them below a list; they are numbered, and neither read nor lost."""
    rows = ["name;email", "Ann;a@b.example", ";", ' ;""', "Bob;", *[";"] * 50]
    (tmp_path / "list.csv").write_text("\n".join(rows))
    done = run("check", "list.csv", "--rejections", "rejections.csv", "--json")
    plan = json.loads(done.stdout)
    assert done.returncode == 0
    assert (plan["rows"]["read"], plan["rows"]["rejected"]) == (2, 1)
    assert "52 rows have nothing but blank cells: not counted" in plan["notes"]
    assert (tmp_path / "rejections.csv").read_text().splitlines()[1:] == ["4,,no_identifier"]
