"""Calls of clients of the public service that the profile `x` takes, and the profile `spec` does not."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from oauthlib.oauth1 import Client  # type: ignore[import-untyped]

from tests.cases import each_case
from tests.emulator.conftest import Caller, Opener, Reply
from tests.emulator.endpoints.media_builder import media_keys

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


async def _post_form(caller: Caller, path: str, form: dict[str, str]) -> Reply:
    env, body = caller.emulator.env, urlencode(form)
    signer = Client(
        env["AUDIENCEKIT_CONSUMER_KEY"],
        client_secret=env["AUDIENCEKIT_CONSUMER_SECRET"],
        resource_owner_key=env["AUDIENCEKIT_ACCESS_TOKEN"],
        resource_owner_secret=env["AUDIENCEKIT_ACCESS_TOKEN_SECRET"],
        timestamp=str(int(caller.emulator.clock.now())),
    )
    signed = signer.sign(caller.emulator.ads_url + path, "POST", body=body, headers=FORM)[1]
    return await caller.send("POST", path, data=body.encode(), headers=signed)


async def _make_campaign(caller: Caller) -> dict[str, Any]:
    funding = (await caller.call("GET", caller.account + "/funding_instruments")).body["data"][0]["id"]
    query = {"funding_instrument_id": funding, "name": "Spring", "daily_budget_amount_local_micro": "1000000"}
    made: dict[str, Any] = (await caller.call("POST", caller.account + "/campaigns", query=query)).body["data"]
    return made


@each_case("profile, status", [("x", 200), ("spec", 400)])
async def test_parameters_of_writes_in_a_form(open_emulator: Opener, profile: str, status: int) -> None:
    """They are covered by the signature; without the profile the name is missing."""
    async with open_emulator(profile=profile) as caller:
        reply = await _post_form(caller, caller.audiences, {"name": "a+b & 100%"})
        assert reply.status == status
        assert profile == "spec" or reply.body["data"]["name"] == "a+b & 100%"


async def test_a_form_is_no_document(open_emulator: Opener) -> None:
    """Where JSON is taken, a form is of the wrong type."""
    async with open_emulator(profile="x") as caller:
        assert (await _post_form(caller, caller.users, {"name": "people"})).status == 415


@each_case("profile, status", [("x", 200), ("spec", 400)])
@each_case("text", ["True", "False"])
async def test_booleans_of_python(open_emulator: Opener, profile: str, status: int, text: str) -> None:
    """`True` and `False`; other words never are."""
    async with open_emulator(profile=profile) as caller:
        reply = await caller.call("GET", caller.account + "/campaigns", query={"with_total_count": text})
        assert reply.status == status
        reply = await caller.call("GET", caller.account + "/campaigns", query={"with_total_count": "TRUE"})
        assert reply.status == 400


async def test_a_record_that_is_sent_back(open_emulator: Opener) -> None:
    """With its lists, its null values and all that is only shown, as the update of a batch."""
    async with open_emulator(profile="x") as caller:
        record = await _make_campaign(caller)
        params = {**record, "campaign_id": record["id"], "name": "Summer", "frequency": {"cap": 1}, "empty": []}
        batch = [{"operation_type": "Update", "params": params}]
        path = caller.account.replace("/accounts", "/batch/accounts") + "/campaigns"
        reply = await caller.upload(batch, path=path)
        assert reply.status == 200, reply.body
        assert reply.body["data"][0]["name"] == "Summer"


@each_case("profile, count", [("x", 1), ("spec", 0)])
async def test_a_first_funding_instrument(open_emulator: Opener, profile: str, count: int) -> None:
    """Examples of clients take the first that there is."""
    async with open_emulator(profile=profile) as caller:
        assert len((await caller.call("GET", caller.account + "/funding_instruments")).body["data"]) == count


@each_case("profile, status", [("x", 200), ("spec", 400)])
async def test_a_card_comes_back_with_what_is_known_of_its_media(
    open_emulator: Opener, profile: str, status: int
) -> None:
    """Clients send components as they came, `media_metadata` among them."""
    async with open_emulator(profile=profile) as caller:
        key = (await media_keys(caller, "VIDEO"))[0]
        destination = {"type": "WEBSITE", "url": "https://example.com/"}
        media = {"type": "MEDIA", "media_key": key, "media_metadata": {key: {"type": "VIDEO", "width": 640}}}
        components = [media, {"type": "DETAILS", "title": "Sea", "destination": destination}]
        body = json.dumps({"name": "By the sea", "components": components}).encode()
        headers = {"Content-Type": "application/json"}
        reply = await caller.call("POST", caller.account + "/cards", data=body, headers=headers)
        assert reply.status == status
