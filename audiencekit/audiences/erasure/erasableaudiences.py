"""The audiences of an account: those that people can be taken out of, and those that they cannot, with the reason."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from audiencekit.api.answers import Answer
from audiencekit.api.client import PermissionScope
from audiencekit.audiences.donotreachlist import DoNotReachService
from audiencekit.audiences.erasure.receipt import Skipped, TargetReceipt
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.errors import MalformedAnswer
from audiencekit.limits import MAX_PAGE_ROWS
from audiencekit.serviceids import is_service_id

_FOLLOWS: Final = "a flexible audience has no people of its own: it follows the audiences that it is made of"
_FILLED: Final = "the service fills it itself, from what it observed: lists of people cannot change it"
_WHYS: Final[Mapping[str, str]] = {"FLEXIBLE": _FOLLOWS, "WEB": _FILLED, "MOBILE": _FILLED}
_SHARED: Final = "it belongs to another account, which alone can take people out: ask its owner"


class ErasureService(DoNotReachService, Protocol):
    """The methods of AdsClient that are needed for an erasure."""

    def iterate_custom_audiences(
        self,
        *,
        permission_scope: PermissionScope | None = None,
        count: int | None = None,
        with_deleted: bool | None = None,
    ) -> AsyncIterator[Answer]:
        """Every page of audiences."""


@dataclass(slots=True)
class Account:
    """The list of the service: audiences of ours to be written, and the others."""

    owned: list[TargetReceipt] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


async def list_account(service: ErasureService, account_id: str, policy: RetryPolicy) -> Account:
    """Every audience of the account, page by page, deleted ones left out. Raises an ExchangeError."""

    async def list_once() -> Account:
        account = Account()
        async for audience in _listed(service, "OWNER"):
            _sort(account, audience, is_ours=audience.get("owner_account_id", account_id) == account_id)
        async for audience in _listed(service, "SHARED"):
            _sort(account, audience, is_ours=False)
        return account

    return await policy.patiently(list_once)


async def _listed(service: ErasureService, scope: PermissionScope) -> AsyncIterator[dict[str, Any]]:
    async for page in service.iterate_custom_audiences(permission_scope=scope, count=MAX_PAGE_ROWS, with_deleted=False):
        for audience in page.data:
            if not is_service_id(audience.get("id")):
                raise MalformedAnswer("an audience was listed without an id", status=page.status)
            if not audience.get("deleted"):
                yield audience


def _sort(account: Account, audience: Mapping[str, Any], *, is_ours: bool) -> None:
    audience_id, name = str(audience["id"]), str(audience.get("name") or "")
    why = _WHYS.get(str(audience.get("audience_type"))) if is_ours else _SHARED
    if why is None:
        account.owned.append(TargetReceipt(id=audience_id, name=name))
    else:
        account.skipped.append(Skipped(id=audience_id, name=name, why=why))
