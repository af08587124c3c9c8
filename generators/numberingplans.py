"""The numbering plans of all regions, compiled from the installed phonenumbers: a first run compiles none then."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import phonenumbers

from audiencekit.records.phones.tables import CACHED, PhoneTables
from audiencekit.state.directory import Cache


def compiled_plans() -> bytes:
    """The file of plans: the one that a process that met all regions leaves in an empty cache."""
    with TemporaryDirectory() as directory:
        cache = Cache(Path(directory) / "cache")
        PhoneTables(cache).covering(phonenumbers.SUPPORTED_REGIONS, phonenumbers.COUNTRY_CODE_TO_REGION_CODE)
        plans = cache.read(CACHED)
    if plans is None:
        raise OSError("the compiled plans could not be kept")
    return plans
