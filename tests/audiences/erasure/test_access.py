"""Whether the service lets us erase, asked before any person is remembered."""

from __future__ import annotations

from typing import Any

import pytest

from audiencekit.api.answers import Answer
from audiencekit.api.client import AdsClient
from audiencekit.audiences.erasure.access import check_access
from audiencekit.audiences.erasure.forgetting import forget_async
from audiencekit.emulator import Emulator
from audiencekit.errors import CredentialsRefused, ExchangeError, RequestRefused
from audiencekit.selection.forgotten.people import read_forgotten
from audiencekit.settings import Settings


class Client:
    """Answers that it has audiences, and what the user may do, or fails."""

    def __init__(self, access: object) -> None:
        self._access = access

    async def list_custom_audiences(self, *, count: int) -> Answer:
        """None are there."""
        assert count == 1
        return Answer(status=200, data=[])

    async def get_authenticated_user_access(self) -> Answer:
        """Return the answer that the test has set."""
        if isinstance(self._access, ExchangeError):
            raise self._access
        return Answer(status=200, data=self._access)


def _client(access: object) -> Any:
    return Client(access)


@pytest.mark.parametrize("permissions", [["ANALYST"], ["CAMPAIGN_ANALYST"], ["CAMPAIGN_ANALYST", "ANALYST"]])
async def test_a_user_who_may_only_look_is_refused(permissions: list[str]) -> None:
    """With the permissions in words of the service, and where they are shown."""
    with pytest.raises(CredentialsRefused, match=f"only look at it .{permissions[0]}.*no one was remembered") as told:
        await check_access(_client({"user_id": "1", "permissions": permissions}), "acc1")
    assert "whoami" in (told.value.hint or "")


@pytest.mark.parametrize(
    "access",
    [
        {"permissions": ["ACCOUNT_ADMIN"]},
        {"permissions": ["ANALYST", "AD_MANAGER"]},
        {"permissions": ["PARTNER_AUDIENCE_MANAGER"]},
        {"permissions": ["ANALYST", "SOMETHING_NEW"]},
        {"permissions": ["ANALYST", {}]},
        {"permissions": []},
        {"permissions": "ANALYST"},
        {},
        [],
        None,
        RequestRefused("the service refuses the request", status=403),
    ],
)
async def test_whatever_does_not_say_so_is_no_reason(access: object) -> None:
    """Other permissions, unknown ones, none at all, and a service that does not tell."""
    await check_access(_client(access), "acc1")


async def test_a_user_with_read_access_adds_no_person_to_the_memory(
    emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The erasure ends before the file is written."""

    async def answer(self: AdsClient) -> Answer:
        return Answer(status=200, data={"user_id": "1", "permissions": ["ANALYST"]})

    monkeypatch.setattr(AdsClient, "get_authenticated_user_access", answer)
    with pytest.raises(CredentialsRefused, match="may only look"):
        await forget_async(["person1@example.org"], settings=settings)
    assert read_forgotten(settings.state_dir, settings.key) is None
