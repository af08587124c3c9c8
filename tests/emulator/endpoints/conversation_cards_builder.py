"""Conversation cards, made over the wire for the tests that need some."""

from __future__ import annotations

from typing import Any

from tests.emulator.endpoints.media_builder import media_keys

TEXTS = {
    "name": "Which one",
    "first_cta": "#mountains",
    "first_cta_tweet": "Up there",
    "thank_you_text": "Thank you",
    "title": "Where to",
}


async def make_image_card(caller: Any, **more: str) -> Any:
    """An image card, with another text or more where told so; an empty one is left out."""
    query = {**TEXTS, "media_key": (await media_keys(caller, "IMAGE"))[0], **more}
    query = {name: text for name, text in query.items() if text}
    return await caller.call("POST", caller.account + "/cards/image_conversation", query=query)


async def make_video_card(caller: Any, **more: str) -> Any:
    """A video card, in the same way."""
    query = {**TEXTS, "media_key": (await media_keys(caller, "VIDEO"))[0], **more}
    query = {name: text for name, text in query.items() if text}
    return await caller.call("POST", caller.account + "/cards/video_conversation", query=query)
