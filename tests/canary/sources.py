"""Lists with all kinds of faults, a marker in every cell and every header."""

from __future__ import annotations

import gzip
import hashlib
import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.canary.markers import DIGITS, WORD


def _row_faults() -> str:
    """One list in which every row has another fault, a marker in every cell."""
    sha256 = hashlib.sha256(f"{WORD}@example.com".encode()).hexdigest()
    cells = [
        f"{WORD}@example.com,+1201{DIGITS},{WORD}",
        f"{WORD} at example.com,+1201{DIGITS}9999999,{WORD}",
        f"{WORD}@localhost,{DIGITS},{WORD}",
        f"{WORD}@@example.com,01{DIGITS},{WORD}",
        f"Name {WORD} <{WORD}@example.com>,(201) {DIGITS} x7,{WORD}",
        f"mailto:{WORD}@example.com,'+1201{DIGITS},{WORD}",
        f"{WORD}@example.com;{WORD}2@example.com,1201{DIGITS}.0,{WORD}",
        f"{sha256},1.2E+{DIGITS},{WORD}",
        f"{WORD}@exa\u200bmple.com,\u200b+1201{DIGITS},{WORD}",
        f"{WORD}@exa\0mple.com,+1\0{DIGITS},{WORD}",
        f"{WORD * 40}@example.com,{DIGITS * 9},{WORD}",
        f"{WORD}@example,{WORD},{WORD}",
        f"null,{DIGITS},{WORD}",
        f",,{WORD}",
        f"{WORD}@example.com",
        f"{WORD}@example.com,+1201{DIGITS},{WORD},{WORD},{WORD}",
        f"{WORD}\u0130@example.com,+1201{DIGITS},{WORD}",
        f'"{WORD}\n@example.com","+1201\n{DIGITS}",{WORD}',
        f"\u202e{WORD}@example.com,+1201{DIGITS},{WORD}",
        f"{WORD},{WORD},{WORD}",
        f"={WORD}@example.com,=1201{DIGITS},={WORD}",
        f"{WORD}@{'a' * 64}.com,\uff0b1201{DIGITS},{WORD}",
    ]
    good = [f"{WORD}{number}@example.com,+1201{DIGITS},{WORD}" for number in range(40)]
    return "\n".join([f"email {WORD},phone {WORD},{WORD}", *cells, *good]) + "\n"


def _csv(rows: str, head: str = f"email {WORD},phone {WORD}") -> bytes:
    return f"{head}\n{rows}\n".encode()


def _parquet(**columns: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


GOOD = "\n".join(f"{WORD}{number}@example.com,+1201{DIGITS}" for number in range(30))
SOURCES: dict[str, bytes] = {
    "row faults": _row_faults().encode(),
    "broken bytes": _row_faults().encode().replace(b"39@", b"39\xff@"),
    "all broken bytes": _csv(GOOD).replace(b"@", b"\xe9@"),
    "open quote": _csv(f'{GOOD}\n"{WORD}@example.com,+1201{DIGITS}\n{GOOD}'),
    "text after a quote": _csv(f'{GOOD}\n"{WORD}"x{WORD},+1201{DIGITS}'),
    "ragged": _csv("\n".join(f"{WORD}@example.com" for _ in range(60))),
    "no header": f"{WORD},{WORD}@example.com\n{GOOD}\n".encode(),
    "a person as header": f"{WORD},{WORD} Street 1\n{WORD},{WORD}\n".encode(),
    "a person as header, among words of headers": "".join(
        f"{WORD}{line}\n" for line in (",no phone,customer,active", *[f",+1201{DIGITS},lead,active"] * 30)
    ).encode(),
    "header only": f"email {WORD},{WORD}\n".encode(),
    "duplicate header": _csv(GOOD, f"email {WORD},EMAIL {WORD}"),
    "too large a cell": _csv(f"{WORD * 7000}@example.com,{DIGITS}"),
    "far too large a cell": _csv(f'"{WORD * 20000}",{DIGITS}'),
    "no line ends": f"email {WORD},phone ".encode() + GOOD.replace("\n", ",").encode(),
    "utf-16": _csv(GOOD).decode().encode("utf-16"),
    "utf-16 without a mark": _csv(GOOD).decode().encode("utf-16-le"),
    "truncated gz": gzip.compress(_csv(GOOD), mtime=0)[:-9],
    "corrupt gz": gzip.compress(_csv(GOOD), compresslevel=0, mtime=0).replace(b"canary", b"kanary", 1),
    "excel": _csv("\n".join(f"{WORD}{n}@example.com,1.2{DIGITS}E+10" for n in range(60))),
    "hashes": _csv("\n".join(hashlib.sha256(f"{WORD}{n}".encode()).hexdigest() + "," for n in range(60))),
    "wrong kind": _csv("\n".join(f"+1201{DIGITS},{WORD}@example.com" for _ in range(60))),
    "two tables": _csv(f"{GOOD}\n\n{WORD},{WORD},{WORD},{WORD}\n" + f"{WORD},1,2,{WORD}\n" * 30),
    "parquet": _parquet(**{f"email {WORD}": [f"{WORD}@example.com", WORD, None], WORD: [WORD, WORD, WORD]}),
    "parquet of floats": _parquet(**{f"phone {WORD}": [1.5550147e10, 2.5], "email": [f"{WORD}@example.com", WORD]}),
    "parquet of a fraction": _parquet(**{f"phone {WORD}": [float(f"1201{DIGITS}")] * 2_000 + [float(DIGITS) + 0.5]}),
    "truncated parquet": _parquet(email=[f"{WORD}@example.com"])[:-20],
    "prepared, with raw values": _parquet(
        row=[1, 2],
        operation=["Update", WORD],
        email=[[hashlib.sha256(WORD.encode()).hexdigest()], [f"{WORD}@x.example"]],
    ),
    "prepared": _parquet(
        row=[1, 2],
        operation=["Update", WORD],
        email=[[hashlib.sha256(f"{WORD}{n}".encode()).hexdigest()] for n in "ab"],
    ),
    "json lines": f'{{"email": "{WORD}@example.com"}}\n'.encode() * 5,
    "partner": _csv("\n".join(f"{WORD}{n}@example.com,{WORD}" for n in range(60)), "partner_user_id,x"),
}
