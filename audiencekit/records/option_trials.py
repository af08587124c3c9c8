"""Trials of rejected values: which option would save how many of them, found by trying it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

import numpy as np
import phonenumbers
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.email import ROLES, THROWAWAY, likely_provider
from audiencekit.identifiers.kinds import Kind, Reason, Rules
from audiencekit.records.batches import MappedColumn
from audiencekit.records.columns.arrays import REASONS, VALID, Codes, arrow_array
from audiencekit.records.record_bits import Bools
from audiencekit.records.records import LIKELY, codes_of
from audiencekit.records.tried_values import TriedValues
from audiencekit.text import option

TRIED: Final = 2_000  # rejected values of a column, a batch and a reason
_FIRST: Final = 100  # of these, with every country; the others with those that saved most
_LIKELIEST: Final = 6  # countries

# Signs that may separate several values of a cell. A blank stands in names and in numbers, too.
_SEPARATORS: Final = {
    Kind.EMAIL: (";", ",", "|", "/", ":", "\n", " "),
    Kind.PHONE_NUMBER: (";", ",", "|", "/", ":", "\n"),
    Kind.DEVICE_ID: (";", ",", "|", "\n"),
    Kind.PLATFORM_ID: (";", ",", "|", "\n"),
}

_DIVIDED: Final = (Reason.INVALID_SYNTAX, Reason.TOO_LONG, Reason.NOT_POSSIBLE, Reason.NOT_INTEGER)

# Oddities of valid addresses.
TYPING_ERROR, ROLE, THROWAWAY_MAILBOX = "typing_error", "role_address", "throwaway_mailbox"
# Descriptions of rejected values that no option saves.
RAW, BARE, NAME = "a value that is not hashed", "an address beside a name", "the name of a person"


def examine(texts: Any, codes: Codes, countries: Any | None, column: MappedColumn, rules: Rules) -> TriedValues:
    """Trials of `texts` (pa.StringArray) of `column`, of which each has its code and the country of its row.

    Holds raw values: to be called from a guarded function only.
    """
    found, kind = TriedValues(), column.kind
    if kind is Kind.EMAIL and not column.hashed:
        found.trials.dubious = _count_dubious(texts.filter(arrow_array(codes == VALID)))
    for code in np.unique(codes[codes > VALID]).tolist():
        reason = Reason(REASONS[code] or "")
        places = np.flatnonzero(codes == code)[:TRIED]
        chosen = texts.take(arrow_array(places))
        where = None if countries is None else countries.take(arrow_array(places))
        found.add(reason, places)
        for act, saved in _try(chosen, reason, where, kind, rules):
            found.save(reason, act, saved)
        for separator in _SEPARATORS.get(kind, ()) if reason in _DIVIDED else ():
            saved = _split(chosen, separator, where, kind, rules)
            if saved.any() and not _breaks(texts, codes, separator, countries, kind, rules):
                found.save(reason, option("split_cells", separator), saved)
    return found


def _breaks(texts: Any, codes: Codes, separator: str, countries: Any | None, kind: Kind, rules: Rules) -> bool:
    """Whether a valid value would be none any more if `separator` divided all cells."""
    places = np.flatnonzero(codes == VALID)
    holding = pc.match_substring(texts.take(arrow_array(places)), separator).to_numpy(zero_copy_only=False)
    places = places[holding][:TRIED]
    chosen, where = texts.take(arrow_array(places)), None if countries is None else countries.take(arrow_array(places))
    return not _split(chosen, separator, where, kind, rules).all()


def _try(texts: Any, reason: Reason, countries: Any | None, kind: Kind, rules: Rules) -> Iterable[tuple[str, Bools]]:
    if kind is Kind.PHONE_NUMBER and (
        reason is Reason.NO_COUNTRY or (countries is None and reason in (Reason.NOT_VALID, Reason.NOT_POSSIBLE))
    ):
        yield from _with_countries(texts, countries, rules)
    if reason is Reason.ALREADY_HASHED:
        yield option("hashed", [kind.value]), np.ones(len(texts), dtype=bool)
    if reason is Reason.WRONG_HASH:
        yield RAW, _are_valid(texts, countries, kind, rules)
    if reason is Reason.DISPLAY_NAME:
        bare = pc.replace_substring_regex(texts, r"(?s)\A.*<([^<>]*)>\s*\z", r"\1")
        yield BARE, _are_valid(bare, countries, kind, rules)
    if kind is Kind.HANDLE and reason is Reason.INVALID_SYNTAX:
        names = pc.match_substring_regex(texts, r"\A\s*\p{L}[\p{L}'.\-]*(?:\s+\p{L}[\p{L}'.\-]*){1,3}\s*\z")
        yield NAME, names.to_numpy(zero_copy_only=False)


def _with_countries(texts: Any, countries: Any | None, rules: Rules) -> Iterable[tuple[str, Bools]]:
    """Each country that saves most of the first values, tried on all of them whose row names none."""
    first, named = texts.slice(0, _FIRST), None if countries is None else countries.slice(0, _FIRST)
    regions = [*LIKELY, *sorted(phonenumbers.SUPPORTED_REGIONS - set(LIKELY))]
    counts = {region: int(np.count_nonzero(_read_as(first, named, region, rules))) for region in regions}
    for region in sorted(regions, key=lambda region: -counts[region])[:_LIKELIEST]:
        if counts[region]:
            yield option("country", region), _read_as(texts, countries, region, rules)


def _read_as(texts: Any, countries: Any | None, region: str, rules: Rules) -> Bools:
    return _are_valid(texts, countries, Kind.PHONE_NUMBER, replace(rules, default_country=region))


def _split(texts: Any, separator: str, countries: Any | None, kind: Kind, rules: Rules) -> Bools:
    """Return for each text whether `separator` divides it, and every part that is not blank is valid."""
    saved = np.zeros(len(texts), dtype=bool)
    divided = np.flatnonzero(pc.match_substring(texts, separator).to_numpy(zero_copy_only=False))
    if not len(divided):
        return saved
    parts = pc.split_pattern(texts.take(arrow_array(divided)), separator)
    owners = pc.list_parent_indices(parts)
    where = None if countries is None else countries.take(arrow_array(divided)).take(owners)
    valid = _are_valid(pc.list_flatten(parts), where, kind, rules)
    blank = pc.equal(pc.utf8_trim_whitespace(pc.list_flatten(parts)), "").to_numpy(zero_copy_only=False)
    places = owners.to_numpy()
    saved[divided[np.unique(places[valid])]] = True
    saved[divided[np.unique(places[~valid & ~blank])]] = False
    return saved


def _are_valid(texts: Any, countries: Any | None, kind: Kind, rules: Rules) -> Bools:
    valid: Bools = codes_of(texts, kind, countries, rules) == VALID
    return valid


def _count_dubious(texts: Any) -> Counter[tuple[str, str]]:
    """Count valid addresses that likely reach no person, by their fault and the provider that was meant."""
    lowered = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    parts = pc.split_pattern(lowered, "@", max_splits=1, reverse=True)
    locals_, domains = (pc.list_element(parts, place) for place in range(2))
    found: Counter[tuple[str, str]] = Counter()
    offices = pc.list_element(pc.split_pattern(locals_, "+", max_splits=1), 0)
    found[ROLE, ""] = pc.sum(pc.is_in(offices, pa.array(ROLES))).as_py() or 0
    found[THROWAWAY_MAILBOX, ""] = pc.sum(pc.is_in(domains, pa.array(THROWAWAY))).as_py() or 0
    for entry in pc.value_counts(domains).to_pylist():
        if (provider := likely_provider(entry["values"])) is not None:
            found[TYPING_ERROR, provider] += entry["counts"]
    return +found
