"""200 runs on invented lists: every command that makes or sends requests, in all formats, dialects and options."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

RUNS = 200
PLAN_TIME = "2026-11-20T10:00:00Z"
COLUMNS = ("email", "phone", "country", "handle", "partner_user_id", "device_id", "op", "consent", "note")
Row = dict[str, str]


@dataclass(frozen=True)
class Step:
    """One command of a run; AUDIENCE and LIST stand for ids of the service. `stdin` is a file that it reads."""

    arguments: tuple[str, ...]
    stdin: Path | None = None


def steps_of(number: int, folder: Path) -> list[Step]:
    """The commands of run `number`, whose files are in `folder`."""
    chance = random.Random(f"run {number}")
    rows = _rows(chance, chance.choice([3, 40, 400, 3_000]))
    source, options = _source(chance, rows, folder, number)
    options += _options(chance, rows, folder)
    kind = _KINDS[number % len(_KINDS)]
    return kind(chance, source, options, folder)


# --- commands ---


def _check(chance: random.Random, source: str, options: list[str], folder: Path) -> list[Step]:
    return [Step(("check", source, *options, "--plan-time", PLAN_TIME, "--rejections", "rejected.csv", "--json"))]


def _prepare(chance: random.Random, source: str, options: list[str], folder: Path) -> list[Step]:
    return [Step(("prepare", source, *options, "--plan-time", PLAN_TIME, "--out", "out", "--requests", "--json"))]


def _upload(chance: random.Random, source: str, options: list[str], folder: Path) -> list[Step]:
    more = chance.choice([(), ("--ttl-days", "30"), ("--effective-at", "2026-12-01"), ("--keep-spool",)])
    upload = ("upload", source, *options, "--plan-time", PLAN_TIME, "--audience", "AUDIENCE", *more, "--json")
    return [Step(upload), Step(("report", "last", "--json"))]


def _sync(chance: random.Random, source: str, options: list[str], folder: Path) -> list[Step]:
    given = [option for option in options if option not in ("--operation-column", "op", "--operation", "delete")]
    sync = ("sync", source, *given, "--audience", "AUDIENCE", "--replace", "--json")
    return [Step(sync), Step(sync), Step(("renew", "--audience", "AUDIENCE", "--before", "500d", "--json"))]


def _do_not_reach(chance: random.Random, source: str, options: list[str], folder: Path) -> list[Step]:
    upload = ("do-not-reach", "upload", source, *options, "--plan-time", PLAN_TIME, "--json")
    return [Step(upload)]


def _forget(chance: random.Random, source: str, options: list[str], folder: Path) -> list[Step]:
    asked = folder / "asked.txt"
    asked.write_text("".join(f"person{chance.randrange(20)}@canarymail.com\n" for _ in range(3)))
    return [
        *_upload(chance, source, options, folder)[:1],
        Step(("forget", "--json", *chance.choice([(), ("--do-not-reach",)])), asked),
        *_upload(chance, source, options, folder)[:1],
    ]


_KINDS: tuple[Callable[[random.Random, str, list[str], Path], list[Step]], ...] = (
    _check, _prepare, _upload, _prepare, _upload, _sync, _do_not_reach, _upload, _forget, _prepare,
)  # fmt: skip


# --- lists ---


def _rows(chance: random.Random, count: int) -> list[Row]:
    return [_row(chance, chance.randrange(max(count, 20))) for _ in range(count)]


def _row(chance: random.Random, person: int) -> Row:
    email = f"person{person}@{chance.choice(['canarymail.com', 'CanaryMail.com', 'exämple.de', 'mail.canarymail.net'])}"
    phone = chance.choice(
        [
            f"+4915112{person:06d}",
            f"0151 12{person:06d}",
            f"(201) 555-{person % 10_000:04d}",
            f"tel:+1-201-{person:07d}",
        ]
    )
    row = {
        "email": chance.choice([email] * 8 + [f" {email} ", email.upper(), "no address", "", "test@test.com"]),
        "phone": chance.choice([phone] * 8 + ["12", "", "0000000000"]),
        "country": chance.choice(["DE", "DE", "US", "Germany", ""]),
        "handle": chance.choice([f"handle_{person}", f"@Handle_{person}", ""]),
        "partner_user_id": f"crm-{person}",
        "device_id": hashlib.md5(str(person).encode()).hexdigest(),
        "op": chance.choice(
            ["update", "update", "Update", "delete", "later"] if person % 50 == 0 else ["update", "delete"]
        ),
        "consent": chance.choice(["yes", "no"]),
        "note": chance.choice(["", "a, b", 'say "x"', "zwei\nZeilen", "ok"]),
    }
    device = row["device_id"]
    row["device_id"] = "-".join((device[:8], device[8:12], device[12:16], device[16:20], device[20:]))
    return row


def _source(chance: random.Random, rows: list[Row], folder: Path, number: int) -> tuple[str, list[str]]:
    """A file with some of the columns, in one of the formats; and the options that it needs."""
    columns = [name for name in COLUMNS if name in ("op", "consent") or chance.random() < 0.6] or ["email"]
    if not {"email", "phone"} & set(columns):
        columns = ["email", *columns]
    make = chance.choice([_delimited, _delimited, _delimited, _json_lines, _parquet])
    return make(chance, [{name: row[name] for name in columns} for row in rows], folder)


def _delimited(chance: random.Random, rows: list[Row], folder: Path) -> tuple[str, list[str]]:
    separator = chance.choice([",", ";", "\t", "|"])
    encoding = chance.choice(["utf-8", "utf-8-sig", "cp1252", "utf-16"])
    end = chance.choice(["\n", "\r\n"])
    quoted = [[f'"{value.replace(chr(34), chr(34) * 2)}"' for value in row.values()] for row in rows]
    lines = [separator.join(rows[0]), *(separator.join(values) for values in quoted)]
    content = (end.join(lines) + end).encode(encoding, errors="replace")
    path = folder / chance.choice(["list.csv", "list.csv.gz"])
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
    return path.name, ["--encoding", encoding] if encoding == "cp1252" else []


def _json_lines(chance: random.Random, rows: list[Row], folder: Path) -> tuple[str, list[str]]:
    (folder / "list.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "list.jsonl", []


def _parquet(chance: random.Random, rows: list[Row], folder: Path) -> tuple[str, list[str]]:
    pq.write_table(pa.Table.from_pylist(rows), folder / "list.parquet")
    return "list.parquet", []


def _options(chance: random.Random, rows: list[Row], folder: Path) -> list[str]:
    options = ["--country", chance.choice(["DE", "US"]), "--max-rejected-share", chance.choice(["1", "0.5", "0.01"])]
    operation = chance.random()
    if operation < 0.4:
        options += ["--operation-column", "op"]
    elif operation < 0.5:
        options += ["--operation", "delete"]
    if chance.random() < 0.2:
        options += ["--consent-column", "consent=yes"]
    if chance.random() < 0.2:
        people = [row["email"] for row in rows if row["email"]][:2] or ["person1@canarymail.com"]
        (folder / "suppressed.csv").write_text("\n".join(["email", *people]) + "\n")
        options += ["--suppress", "suppressed.csv", "--suppress-max-rejected-share", "1"]
    return options
