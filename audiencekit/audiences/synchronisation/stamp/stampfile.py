"""The stamps that the description of an audience may bear when it is next looked at, as this state directory knows.

Sealed, beside the snapshot. A stamp stands here before it can stand there, so that no kill makes us a stranger.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Self

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from audiencekit.machine.crashpoints import pass_point
from audiencekit.machine.keys import SubKey
from audiencekit.machine.privatefiles import explained, read_file, replace_file
from audiencekit.machine.spool import NONCE_BYTES
from audiencekit.snapshots.facts import untrusted

STAMP: Final = "stamp"
_MOST_BYTES: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownStamps:
    """The stamps that the audience may bear: one of `tokens`. `serial` is that of the snapshot then: none older fits.

    `is_shown` says whether the service shows stamps; None: a first one was cut short. `is_behind` that the snapshot
    lacks what others changed, until all members have been sent again. `is_unsure` that others may have changed it while
    the audience bore no stamp, until a sync that told so has come to its end.
    """

    serial: int
    tokens: tuple[str, ...] = ()
    is_shown: bool | None = None
    is_behind: bool = False
    is_unsure: bool = False

    @classmethod
    def read(cls, directory: Path, key: SubKey) -> Self | None:
        """Those that were written last; None when there never were any. Raises SnapshotRefused for a damaged file."""
        path = directory / STAMP
        if not os.path.lexists(path):
            return None
        with explained("the stamps of the audience cannot be read", path):
            content = read_file(path, _MOST_BYTES)
        try:
            facts = orjson.loads(
                AESGCM(key.unwrap()).decrypt(content[:NONCE_BYTES], content[NONCE_BYTES:], STAMP.encode())
            )
            return cls(**facts | {"tokens": tuple(facts["tokens"])})
        except (InvalidTag, ValueError, TypeError, KeyError):
            raise untrusted() from None

    def write(self, directory: Path, key: SubKey) -> None:
        """Keep them; durable when it returns. Raises InputOutputFailed."""
        pass_point("before stamps")
        nonce = secrets.token_bytes(NONCE_BYTES)
        sealed = AESGCM(key.unwrap()).encrypt(nonce, orjson.dumps(asdict(self)), STAMP.encode())
        with explained("the stamps of the audience cannot be kept", directory / STAMP):
            replace_file(directory / STAMP, nonce + sealed)
        pass_point("after stamps")
