"""The stamp of an audience: it shows which machine has its snapshot, and whether it was changed elsewhere."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, Self

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from audiencekit.api.client import AdsClient
from audiencekit.api.stamps import REMOVAL, Stamp, description_of, find_stamp, with_stamp
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.destinations.audience_look import is_answered
from audiencekit.errors import ExchangeError, SnapshotRefused, UsageError
from audiencekit.process.crash_points import pass_point
from audiencekit.snapshots.facts import untrusted
from audiencekit.state.files import explained, read_file, replace_file
from audiencekit.state.keys import SubKey
from audiencekit.state.spool import NONCE_BYTES

# --- Whether the snapshot is the last state of its audience: the service is asked before a run changes anything ---
#
# A run puts a new stamp into the description of the audience before its first request, and another one when its changes
# are in the snapshot. So a snapshot is the last one only while the description has a stamp that was made with it:
# another machine, an older copy of the state directory, and one that was copied in the middle of a run know other
# stamps.

_REBUILD: Final = (
    "a sync with `rebuild=True` sends all people of the source again from here; people who were put in by others"
    " and are not in the source stay until their entries expire"
)
_OTHER: Final = "another machine, another state directory or a later state of this one has changed the audience"
_OTHER_HINT: Final = f"sync from there, or use its state directory here; otherwise {_REBUILD}"
_REMOVED: Final = "an upload has taken people out of the audience since the last sync"
_UPLOADED: Final = (
    "an upload has put people in since the last sync: those who are not in the source stay until their entries expire"
)
_CUT_SHORT: Final = "the audience was changed by others, and a rebuild of its snapshot was cut short"
_UNSTAMPED: Final = (
    "the description of the audience does not bear the stamp of the last sync: the sync was cut short, or others have"
    " edited the description. It is unknown whether another machine has changed the audience"
)
_LATER: Final = "while this run was at work, something else changed the audience or its stamp: the next sync is refused"
_UNKNOWN: Final = (
    "whether another machine has changed the audience is not known: the service does not {} its description"
)


class AudienceStamp:
    """The stamp of one audience, as the service shows it and as `directory` knows it.

    The stored stamps are sealed by `key`. `policy` says how long the service is asked. `notify` is called with notes
    for people during a run.
    """

    def __init__(
        self,
        client: AdsClient,
        audience_id: str,
        directory: Path,
        key: SubKey,
        *,
        policy: RetryPolicy,
        is_rebuild: bool,
        notify: Callable[[str], None],
    ) -> None:
        self._client, self._audience_id = client, audience_id
        self._directory, self._key = directory, key
        self._policy, self._is_rebuild, self._notify = policy, is_rebuild, notify
        self._seen: Stamp | None = None
        self._is_unknown = ""  # what the service does not do with descriptions
        self._is_behind = False
        self._token = ""
        self.notes: tuple[str, ...] = ()

    async def look(self) -> None:
        """Ask the service for the stamp of the audience.

        Raises ServiceUnavailable, CredentialsRefused or Refused when it does not answer now, but may later.
        """
        async with self._client:
            if not await is_answered(self._ask, self._policy):
                self._is_unknown = "show"

    async def _ask(self) -> str:
        """Return the description, and note its stamp; "" if the service shows none."""
        found = description_of(await self._client.get_custom_audience(self._audience_id))
        self._is_unknown = "show" if found is None else ""
        self._seen = find_stamp(found or "", self._audience_id)
        return found or ""

    def judge(self, serial: int) -> tuple[str, ...]:
        """Return notes on it before a run with the snapshot `serial`. Raises SnapshotRefused."""
        known = self._known()
        if self._is_rebuild:
            return self._judge_rebuild(known)
        if known is not None:
            _refuse_what_is_behind(known, serial)
        if self._is_unknown:
            return (_UNKNOWN.format(self._is_unknown),)
        if self._seen is None:
            return (_UNSTAMPED,) if _misses_stamp(known) else ()
        if known is None or self._seen.token not in known.tokens:
            raise SnapshotRefused(f"{_OTHER}: nothing was sent", hint=_OTHER_HINT)
        if self._seen.since == REMOVAL:
            raise SnapshotRefused(f"{_REMOVED}: nothing was sent", hint=_REBUILD)
        uploaded = (_UPLOADED,) if self._seen.since else ()
        return (*uploaded, _UNSTAMPED) if known.is_unsure else uploaded

    def _judge_rebuild(self, known: KnownStamps | None) -> tuple[str, ...]:
        """Return notes on a rebuild, which always goes on, with the problems that it cannot solve."""
        is_foreign = self._seen is not None and (known is None or self._seen.token not in known.tokens)
        is_overtaken = self._seen is not None and self._seen.since == REMOVAL
        self._is_behind = is_foreign or is_overtaken or (known is not None and known.is_behind)
        if not self._is_behind:
            return ()
        why = _OTHER if is_foreign else _REMOVED if is_overtaken else _CUT_SHORT
        return (f"{why}: people who were put in by this and are not in the source stay until their entries expire",)

    def _known(self) -> KnownStamps | None:
        try:
            return KnownStamps.read(self._directory, self._key)
        except SnapshotRefused:
            if not self._is_rebuild:
                raise
            return None

    # --- before the first request ---

    async def begin(self, serial: int) -> None:
        """Give the audience a new stamp, which is stored here durably before.

        Raises SnapshotRefused when another one was set since `look`, and the errors of `look`.
        """
        if self._is_unknown:
            return
        self._token = secrets.token_hex(8)
        async with self._client:
            if not await is_answered(lambda: self._put(serial), self._policy):
                self._give_up("let us write into")

    async def _put(self, serial: int) -> None:
        """Look once more, then change the description.

        If a try whose answer was lost has changed it, nothing is done.
        """
        description = await self._ask()
        if self._is_unknown:
            return
        if self._seen is None or self._seen.token != self._token:
            self.judge(serial)
            known = self._known()
            is_unsure = not self._is_rebuild and self._seen is None and _misses_stamp(known)
            known = known or KnownStamps(serial=serial)
            own = {self._seen.token} & {*known.tokens} if self._seen is not None else set()
            known = replace(
                known, serial=serial, tokens=(*own, self._token), is_behind=self._is_behind,
                is_unsure=is_unsure or (known.is_unsure and not self._is_rebuild),
            )  # fmt: skip
            known.write(self._directory, self._key)
            shown = await self._change(description)
        else:
            shown = description
        if find_stamp(shown, self._audience_id) == Stamp(self._audience_id, self._token):
            self._store_tokens(tokens=(self._token,))
        else:
            self._give_up("keep what we write into")

    async def _change(self, description: str) -> str:
        """Return the description that the service shows after it was given our stamp."""
        stamped = with_stamp(description, Stamp(self._audience_id, self._token))
        pass_point("before stamp")
        answer = await self._client.update_custom_audience(self._audience_id, description=stamped)
        pass_point("after stamp")
        return description_of(answer) or ""

    def _give_up(self, what: str) -> None:
        """Note that the service does not support this for descriptions."""
        if known := self._known():
            replace(known, is_shown=False).write(self._directory, self._key)
        self._note(_UNKNOWN.format(what))

    def _store_tokens(self, *, tokens: tuple[str, ...]) -> None:
        known = self._known()
        assert known is not None  # noqa: S101
        replace(known, tokens=tokens, is_shown=True).write(self._directory, self._key)

    # --- when the changes are in the snapshot ---

    async def end(self, serial: int) -> None:
        """Give the audience the stamp of the snapshot `serial`, unless it was changed elsewhere.

        Raises nothing when the service is away by now: then the stamp of the beginning stays.
        """
        known = self._known()
        if known is None or not self._token:
            return
        known = replace(known, serial=serial, is_behind=False, is_unsure=False)
        known.write(self._directory, self._key)
        if not known.is_shown or self._is_unknown:
            return
        with contextlib.suppress(ExchangeError, UsageError):
            async with self._client:
                await self._end(known)

    async def _end(self, known: KnownStamps) -> None:
        description = await self._ask()
        if self._seen != Stamp(self._audience_id, self._token):
            self._note(_LATER)
            return
        earlier, self._token = self._token, secrets.token_hex(8)
        replace(known, tokens=(earlier, self._token)).write(self._directory, self._key)
        shown = await self._change(description)
        if find_stamp(shown, self._audience_id) == Stamp(self._audience_id, self._token):
            self._store_tokens(tokens=(self._token,))  # else either may be there: an answer without it proves nothing

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes += (note,)
            self._notify(f"note: {note}")


def judge_locally(directory: Path, key: SubKey, serial: int) -> None:
    """Do as `AudienceStamp.judge` for a plan, which does not ask the service. Raises SnapshotRefused."""
    if (known := KnownStamps.read(directory, key)) is not None:
        _refuse_what_is_behind(known, serial)


def _refuse_what_is_behind(known: KnownStamps, serial: int) -> None:
    """Raise SnapshotRefused for a snapshot that lacks later changes, as far as this directory knows."""
    if serial < known.serial:
        raise SnapshotRefused("the snapshot is not the last that was written", hint=_REBUILD)
    if known.is_behind:
        raise SnapshotRefused(f"{_CUT_SHORT}: nothing was sent", hint=_REBUILD)


def _misses_stamp(known: KnownStamps | None) -> bool:
    """Whether an audience without a stamp should have one."""
    return known is not None and known.is_shown is not False


# --- The stamps that the description of an audience may have at the next look, as this state directory knows them ---
#
# Sealed, beside the snapshot. A stamp is stored here before it is set there, so that after a kill it is known as ours.

STAMP: Final = "stamp"
_MOST_BYTES: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownStamps:
    """The stamps that the audience may have: one of `tokens`.

    `serial` is that of its snapshot then; older ones do not fit. `is_shown` says whether the service shows stamps;
    None: setting the first one was interrupted. `is_behind` says that the snapshot lacks changes of others, until all
    members have been sent again. `is_unsure` says that others may have changed the audience while it had no stamp,
    until a sync that said so has ended.
    """

    serial: int
    tokens: tuple[str, ...] = ()
    is_shown: bool | None = None
    is_behind: bool = False
    is_unsure: bool = False

    @classmethod
    def read(cls, directory: Path, key: SubKey) -> Self | None:
        """Return the stamps that were stored last; None without any. Raises SnapshotRefused for a damaged file."""
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
        """Store them; durable when it returns. Raises InputOutputFailed."""
        pass_point("before stamps")
        nonce = secrets.token_bytes(NONCE_BYTES)
        sealed = AESGCM(key.unwrap()).encrypt(nonce, orjson.dumps(asdict(self)), STAMP.encode())
        with explained("the stamps of the audience cannot be kept", directory / STAMP):
            replace_file(directory / STAMP, nonce + sealed)
        pass_point("after stamps")
