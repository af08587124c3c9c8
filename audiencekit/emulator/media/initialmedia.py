"""Media that every account has from the start.

The specification does not show how media come into a library or become account media, and without any a client could
make nothing of them. There is one of every sort and of every creative type, and more images than a tweet may have.
"""

from __future__ import annotations

import random
from typing import Final

from audiencekit.emulator.credentials import base36
from audiencekit.emulator.media.records import make_account_media, make_media
from audiencekit.emulator.resources.records import Record
from audiencekit.servicewords import CREATIVE_TYPES

# The number before the underscore of the key, and width and height in pixels.
_STOCK: Final = (
    *[("3", (1_200, 628))] * 5,
    ("3", (1_000, 400)),
    ("3", (640, 335)),
    ("16", (480, 270)),
    *[("13", (1_280, 720))] * 2,
    ("13", (720, 720)),
)
_FIRST_SERIAL: Final = 10**18


def stock(account_id: str, now: float) -> dict[str, dict[str, Record]]:
    """Return the records of a new account, by kind and id. The same account has the same ones."""
    chance = random.Random(f"media of {account_id}")
    first = chance.randrange(_FIRST_SERIAL, 2 * _FIRST_SERIAL)
    library = [make_media(f"{sort}_{first + place}", now, size=size) for place, (sort, size) in enumerate(_STOCK)]
    video_key = library[-2].id
    serial = chance.randrange(36**4, 36**5 // 2)
    assets = [
        make_account_media(base36(serial + 37 * place), creative_type, video_key, now)
        for place, creative_type in enumerate(CREATIVE_TYPES)
    ]
    return {
        "media_library": {record.id: record for record in library},
        "account_media": {record.id: record for record in assets},
    }
