"""`audiencekit.audiences.audience_use`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audiencekit.api.answers import Answer
from audiencekit.audiences.audience_use import read_use
from audiencekit.audiences.flexible import Document, FlexibleAudience, Group, Leaf, Operator
from audiencekit.audiences.flexible_creation import Creation
from audiencekit.audiences.flexible_memory import KnownFlexible
from audiencekit.settings import Settings, load_settings

ITEMS = [{"id": "li1", "name": "Shown", "servable": True}, {"id": "li2", "name": None, "servable": False}]
CAMPAIGN = {"campaign_id": "ca1", "campaign_name": "Spring", "line_items": ITEMS}
PERMISSION = {"id": "pe1", "granted_account_id": "acc9", "permission_level": "READ_ONLY"}
ABOVE = {"id": "f1", "name": "Lapsed", "audience_type": "FLEXIBLE"}
ELSEWHERE = {"id": "f2", "name": "Other", "audience_type": "FLEXIBLE"}


class Service:
    """Has these campaigns, permissions and audiences; `asked` are the parameters of its lists."""

    def __init__(self, campaigns: list[Any], permissions: list[Any], audiences: list[Any]) -> None:
        self._lists = {"list_custom_audience_targeted": campaigns, "list_custom_audience_permissions": permissions}
        self._audiences = audiences
        self.asked: dict[str, Any] = {}

    async def items(self, name: str, parameters: Mapping[str, Any] | None = None) -> AsyncIterator[Any]:
        self.asked[name] = parameters
        for each in self._lists[name]:
            yield each

    async def iterate_custom_audiences(self, *, count: int | None = None) -> AsyncIterator[Answer]:
        yield Answer(status=200, data=self._audiences)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Of a state directory that has created one flexible audience, of `base`."""
    settings = replace(load_settings({}, directory=tmp_path, state_dir=tmp_path / "state"), account_id="acc1")
    root = Group(operator=Operator.AND, segments=(Leaf(audience="base", lookback_days=7),))
    document = Document((FlexibleAudience(name="Lapsed", root=root),), {}, "")
    KnownFlexible(settings.state_dir, "acc1").note(document, [Creation(path="", name="", id="f1", state="created")])
    return settings


async def test_everything_that_uses_an_audience_is_found(settings: Settings) -> None:
    """Line items that are not served, too; a flexible audience that was created elsewhere may be above it."""
    service = Service([CAMPAIGN], [PERMISSION], [{"id": "base", "audience_type": "CRM"}, ABOVE, ELSEWHERE])
    use = await read_use(service, {"id": "base", "owner_account_id": "acc1"}, settings)
    assert service.asked["list_custom_audience_targeted"] == {"custom_audience_id": "base", "with_active": False}
    assert use.to_text().splitlines() == [
        "line item li1 'Shown' of campaign ca1 'Spring', served",
        "line item li2 '' of campaign ca1 'Spring', not served",
        "shared with account acc9, read only",
        "flexible audience f1 'Lapsed'",
        "not known: whether it is in a flexible audience that was created elsewhere (f2)",
    ]
    assert use.to_json() == {
        "campaigns": [CAMPAIGN],
        "permissions": [PERMISSION],
        "flexible_audiences": [{"id": "f1", "name": "Lapsed"}],
        "unknown_flexible_audiences": [{"id": "f2", "name": "Other"}],
        "under_sync": False,
    }


async def test_an_audience_that_nothing_uses(settings: Settings) -> None:
    """A flexible audience that is deleted at the service is not listed, and does not count."""
    use = await read_use(Service([], [], []), {"id": "base", "is_owner": True}, settings)
    assert use.to_text() == "used by nothing that the service or this machine knows of"


async def test_the_permissions_of_a_shared_audience_are_its_owners(settings: Settings) -> None:
    """They are not asked for, since the service refuses it."""
    service = Service([], [PERMISSION], [])
    use = await read_use(service, {"id": "base", "is_owner": False}, settings)
    assert (use.permissions, list(service.asked)) == (None, ["list_custom_audience_targeted"])
