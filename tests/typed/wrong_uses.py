"""Thirty wrong uses of the package: a checker of types finds each. It is read by mypy, and never run."""

from __future__ import annotations

from datetime import date

import audiencekit
from audiencekit import AdsClient


def call() -> None:
    """Each line is one wrong use."""
    audiencekit.uplod("list.csv", audience="h1ab2")
    audiencekit.upload("list.csv")
    audiencekit.upload("list.csv", audience_id="h1ab2")
    audiencekit.upload("list.csv", "h1ab2")
    audiencekit.upload("list.csv", audience=12)
    audiencekit.upload("list.csv", audience="h1ab2", map={"email": "Mail"})
    audiencekit.upload("list.csv", audience="h1ab2", no_header=True)
    audiencekit.upload("list.csv", audience="h1ab2", contry="DE")
    audiencekit.upload("list.csv", audience="h1ab2", operation="remove")
    audiencekit.upload("list.csv", audience="h1ab2", ttl_days="30")
    audiencekit.upload("list.csv", audience="h1ab2", expires_at=1_800_000_000)
    audiencekit.upload("list.csv", audience="h1ab2", few_people="never")
    audiencekit.upload("list.csv", audience="h1ab2", max_rejected_share="50 %")
    assert audiencekit.upload("list.csv", audience="h1ab2").rejectd
    audiencekit.check({"email": ["ann@example.com"]})
    audiencekit.check("list.csv", columns="email=Mail")
    audiencekit.check("list.csv", shared_values="all")
    audiencekit.check("list.csv", phone_validity="any")
    audiencekit.check("list.csv", header="no")
    audiencekit.prepare("list.csv")
    audiencekit.sync("list.csv", audience="h1ab2", operation="delete")
    audiencekit.sync("list.csv", audience="h1ab2", effective_at=date(2027, 1, 1))
    audiencekit.forget(["ann@example.com"], suppress="list.csv")
    audiencekit.renew("h1ab2")
    audiencekit.hash_identifier("email", None)


async def call_async(client: AdsClient) -> None:
    """Each line is one wrong use."""
    audiencekit.upload("list.csv", audience="h1ab2").add_done_callback(print)
    await client.call("get_campain", {"campaign_id": "8u94t"})
    await client.call("list_campaigns", {"coutn": 3})
    await client.call("get_campaign")
    client.pages("get_campaign", {"campaign_id": "8u94t"})
