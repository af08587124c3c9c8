"""`audit`: the log of everything that was done to people, its head, and whether it is as it was written."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from audiencekit.cli.command_help import CommandGroup
from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.options import json_option, moment_of
from audiencekit.cli.output import print_json, print_told, say, tell
from audiencekit.errors import Refused, UsageError
from audiencekit.text import shown

if TYPE_CHECKING:
    from audiencekit.audit.chain import Head
    from audiencekit.audit.log import AuditLog
    from audiencekit.audit.verification import VerifiedLog

_NOTHING: Final = "nothing was logged in this state directory yet"
_NO_HEAD: Final = (
    "note: a cut end is found only by a head that was kept elsewhere: `audiencekit audit head` prints one, and"
    " `audit verify --head NOTE` compares it"
)


@click.group(cls=CommandGroup)
def audit() -> None:
    """Show and verify the audit log.

    It has an entry for everything that this state directory did to people: counts and times, and no person.
    """


@audit.command("head", examples=("audit head > head.txt", "audit head --json"))
@json_option
def show_head(as_json: bool) -> None:
    """Print the head of the log as a signed note.

    Keep it where those who can write in the state directory cannot: later it shows whether the end of the log was cut
    off.
    """
    from audiencekit.audit.chain import write_note
    from audiencekit.records.plan_times import format_time
    from audiencekit.state.signing import verifier_key

    log = _log()
    found = _verified(log, ())
    head = found.head
    if found.fault or head is None:
        raise Refused(f"the log is not as it was written: {found.fault}", hint="`audiencekit audit verify` says more")
    note = write_note(head, format_time(datetime.now(UTC)), log.key)
    if as_json:
        facts = {"log": head.log, "entries": head.number, "hash": head.hash}
        print_json({**facts, "note": note, "verifier_key": verifier_key(log.key)})
    else:
        say(note.rstrip("\n"))


@audit.command("key", examples=("audit key", "audit key > audit-key.txt"))
def show_key() -> None:
    """Print the public key that verifies entries and heads.

    It is public: give it to those who verify the log elsewhere, with samples/verify_audit_log.py. A rotation of the
    state key changes it; the earlier ones come first.
    """
    from audiencekit.state.signing import verifier_key

    key = _log().key
    for each in (*reversed(key.earlier), key):
        say(verifier_key(each))


@audit.command("verify", examples=("audit verify", "audit verify --head head.txt"))
@click.option(
    "--head", "notes", metavar="NOTE", multiple=True, type=click.Path(path_type=Path),
    help="A file with a head that was kept; repeatable.",
)  # fmt: skip
@json_option
def verify_log(notes: tuple[Path, ...], as_json: bool) -> None:
    """Verify that the log is as it was written.

    It finds each entry that was changed, moved, added or taken out. It finds that entries at the end were cut off only
    by a head that was kept. The exit code is 3 when anything is wrong.
    """
    log = _log()
    found = _verified(log, notes)
    if as_json:
        print_told(found.to_json())
    else:
        for line in _lines(found, notes):
            say(line)
        if not notes:
            tell(_NO_HEAD)
    sys.exit(Refused.exit_code if found.fault else 0)


def _lines(found: VerifiedLog, notes: tuple[Path, ...]) -> list[str]:
    if found.fault:
        return [f"wrong: {found.fault}", f"{found.entries:,} entries before that are right"]
    heads = f", as the {len(notes):,} kept heads say" if len(notes) > 1 else ", as the kept head says" if notes else ""
    lines = [f"right: {found.entries:,} entries{heads}"]
    if found.after:
        lines.append(f"the first {found.after:,} entries were cut off by a retention, which the first line signs")
    if found.mended:
        lines.append(f"{found.mended:,} times a kill had torn the last entry, which was taken away then")
    if found.is_torn:
        lines.append("a kill has torn the last entry, which was not finished; the next one takes it away")
    return lines


@audit.command("show", examples=("audit show --since 30d", "audit show --list list.csv"))
@click.option("--since", metavar="TIME|AGE", help="Only from then on: 2026-11-01, or 7d ago.")
@click.option(
    "--list", "files", metavar="FILE", multiple=True, type=click.Path(path_type=Path),
    help="Only uploads of a list of exactly these files, in this order; repeatable.",
)  # fmt: skip
def show_entries(since: str | None, files: tuple[Path, ...]) -> None:
    """Print the entries, one JSON document a line.

    They are printed as they are: `audit verify` says whether they are right.
    """
    from audiencekit.runs.audited import list_digest

    log = _log()
    begin = None if since is None else moment_of(since, "--since", datetime.now(UTC))
    digest = None
    if files:
        try:
            digest = list_digest(files, log)
        except OSError as error:
            raise UsageError(f"a file of `list=` cannot be read: {error.strerror}") from None
    for entry in log.entries():
        if (begin is None or str(entry.get("at")) >= begin) and digest in (None, _digest_in(entry)):
            say(json.dumps(entry))


@audit.command("record", examples=("audit record --since 2026-11-01", "audit record --since 90d --format csv"))
@click.option("--since", metavar="TIME|AGE", help="Runs that began from then on: 2026-11-01, or 90d ago.")
@click.option("--until", metavar="TIME|AGE", help="Runs that began before then.")
@click.option(
    "--format", "form", type=click.Choice(["markdown", "json", "csv"]), default="markdown", show_default=True,
    help="The form of the record.",
)  # fmt: skip
def print_record(since: str | None, until: str | None, form: str) -> None:
    """Print the record of processing of a period.

    Purposes, bases, recipients, counts, retention and erasures, by the log, which must be right. The counts are those
    of the reports. The parts that no log can say are named, to be filled in.
    """
    from audiencekit.audit.record import make_record
    from audiencekit.records.plan_times import format_time

    log, now = _log(), datetime.now(UTC)
    begin = None if since is None else moment_of(since, "--since", now)
    end = None if until is None else moment_of(until, "--until", now)
    if begin is not None and begin >= min(filter(None, (end, format_time(now)))):
        raise UsageError(
            "the period of the record has not begun, or ends before it begins",
            hint="give a `--since` that is before now and before `--until`; 2d is two days ago",
        )
    found = _verified(log, ())
    if found.fault:
        raise Refused(f"the log is not as it was written: {found.fault}", hint="`audiencekit audit verify` says more")
    kept = command_settings().retention
    record = make_record(
        log.entries(),
        since=begin,
        until=end,
        begins_after=found.after,
        retention="runs until they are purged"
        if kept is None
        else f"runs for {kept.total_seconds() / 86_400:,.0f} days",
    )
    if form == "json":
        print_json(record.to_json())
    else:
        say((record.to_csv() if form == "csv" else record.to_markdown()).rstrip("\n"))


def _digest_in(entry: dict[str, Any]) -> str:
    found = entry.get("list")
    return str(found.get("digest")) if isinstance(found, dict) else ""


def _log() -> AuditLog:
    from audiencekit.audit.log import AuditLog

    log = AuditLog.existing(command_settings())
    if log is None:
        raise Refused(_NOTHING, hint="the first upload begins the log; if there was one, restore audit.log")
    return log


def _verified(log: AuditLog, notes: tuple[Path, ...]) -> VerifiedLog:
    from audiencekit.audit.chain import Keys
    from audiencekit.audit.verification import verify_log as verify

    heads = [_read_head(path, log) for path in notes]
    return verify((line for line, _ in log.read()), Keys.of(log.key), heads)


def _read_head(path: Path, log: AuditLog) -> Head:
    from audiencekit.audit.chain import read_note
    from audiencekit.state.signing import MOST_NOTE_BYTES

    try:
        with path.open("rb") as stream:
            content = stream.read(MOST_NOTE_BYTES)
    except OSError as error:
        raise UsageError(f"{shown(path)} cannot be read: {error.strerror}") from None
    if (head := read_note(content, log.key)) is None:
        raise Refused(
            f"{shown(path)} is no head that this state directory has signed, or it was changed",
            hint="give a file with what `audiencekit audit head` printed",
        )
    return head
