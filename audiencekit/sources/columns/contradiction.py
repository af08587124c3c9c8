"""Mappings that the user gave and that the column itself speaks against."""

from __future__ import annotations

from typing import Final

from audiencekit.errors import MappingRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.sources.columns.evidence import MIN_PLAUSIBLE_SHARE, Evidence
from audiencekit.sources.columns.naming import named_kind, names_person_data

MIN_DIGIT_CELLS: Final = 3  # fewer plain numbers may be handles


def refuse_contradiction(kind: Kind, name: str, evidence: Evidence, *, shown: str) -> None:
    """Raises MappingRefused for a mapping against the column's own name, unless the cells say that the name is wrong.

    Values alone do not show it where the rules overlap: digits are handles, too, and anything is a partner's id
    (of these, numbers are judged when all were read).
    """
    by_name = named_kind(name)
    if kind in (Kind.PARTNER_USER_ID, Kind.HANDLE) and by_name is None and names_person_data(name):
        raise MappingRefused(f"column {shown} is named like a person's name, and mapped to the kind {kind}")
    if kind is Kind.HANDLE and evidence.digits_share > MIN_PLAUSIBLE_SHARE and evidence.filled >= MIN_DIGIT_CELLS:
        raise MappingRefused(
            f"column {shown} is mapped to the kind handle, and most of its cells are plain numbers",
            hint="map it to platform_id, or map the column with the handles",
        )
    overlap = {by_name, kind} == {Kind.HANDLE, Kind.PLATFORM_ID}
    if by_name not in (None, kind) and evidence.kind is not kind and not overlap:
        raise MappingRefused(
            f"column {shown} is named like the kind {by_name}, and mapped to the kind {kind}",
            hint=f"map it to {by_name}, or rename it if its name is wrong",
        )
