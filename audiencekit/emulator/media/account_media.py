"""Account media: what media creatives are made of (specification part 2, section 4.7)."""

from __future__ import annotations

from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer
from audiencekit.emulator.media.kinds import ACCOUNT_MEDIA
from audiencekit.emulator.parameters import Parameters
from audiencekit.servicewords import CREATIVE_TYPES


def list_account_media(call: Call) -> Answer:
    """Answer `GET …/account_media`: of some creative types, if any are named."""
    parameters = Parameters(call)
    types = parameters.words("creative_types", choices=CREATIVE_TYPES)
    return ACCOUNT_MEDIA.list_wanted(
        call, parameters, lambda record: types is None or record.fields["creative_type"] in types
    )
