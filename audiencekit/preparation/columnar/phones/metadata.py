"""The metadata of a region, told by a digest: of what stands in memory, else of the text it will be read from.

phonenumbers reads a region's metadata when it is first asked for. That takes ten times as long as to look at the text,
and nothing else needs it where a numbering plan was compiled before.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import pkgutil
import sys
from typing import Any, Final

import phonenumbers
from phonenumbers import REGION_CODE_FOR_NON_GEO_ENTITY, PhoneMetadata, data as texts_of_metadata


def of_phonenumbers(reads: object) -> object | None:
    """`reads`, where it is a function that stands in phonenumbers; None for what a program has put in its place."""
    code = getattr(reads, "__code__", None)
    return reads if code is not None and code.co_filename == texts_of_metadata.__file__ else None


# How phonenumbers reads a region's metadata, and where it notes whether it did; another release may do it otherwise.
_READ: Final = of_phonenumbers(vars(texts_of_metadata).get("_load_region"))
_REGIONS: Final[dict[object, Any]] = vars(PhoneMetadata).get("_region_available", {})
_CODES: Final[dict[object, Any]] = vars(PhoneMetadata).get("_country_code_available", {})


def regions_of_code(calling_code: int) -> tuple[str, ...]:
    """The regions that share `calling_code`, the first one first."""
    regions: tuple[str, ...] = phonenumbers.COUNTRY_CODE_TO_REGION_CODE[calling_code]
    return regions


def digest_in_memory(calling_code: int, region: str) -> str:
    """Of all that the metadata of `region` holds as it stands in memory, where it is from now on."""
    metadata = PhoneMetadata.metadata_for_region_or_calling_code(calling_code, region)
    return hashlib.sha256(_content_of(metadata)).hexdigest()


def digest_of_unread(calling_code: int, region: str) -> str | None:
    """Of the text that the metadata of `region` will be read from.

    None when it was read, so that a program may have changed it, and when it cannot be said what will be read.
    """
    is_bare_code = region == REGION_CODE_FOR_NON_GEO_ENTITY
    name = calling_code if is_bare_code else region
    reads = (_CODES if is_bare_code else _REGIONS).get(name)
    if reads is None or reads is not _READ or f"{texts_of_metadata.__name__}.region_{name}" in sys.modules:
        return None
    try:
        text = pkgutil.get_data(texts_of_metadata.__name__, f"region_{name}.py")
    except OSError:
        return None
    return None if text is None else hashlib.sha256(text).hexdigest()


def _content_of(metadata: Any) -> bytes:
    """All that `metadata` holds, the same whichever of its texts are one object: in the quickest way that there is."""
    content = io.BytesIO()
    pickler = pickle.Pickler(content, protocol=4)
    pickler.fast = True  # nothing is written as a reference
    pickler.dump(metadata)
    return content.getvalue()
