"""The record of processing activities (General Data Protection Regulation, article 30), from the audit log.

A run belongs to the period in which it began. Its counts are those of its last entry, which are those of its report.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from audiencekit.text import shown

RUNS: Final = ("upload", "sync", "renew")
_FORGET: Final = "forget"
_ROWS: Final = ("read", "sent", "rejected", "duplicate", "superseded", "suppressed", "unchanged", "pending")
_COUNTS: Final = ("records_sent", "success_count", "total_count")
_TOLD: Final = ("purpose", "basis", "service", "account")
_STATES: Final = ("complete", "incomplete", "refused")
NOT_ENDED: Final = "not_ended"
_HASHED: Final = "hashed with SHA-256 (but for partner_user_id)"
# The parts of a record that no log can say.
FILL_IN: Final = (
    "name and contact of the controller, and of its data protection officer",
    "categories of the people, such as customers or subscribers",
    "the transfer to a third country, if the service is in one, and its safeguards",
)


class Channel(NamedTuple):
    """The purpose and basis of runs, and the place that they send people to."""

    purpose: str
    basis: str
    service: str
    account: str
    target_kind: str
    target_id: str


_NOWHERE: Final = Channel("", "", "", "", "", "")


@dataclass(slots=True, kw_only=True)
class Activity:
    """The runs for one purpose and basis, to one audience or do-not-reach list; its `kinds` are those of identifiers.

    `states` counts runs by their state, `rows` and `counts` are the sums of their reports. `planned` are the Updates
    and Deletes of their plans; `expires_at` is the latest end of an entry at the service.
    """

    channel: Channel = _NOWHERE
    first: str = ""
    last: str = ""
    kinds: set[str] = field(default_factory=set)
    lists: set[str] = field(default_factory=set)
    states: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    planned: Counter[str] = field(default_factory=Counter)
    expires_at: str | None = None

    def add(self, begun: Mapping[str, Any], ended: Mapping[str, Any] | None) -> None:
        """Add a run by its first entry, and its last one of an end."""
        at = str(begun["at"])
        self.first, self.last = min(self.first or at, at), max(self.last, at)
        self.kinds.update(begun["kinds"])
        if begun["list"] and begun["list"]["digest"]:
            self.lists.add(begun["list"]["digest"])
        self.planned.update({name: begun["planned"][name] for name in ("updates", "deletes")})
        if begun["expires_at"]:
            self.expires_at = max(self.expires_at or "", begun["expires_at"])
        self.states[NOT_ENDED if ended is None else ended["state"]] += 1
        if ended is not None:
            self.rows.update(ended["rows"])
            self.counts.update({name: ended[name] for name in _COUNTS})

    def to_json(self) -> dict[str, Any]:
        """Return all of it, with each count, also those that are 0."""
        return {
            **dict(zip(_TOLD, self.channel, strict=False)),
            "target": {"kind": self.channel.target_kind, "id": self.channel.target_id},
            "first": self.first,
            "last": self.last,
            "kinds": sorted(self.kinds),
            "lists": len(self.lists),
            "runs": {name: self.states[name] for name in (*_STATES, NOT_ENDED)},
            "rows": {name: self.rows[name] for name in _ROWS},
            **{name: self.counts[name] for name in _COUNTS},
            "planned": {name: self.planned[name] for name in ("updates", "deletes")},
            "expires_at": self.expires_at,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessingRecord:
    """The record of the time from `since` until before `until`; each is None for no bound.

    `begins_after` is how many entries a retention has cut off. `others` are changes of audiences and of the memory of
    erased people, by command. `retention` is how long runs are kept here, in words.
    """

    since: str | None
    until: str | None
    begins_after: int
    activities: tuple[Activity, ...]
    erasures: Mapping[str, Any]
    others: Mapping[str, int]
    retention: str

    def to_json(self) -> dict[str, Any]:
        """Return all of it."""
        return {
            "since": self.since,
            "until": self.until,
            "begins_after": self.begins_after,
            "activities": [activity.to_json() for activity in self.activities],
            "erasures": dict(self.erasures),
            "other_changes": dict(self.others),
            "retention": self.retention,
            "fill_in": list(FILL_IN),
        }

    def to_csv(self) -> str:
        """Return a line for each activity, with a header."""
        lines = [_flat(activity.to_json()) for activity in self.activities]
        names = list(_flat(Activity().to_json()))
        text = io.StringIO()
        writer = csv.DictWriter(text, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _harmless(value) for name, value in line.items()} for line in lines)
        return text.getvalue()

    def to_markdown(self) -> str:
        """Return the record for people, with the parts to fill in by hand."""
        return "\n".join(_markdown(self))


def make_record(
    entries: Iterable[Mapping[str, Any]], *, since: str | None, until: str | None, begins_after: int, retention: str
) -> ProcessingRecord:
    """Return the record from all entries of a log that was verified."""
    first: dict[str, Mapping[str, Any]] = {}
    ended: dict[str, Mapping[str, Any]] = {}
    others: Counter[str] = Counter()
    for entry in entries:
        name, run, step = str(entry["command"]), str(entry.get("of", "")), entry["step"]
        if name not in (*RUNS, _FORGET):
            others[name] += step == "ended" and _is_within(entry, since, until)
        elif step == "ended":
            ended[run] = entry
        else:
            first.setdefault(run, entry)
    begun = {run: entry for run, entry in first.items() if _is_within(entry, since, until)}
    activities: dict[Channel, Activity] = {}
    for run, entry in begun.items():
        if entry["command"] in RUNS:
            channel = _channel_of(entry)
            activities.setdefault(channel, Activity(channel=channel)).add(entry, ended.get(run))
    return ProcessingRecord(
        since=since,
        until=until,
        begins_after=begins_after,
        activities=tuple(activities[key] for key in sorted(activities)),
        erasures=_erasures(begun, ended),
        others={name: count for name, count in sorted(others.items()) if count},
        retention=retention,
    )


def _is_within(entry: Mapping[str, Any], since: str | None, until: str | None) -> bool:
    at = str(entry["at"])
    return (since is None or at >= since) and (until is None or at < until)


def _channel_of(entry: Mapping[str, Any]) -> Channel:
    told = [str(entry.get(name) or "") for name in _TOLD]
    return Channel._make([*told, str(entry["target"]["kind"]), str(entry["target"]["id"])])


def _erasures(begun: Mapping[str, Mapping[str, Any]], ended: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    of = {run: entry for run, entry in begun.items() if entry["command"] == _FORGET}
    identifiers: Counter[str] = Counter()
    for entry in of.values():
        identifiers.update(entry["identifiers"])
    last = [ended.get(run) for run in of]
    complete = [entry for entry in last if entry is not None and entry["state"] == "complete"]
    return {
        "begun": len(of),
        "complete": len(complete),
        "identifiers": dict(sorted(identifiers.items())),
        "audiences_confirmed": sum(entry["audiences"]["confirmed"] for entry in complete),
        "receipts": list(of),
    }


def _flat(document: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{before}{name}_")
        else:
            found[before + name] = " ".join(value) if isinstance(value, list) else value
    return found


def _harmless(value: Any) -> Any:
    """A text as a cell that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value


def _markdown(record: ProcessingRecord) -> Iterator[str]:
    yield "# Record of processing activities"
    yield ""
    yield f"From {record.since or 'the beginning of the log'} until {record.until or 'now'}."
    if record.begins_after:
        yield f"The first {record.begins_after:,} entries of the log were cut off by a retention: they are not in here."
    yield ""
    yield "To be filled in: " + "; ".join(FILL_IN) + "."
    yield ""
    yield "## Activities"
    for activity in record.activities:
        yield from _activity(activity)
    if not record.activities:
        yield "\nNo one was put into an audience or a list, or taken out."
    yield ""
    yield "## Erasures"
    yield ""
    erasures = record.erasures
    yield f"- begun: {erasures['begun']:,}; complete: {erasures['complete']:,}"
    yield f"- identifiers: {_by_name(erasures['identifiers']) or 'none'}"
    yield f"- audiences that confirmed: {erasures['audiences_confirmed']:,}"
    yield f"- receipts: {', '.join(erasures['receipts']) or 'none'}"
    yield ""
    yield "## Other changes"
    yield ""
    yield _by_name(record.others) or "None."
    yield ""
    yield "## Retention"
    yield ""
    yield f"- here: {record.retention}"
    yield "- at the service: until the entries expire, as each activity says"


def _activity(activity: Activity) -> Iterator[str]:
    document, channel = activity.to_json(), activity.channel
    yield ""
    yield f"### {shown(channel.purpose) or 'no purpose was given'}"
    yield ""
    yield f"- legal basis: {channel.basis.replace('_', ' ') or 'none was given'}"
    yield f"- categories of data: {', '.join(document['kinds']) or 'those of the members'}, {_HASHED}"
    target = f"{channel.target_kind.replace('_', ' ')} {channel.target_id}"
    yield f"- recipient: {channel.service or 'the service'}, account {channel.account}, {target}"
    yield f"- runs: {_by_name(document['runs'])}, from {activity.first} to {activity.last}"
    yield f"- different lists: {document['lists']:,}"
    yield f"- rows: {_by_name(document['rows'])}"
    yield f"- records: {_by_name({name: document[name] for name in _COUNTS})}"
    yield f"- planned: {_by_name(document['planned'])}"
    yield f"- entries expire: {activity.expires_at or 'never, by these runs'}"


def _by_name(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in counts.items())
