"""A small list of invented people, what must come of it, and what the service says came of it."""

from __future__ import annotations

import hashlib
import json
import random
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audiencekit.audit.chain import Keys, parse_line
from audiencekit.audit.log import LOG
from audiencekit.audit.verification import verify_log
from audiencekit.emulator import Emulator
from audiencekit.runs.reports import read_report, report_from_events
from audiencekit.runs.store import RunStore
from audiencekit.state.keys import existing_state_key

ROWS = 36
CONCURRENCY = 3
Entry = frozenset[tuple[str, str]]


@dataclass
class Source:
    """Rows of invented people, and who is in the audience when each was heeded in turn."""

    text: str
    is_mixed: int
    members: set[Entry] = field(default_factory=set)

    @classmethod
    def draw(cls, seed: int) -> Source:
        """Of one verb for even seeds, of both for odd ones, where later rows share keys with earlier ones."""
        draw, mixed = random.Random(seed), seed % 2
        made = cls("email,handle,what\n" if mixed else "email,handle\n", mixed)
        for number in range(ROWS):
            person = draw.randrange(ROWS // 2) if mixed else number
            row = {"email": f"person{person}@example.com", "handle": f"h{draw.randrange(ROWS)}_{seed}"}
            verb = draw.choice(("update", "update", "delete")) if mixed else "update"
            made.text += ",".join([*row.values(), *([verb] if mixed else [])]) + "\n"
            made._heed(verb, frozenset((kind, hashlib.sha256(text.encode()).hexdigest()) for kind, text in row.items()))
        return made

    def _heed(self, verb: str, entry: Entry) -> None:
        if verb == "update":
            self.members.add(entry)
        else:
            self.members = {member for member in self.members if not member & entry}


def members_of(log: list[dict[str, Any]]) -> set[Entry]:
    """Return the members of the audience after the requests in the log."""
    members: set[Entry] = set()
    for line in log:
        entries = [frozenset((kind, key) for kind, keys in user.items() for key in keys) for user in line["users"]]
        if line["operation_type"] == "Update":
            members |= set(entries)
        else:
            members = {member for member in members if not any(member & entry for entry in entries)}
    return members


def log_of(emulator: Emulator) -> list[dict[str, Any]]:
    return [json.loads(line) for line in b"".join(emulator.store.operations.lines()).splitlines()]


def requests_applied(emulator: Emulator) -> int:
    """Requests to the users endpoint that the service applied."""
    requests = emulator.store.requests.documents()
    return sum(entry["path"].endswith("/users") and entry["status"] == 200 for entry in requests)


def newest_run(tmp_path: Path) -> str:
    """The id of the run that was begun last."""
    return RunStore(tmp_path / "state").ids()[0]


def requests_in_flight(state_dir: Path) -> int:
    """How many were on their way when the last process was killed. A run that was not begun left an empty journal."""
    return sum(_count_intended(path) for path in state_dir.glob("runs/*/journal.sqlite"))


def _count_intended(path: Path) -> int:
    connection = sqlite3.connect(path)
    try:
        if not connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'requests'").fetchone()[0]:
            return 0
        return int(connection.execute("SELECT count(*) FROM requests WHERE state = 'intended'").fetchone()[0])
    finally:
        connection.close()


def check_finished(emulator: Emulator, source: Source, report: dict[str, Any], *, in_flight: int) -> None:
    """No member is missing or too many, the sums close, and at most `in_flight` requests were applied twice."""
    log = log_of(emulator)
    assert members_of(log) == source.members
    assert {line["expires_at"] for line in log} == {report["expires_at"]}
    assert report["state"] == "complete"
    rows = dict(report["rows"])
    assert rows.pop("read") == ROWS == sum(rows.values())
    assert rows["pending"] == 0
    requests, counts = report["requests"], report["reconciliation"]
    assert requests["confirmed"] == requests["planned"] > 3
    assert counts["records_sent"] == counts["success_count"] == counts["total_count"] == rows["sent"]
    assert requests_applied(emulator) - requests["planned"] <= in_flight
    assert requests_applied(emulator) <= requests["attempts"] <= requests["planned"] + in_flight


def check_logged(state: Path, report: dict[str, Any]) -> None:
    """The audit log is right after every kill; its last entry has the counts of the report."""
    lines = (state / LOG).read_bytes().splitlines(keepends=True)
    key = existing_state_key(state, None)
    assert key is not None
    assert verify_log(lines, Keys.of(key)).fault == ""
    entries = [entry for line in lines[1:] if (entry := parse_line(line)) and entry["of"] == report["run_id"]]
    assert entries[0]["step"] in ("begun", "resumed")
    assert entries[-1]["step"] == "ended"
    assert (entries[-1]["state"], entries[-1]["rows"]) == (report["state"], report["rows"])


def check_events(events: Path, tmp_path: Path) -> None:
    """The report made of them is the stored one; and so are its counts, made of the lines of requests alone."""
    run_id = newest_run(tmp_path)
    report = read_report(tmp_path / "state", run_id)
    assert report_from_events(events).to_json() == report
    lines = events.read_bytes().splitlines(keepends=True)
    events.write_bytes(b"".join(line for line in lines if json.loads(line)["event"] != "ended"))
    counted = report_from_events(events, run_id).to_json()
    for name in ("rows", "rejections", "reconciliation", "miscounted", "requests"):
        assert counted[name] == report[name], name


def environment(emulator: Emulator, tmp_path: Path) -> dict[str, str]:
    """The settings of every process of a scenario."""
    return {
        **emulator.env,
        "AUDIENCEKIT_STATE_DIR": str(tmp_path / "state"),
        "AUDIENCEKIT_REQUESTS_PER_MINUTE": "1500",
        "AUDIENCEKIT_CONCURRENCY": str(CONCURRENCY),
    }


def upload_command(emulator: Emulator, source: Source) -> list[str]:
    """The command that begins the run; `list.csv` is the source."""
    # Of so few people many share an address: what these tests ask is what becomes of the records that have it.
    options = ["--shared-values", "keep", *(["--operation-column", "what"] if source.is_mixed else [])]
    return ["upload", "list.csv", "--audience", emulator.audience_id, "--json", *options]
