"""The argument of a handler: one authorized call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from audiencekit.emulator.answers import RefusalError, refuse
from audiencekit.emulator.authentication import Pair, decode_pairs

if TYPE_CHECKING:
    from audiencekit.emulator.endpoints.accounts import Account
    from audiencekit.emulator.options import EmulatorOptions
    from audiencekit.emulator.store import Store


class Address(StrEnum):
    """Which of the emulator's three addresses was called."""

    ADS = "ads"
    SANDBOX = "sandbox"
    BASE = "base"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call: `ids` from the path, `query` decoded, `body` whole, `now` in epoch seconds.

    `attributes` are those of the header that authorization needs.
    """

    address: Address
    ids: Mapping[str, str]
    query: list[Pair]
    attributes: Mapping[str, str] = field(default_factory=dict, repr=False)
    media_type: str
    body: bytes
    now: float
    store: Store
    options: EmulatorOptions

    @property
    def account(self) -> Account:
        """The account in the path; only for endpoints whose path has one."""
        return self.store.accounts[self.ids["account_id"]]

    @property
    def user_id(self) -> str:
        """The user who signed; empty without one. Tokens begin with the id of their user."""
        return self.attributes.get("oauth_token", "").partition("-")[0]

    def attribute(self, name: str) -> str | None:
        """Return a parameter of authorization from the header, the query or the form, in this order."""
        if name in self.attributes:
            return self.attributes[name]
        pairs = [*self.query, *(decode_pairs(self.body) if is_form(self.media_type) else ())]
        return next((text.decode("utf-8", "replace") for each, text in pairs if each == name.encode()), None)

    def require_feature(self, gate: str, parameter: str | None = None) -> None:
        """Refuse an account without `gate`, one of `GATES`; name the parameter that needs it.

        Raises RefusalError. An endpoint that needs the feature is refused like other missing access (403; specification
        part 1, section 5), a parameter with the status that the public service publishes for this code (400).
        """
        if gate in self.account.outside and gate not in self.account.features:
            message = f"Account {self.account.id} does not have access to {gate}"
            raise self.refuse(403 if parameter is None else 400, "FEATURE_NOT_AVAILABLE", message, parameter)

    def refuse(self, status: int, code: str, message: str, parameter: str | None = None) -> RefusalError:
        """Return a refusal that echoes the ids of the path."""
        return refuse(status, code, message, parameter, params=self.ids)


def is_form(media_type: str) -> bool:
    """Return whether a body of this type is a form, which a signature covers."""
    return media_type.startswith("application/x-www-form-urlencoded")
