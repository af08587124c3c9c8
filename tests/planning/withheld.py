"""Lists of people who are not to be sent, in every format, and who is left."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from audiencekit.pipeline import check, prepare
from audiencekit.reporting.report import Plan
from audiencekit.settings import load_settings

SAYS_NOT: Final = (
    "",
    "no",
    "y",
    "true",
    "1",
    "yes please",
    "ye s",
    "yes.",
    "ｙｅｓ",
    "null",
    "ja",
    '"yes"',
    "unknown",
    "-",
)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def checked(tmp_path: Path, source: Path, **keywords: Any) -> Plan:
    return check(source, settings=load_settings({}, directory=tmp_path), **keywords)


def sent_rows(tmp_path: Path, source: Path, **keywords: Any) -> list[int]:
    """The rows that would be sent."""
    out = tmp_path / "out"
    plan = prepare(source, out=out, settings=load_settings({}, directory=tmp_path), **keywords)
    if plan.refusals:
        raise plan.refusals[0]
    rows: list[int] = pq.read_table(out / "records.parquet").column("row").to_pylist()
    assert plan.rows.pending == len(rows) == plan.records
    return rows


def as_csv(path: Path, people: list[tuple[str, str]]) -> Path:
    return write(path.with_suffix(".csv"), "email;phone", *(";".join(person) for person in people))


def as_packed_hashes(path: Path, people: list[tuple[str, str]]) -> Path:
    cells = [",".join(sha256(cell).upper() if cell else "" for cell in person) for person in people]
    path = path.with_suffix(".csv.gz")
    path.write_bytes(gzip.compress("\n".join(["email_sha256,phone_sha256", *cells]).encode()))
    return path


def as_json_lines(path: Path, people: list[tuple[str, str]]) -> Path:
    return write(path.with_suffix(".ndjson"), *(json.dumps({"phone": p, "mail": e.upper()}) for e, p in people))


def as_parquet(path: Path, people: list[tuple[str, str]]) -> Path:
    table = pa.table(
        {"email": [e or None for e, _ in people], "phone_sha256": [sha256(p) if p else None for _, p in people]}
    )
    pq.write_table(table, path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


FORMATS: Final = (as_csv, as_packed_hashes, as_json_lines, as_parquet)
