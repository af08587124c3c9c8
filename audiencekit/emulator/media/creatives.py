"""Media creatives: account media with a line item (specification part 1, section 4.7)."""

from __future__ import annotations

from audiencekit.emulator.calls import Call
from audiencekit.emulator.campaigns.kinds import LINE_ITEMS
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.media.kinds import ACCOUNT_MEDIA, MEDIA_CREATIVES
from audiencekit.emulator.media.records import PREROLL_TYPES
from audiencekit.emulator.parameters import Parameters


def list_creatives(call: Call) -> Answer:
    """Answer `GET …/media_creatives`: those of one campaign with `campaign_id`."""
    parameters = Parameters(call)
    campaign_id = parameters.text("campaign_id")
    line_items = LINE_ITEMS.all(call)

    def wanted(creative_line_item: str) -> bool:
        return campaign_id is None or line_items[creative_line_item].fields["campaign_id"] == campaign_id

    return MEDIA_CREATIVES.list_wanted(call, parameters, lambda record: wanted(record.fields["line_item_id"]))


def create_creative(call: Call) -> Answer:
    """Answer `POST …/media_creatives`. A preroll has its address elsewhere: `landing_url` is not kept for it."""
    parameters = Parameters(call)
    account_media_id = parameters.required_text("account_media_id")
    line_item_id = parameters.required_text("line_item_id")
    landing_url = parameters.web_address("landing_url")
    parameters.finish()
    asset, line_item = ACCOUNT_MEDIA.find(call, account_media_id), LINE_ITEMS.find(call, line_item_id)
    is_preroll = asset.fields["creative_type"] in PREROLL_TYPES
    if landing_url is None and not is_preroll and line_item.fields["objective"] == "WEBSITE_CLICKS":
        raise parameters.fault("landing_url", '"landing_url" is a required parameter', "MISSING_PARAMETER")
    fields = {
        "account_media_id": asset.id,
        "line_item_id": line_item.id,
        "landing_url": None if is_preroll else landing_url,
        "creative_type": asset.fields["creative_type"],
        "entity_status": "ACTIVE",
        "approval_status": "ACCEPTED",
    }
    return success(parameters.echo, MEDIA_CREATIVES.make(call, fields).document())
