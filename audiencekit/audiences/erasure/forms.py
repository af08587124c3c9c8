"""The forms in which identifiers of an erased person may have been sent, and their keys."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from audiencekit.identifiers.definition import normalize_identifier
from audiencekit.identifiers.email import lower
from audiencekit.identifiers.kinds import Kind, Reason, Rules, accept_hashed
from audiencekit.identifiers.texts import trim
from audiencekit.personal import HashedRecords, Personal, guarded
from audiencekit.records.batches import IS_DELETE
from audiencekit.records.chunks import to_chunk
from audiencekit.records.columns.arrays import arrow_array, list_array
from audiencekit.records.columns.hashes import from_hex
from audiencekit.records.records import RECORD_SCHEMA
from audiencekit.snapshots.shared_keys import refuse_shared
from audiencekit.snapshots.store import SnapshotStore
from audiencekit.state.keys import DIGESTS, StateKey

# --- Every form that an identifier can have been sent in: a Delete goes by hashes ---
#
# Each rule is a row of FORMS, with its source; a kind without a row has its normal form alone. Most are the normal
# forms under the switches of `identifiers.kinds.Rules`, of which a profile or an option may have chosen any; the
# others are what the same documentation has led other tools to send. A form that could be another person's is never
# made: national digits without their country are not.

Forms: TypeAlias = frozenset[str]

_NO_SWITCHES: Final[tuple[dict[str, Any], ...]] = ({},)
_SWITCHES: Final[Mapping[Kind, tuple[dict[str, Any], ...]]] = {
    Kind.PHONE_NUMBER: ({"phone_validity": "valid"}, {"phone_validity": "possible"}),
    Kind.DEVICE_ID: ({"device_id_case": "as_given"},),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifierForm:
    """One way to write identifiers of a kind: `of` makes it from a normal form, or from the text as given."""

    kind: Kind
    words: str
    source: str
    of: Callable[[str], str]
    from_text: bool = False


FORMS: Final = (
    IdentifierForm(
        kind=Kind.EMAIL, words="trimmed and in lower case, the domain in ASCII",
        source="the rule of identifiers.email", of=str,
    ),
    IdentifierForm(
        kind=Kind.EMAIL, words="trimmed and in lower case, the domain as it is written",
        source="X, audience user data: trim and lower-case, and nothing else", of=lambda text: lower(trim(text)),
        from_text=True,
    ),
    IdentifierForm(
        kind=Kind.PHONE_NUMBER, words="E.164 with its plus sign",
        source="switch phone_form e164; X, Conversion API", of=lambda number: f"+{number.removeprefix('+')}",
    ),
    IdentifierForm(
        kind=Kind.PHONE_NUMBER, words="digits only",
        source="switch phone_form digits; the service's own script of 2014", of=lambda number: number.removeprefix("+"),
    ),
    IdentifierForm(
        kind=Kind.DEVICE_ID, words="as it is written",
        source="switch device_id_case as_given; X's older page: no lower-casing", of=str,
    ),
    IdentifierForm(
        kind=Kind.DEVICE_ID, words="in lower case",
        source="switch device_id_case lower; X, audience user data", of=str.lower,
    ),
    IdentifierForm(
        kind=Kind.DEVICE_ID, words="in upper case, as iOS shows it",
        source="switch device_id_case as_given, for a source that had it from the device", of=str.upper,
    ),
    IdentifierForm(
        kind=Kind.HANDLE, words="in lower case without @",
        source="the rule of identifiers.accounts; X, audience user data", of=str,
    ),
    IdentifierForm(
        kind=Kind.HANDLE, words="in lower case with @",
        source="tools that hash a handle as it is shown", of=lambda handle: f"@{handle}",
    ),
    IdentifierForm(
        kind=Kind.PLATFORM_ID, words="digits without leading zeros",
        source="the rule of identifiers.accounts", of=str,
    ),
    IdentifierForm(
        kind=Kind.PARTNER_USER_ID, words="as it is written",
        source="specification part 2, section 4.4: passed as it is", of=str,
    ),
    IdentifierForm(
        kind=Kind.PARTNER_USER_ID, words="trimmed",
        source="a source whose reader took white space off", of=trim,
    ),
    IdentifierForm(
        kind=Kind.PARTNER_USER_ID, words="SHA-256 of it, trimmed",
        source="option hashed, of partner_user_id", of=lambda text: _sha256_hex(trim(text)),
    ),
)  # fmt: skip


def _normal_form(kind: Kind) -> IdentifierForm:
    """The only form of a kind that has just one."""
    return IdentifierForm(kind=kind, words="as the rule leaves it", source=f"the rule of identifiers.{kind}", of=str)


def forms_of(
    kind: Kind, text: str, *, country: str | None = None, default_country: str | None = None
) -> Forms | Reason:
    """Return `text` in every form, as it would be hashed or (a partner user id) sent; or the reason to reject it.

    `country` is the country in the row, `default_country` is used without one.
    """
    normal = _normal_forms(kind, text, country, default_country)
    if isinstance(normal, Reason):
        return normal
    rules = [form for form in FORMS if form.kind is kind] or [_normal_form(kind)]
    made = {form.of(one) for form in rules for one in ([text] if form.from_text else normal)}
    return frozenset(made)


def keys_of(kind: Kind, text: str, *, country: str | None = None, default_country: str | None = None) -> Forms | Reason:
    """Return `forms_of` as they are written in a request: SHA-256 in hex, except partner user ids."""
    forms = forms_of(kind, text, country=country, default_country=default_country)
    if isinstance(forms, Reason) or not kind.is_hashed:
        return forms
    return frozenset(map(_sha256_hex, forms))


def keys_of_hash(text: str) -> Forms | Reason:
    """Return the only key of an identifier of which just the hash is known."""
    accepted = accept_hashed(text)
    return accepted if isinstance(accepted, Reason) else frozenset({str(accepted)})


def _sha256_hex(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _normal_forms(kind: Kind, text: str, country: str | None, default_country: str | None) -> set[str] | Reason:
    """Return the normal forms of `text` under all options that affect it; FORMS has the spellings."""
    found = set()
    reason = Reason.EMPTY
    for switches in _SWITCHES.get(kind, _NO_SWITCHES):
        rules = Rules(default_country=default_country, **switches)
        decided = normalize_identifier(kind, text, country=country, rules=rules)
        if isinstance(decided, Reason):
            reason = decided
        else:
            found.add(str(decided))
    return found or reason


# --- The keys of the people to be erased, one record for each ---

FINGERPRINT_BYTES: Final = 16
_FINGERPRINTS: Final = "erasures"

# A kind, and the key as it stands in a request: 64 hex digits, or a partner user id.
Key: TypeAlias = tuple[Kind, str]


class ErasureKeys(Personal[frozenset[Key]]):
    """The keys of an erasure. Hashes are personal data."""


@guarded
def to_records(keys: ErasureKeys) -> HashedRecords:
    """Return one Delete for each key (RECORD_SCHEMA), always in the same order: one key deletes an entry."""
    ordered = sorted(keys.unwrap())
    rows = np.arange(1, len(ordered) + 1)
    columns = []
    for kind in Kind:
        values = pa.array([value for of, value in ordered if of is kind], pa.string())
        counts = np.array([of is kind for of, _ in ordered], dtype=np.int64)
        columns.append(list_array(counts, from_hex(values) if kind.is_hashed else values))
    deletes = pa.repeat(True, len(ordered))
    return HashedRecords(pa.record_batch([arrow_array(rows), deletes, *columns], schema=RECORD_SCHEMA))


@guarded
def as_updates(records: HashedRecords, kinds: Collection[Kind]) -> HashedRecords:
    """Return the `records` whose key is of one of `kinds`, as Updates."""
    batch = records.unwrap()
    wanted = np.zeros(batch.num_rows, dtype=bool)
    for kind in kinds:
        wanted |= batch.column(kind.value).is_valid().to_numpy(zero_copy_only=False)
    kept = batch.filter(arrow_array(wanted))
    place = kept.schema.get_field_index(IS_DELETE)
    return HashedRecords(kept.set_column(place, RECORD_SCHEMA.field(IS_DELETE), pa.repeat(False, kept.num_rows)))


def count_by_kind(records: HashedRecords) -> dict[str, int]:
    """Return how many keys there are of each kind, without kinds that have none."""
    batch = records.unwrap()
    counts = {kind.value: batch.num_rows - batch.column(kind.value).null_count for kind in Kind}
    return {kind: count for kind, count in counts.items() if count}


@guarded
def keys_fingerprint(records: HashedRecords, key: StateKey) -> str:
    """Return a digest in hex that is equal for the same keys and finds their erasure again; useless without `key`."""
    content, own = to_chunk(records).unwrap(), key.derive(DIGESTS, _FINGERPRINTS)
    return hashlib.blake2b(content, key=own.unwrap(), digest_size=FINGERPRINT_BYTES).hexdigest()


# --- Whether people to be erased have an identifier that many members of an audience under sync share ---
#
# Snapshots know their members. Of other audiences nothing is known here.

_HINT: Final = (
    "leave them out of the input, or say `shared_values='keep'` to take out all who have one; other identifiers of the"
    " same people take out them alone"
)


def refuse_shared_in_any(
    records: HashedRecords, most: int | None, *, state_dir: Path, account_id: str, key: StateKey
) -> None:
    """Check that no key of `records` belongs to more than `most` members of an audience of the account under sync.

    With None there is no limit. Raises as `refuse_shared`.
    """
    for audience_id in SnapshotStore.audiences(state_dir, account_id) if most is not None else ():
        refuse_shared([records], most or 0, SnapshotStore(state_dir, account_id, audience_id, key), hint=_HINT)
