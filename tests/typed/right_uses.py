"""Thirty right uses of the package: a checker of types has nothing to say. It is read by mypy, and never run."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, assert_type

import audiencekit
from audiencekit import AdsClient, Plan, Receipt, Report, SetupReport


class Noting:
    """A listener of a caller's own."""

    def step(self, stage: str, done: int, total: int, *, unit: str, also: object = None) -> None:
        """Nothing."""

    def tell(self, message: str) -> None:
        """Nothing."""


def call(frame: audiencekit.AnySource) -> None:
    """Each line is one use."""
    assert_type(audiencekit.check("list.csv"), Plan)
    audiencekit.check(Path("list.csv"), columns={"email": "Mail"}, country="DE")
    audiencekit.check(["a.csv", Path("b.csv")], columns=[("email", "Mail"), ("email", "Other")])
    audiencekit.check(frame, hashed=["email"], ignore="Fax", header=False)
    audiencekit.check("list.csv", hashed={"email"}, ignore=("Fax", "Notes"), doctor=True)
    audiencekit.check("list.csv", shared_values="keep", phone_validity="possible")
    audiencekit.check("list.csv", shared_values=3, progress=Noting())
    audiencekit.check("list.csv", destination=audiencekit.DO_NOT_REACH_LIST)
    assert_type(audiencekit.prepare("list.csv", out=Path("hashed"), requests=True), Plan)
    assert_type(audiencekit.upload("list.csv", audience="h1ab2"), Report)
    audiencekit.upload("list.csv", audience="h1ab2", operation="delete", keep_spool=True)
    audiencekit.upload("list.csv", audience="h1ab2", expires_at=date(2027, 1, 1))
    audiencekit.upload("list.csv", audience="h1ab2", effective_at=datetime.now(UTC), ttl_days=30)
    audiencekit.upload("list.csv", audience="h1ab2", suppress=["a.csv", Path("b.csv")], consent_column="ok=yes")
    audiencekit.upload("list.csv", audience="h1ab2", max_rejected_share=0.2, few_people="refuse", run_id="daily-1")
    audiencekit.upload("list.csv", audience="h1ab2", settings=audiencekit.load_settings(account_id="18ce5"))
    assert_type(audiencekit.sync("list.csv", audience="h1ab2", replace=True, allow_shrink=0.3), Report)
    assert_type(audiencekit.plan_sync("list.csv", audience="h1ab2", few_people=None), Plan)
    assert_type(audiencekit.forget(["ann@example.com"], country="DE"), Receipt)
    audiencekit.forget(source="list.csv", do_not_reach=True, shared_values="keep")
    assert_type(audiencekit.renew(audience="h1ab2", before="30d", expires_at=date(2027, 1, 1)), Report)
    assert_type(audiencekit.run_setup("audiencekit.toml", ["spring"]), SetupReport)
    assert_type(audiencekit.hash_identifier("email", "ann@example.com"), str)
    assert_type(audiencekit.upload("list.csv", audience="h1ab2").rows.sent, int)


async def call_async(client: AdsClient) -> None:
    """Each line is one use."""
    assert_type(await audiencekit.upload_async("list.csv", audience="h1ab2", country=None), Report)
    await client.call("list_campaigns", {"count": 3, "with_draft": True, "campaign_ids": ["8u94t", "8u95t"]})
    await client.call("get_campaign", {"campaign_id": "8u94t"})
    await client.call("create_custom_audience", {"name": "Spring"})
    assert_type([page.next_cursor async for page in client.pages("list_campaigns", {"count": 3})], list[str | None])
    assert_type([one async for one in client.items("list_custom_audiences", {"permission_scope": "SHARED"})], list[Any])
