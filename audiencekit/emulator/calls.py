"""What a handler is given: one call that was let in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from .accounts.records import Account
from .envelope import RefusalError, refuse
from .options import EmulatorOptions
from .signatures import Pair
from .store import Store


class Address(StrEnum):
    """Which of the emulator's three addresses was called."""

    ADS = "ads"
    SANDBOX = "sandbox"
    BASE = "base"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call: `ids` from the path, `query` decoded, `body` whole, `now` in epoch seconds."""

    address: Address
    ids: Mapping[str, str]
    query: list[Pair]
    media_type: str
    body: bytes
    now: float
    store: Store
    options: EmulatorOptions

    @property
    def account(self) -> Account:
        """The account of the path; only for endpoints whose path has one."""
        return self.store.accounts[self.ids["account_id"]]

    def refuse(self, status: int, code: str, message: str, parameter: str | None = None) -> RefusalError:
        """A refusal that echoes the ids of the path."""
        return refuse(status, code, message, parameter, params=self.ids)
