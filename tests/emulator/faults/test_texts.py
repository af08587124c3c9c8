"""Texts that act, over the wire."""

from __future__ import annotations

from typing import Any

import pytest

from audiencekit.emulator.faults.texts import FORGED, HOSTILE

NO_TOKEN = {"resource_owner_key": None, "resource_owner_secret": None}


async def test_every_shown_text_of_a_list_acts(bench: Any) -> None:
    """Ids stay, since a client needs them for its next call; reasons are there where there were none."""
    await bench.order(37)
    page = (await bench.caller.call("GET", bench.caller.audiences)).body
    (audience,) = page["data"]
    assert audience["id"] == bench.emulator.audience_id
    assert audience["name"].endswith(HOSTILE.replace("\x7f", "\x7f\ud83d"))
    assert FORGED in audience["reasons_not_targetable"][-1]


async def test_with_all_texts_also_ids_act(bench: Any) -> None:
    """Of refusals, too; numbers stay what they are."""
    await bench.order(37, kind="all")
    page = (await bench.caller.call("GET", bench.caller.audiences)).body
    assert FORGED in page["data"][0]["id"]
    refused = await bench.caller.call("GET", f"{bench.caller.audiences}/none")
    assert refused.status == 404
    assert all(FORGED in text for text in refused.body["errors"][0].values())
    assert (await bench.upload()).body["data"] == {"success_count": 3, "total_count": 3}


@pytest.mark.parametrize(("kind", "acts"), [("shown", False), ("all", True)])
async def test_answers_of_pairs_act_likewise(bench: Any, kind: str, acts: bool) -> None:
    """The token of a person who logs in."""
    await bench.order(37, kind=kind)
    base, path = bench.emulator.base_url, "/oauth/request_token"
    signed = bench.caller.sign("POST", base + path, callback_uri="oob", **NO_TOKEN)
    reply = await bench.caller.send("POST", path, base=base, headers=signed)
    assert (FORGED.replace(" ", "+").replace(":", "%3A") in reply.content.decode()) is acts


async def test_a_refusal_quotes_all_that_was_sent(bench: Any) -> None:
    """The header with the signature, and the body; what was sent is applied."""
    await bench.order(37, kind="echo")
    reply = await bench.upload()
    assert reply.status == 400
    for text in reply.body["errors"][0].values():
        assert "oauth_signature=" in text
        assert "a1" * 32 in text
    assert len(await bench.log()) == 2
