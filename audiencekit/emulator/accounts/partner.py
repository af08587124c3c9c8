"""The partner whose tweets an account may promote: their profile, and tweets that have every field of the data API
(specification part 0, sections 2.3 to 2.6). All of it is invented."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from audiencekit.emulator.accounts.records import Account
from audiencekit.emulator.credentials import long_id
from audiencekit.emulator.resources.records import Record

SCREEN_NAME: Final = "local_partner"
KNOWN: Final = "known"  # the field of a tweet with what the data API shows of it beyond its text
_AGE_SECONDS: Final = 3_600  # of the tweets when the account is made
_SITE: Final = "https://harbour.example/"
PROFILE: Final[dict[str, Any]] = {
    "description": "News of the #harbour, with @local_user",
    "location": "Hamburg",
    "url": _SITE,
    "verified": True,
    "verified_type": "business",
    "public_metrics": {"followers_count": 1_250, "following_count": 12, "tweet_count": 4, "listed_count": 3},
}
# Facts of the address in a tweet besides its text.
_PAGE: Final = {
    "unwound_url": _SITE + "hours",
    "status": 200,
    "title": "Opening hours",
    "description": "When the harbour is open",
    "images": [{"url": "https://media.example/harbour.jpg", "width": 1_200, "height": 628}],
}
_TOPIC: Final = {
    "domain": {"id": "131", "name": "Place", "description": "Places of the world"},
    "entity": {"id": "1001", "name": "Harbour", "description": "Where ships are"},
}


def make_tweets(account: Account, user_id: str) -> dict[str, Record]:
    """Return two plain tweets, an answer to the first with a link, and a quote of the second with media."""
    made, serial = account.created_at - _AGE_SECONDS, int(account.id, 36)
    ids = [long_id(made, serial + place) for place in range(4)]
    contents = _contents(account, user_id, ids)
    return {each: Record(each, made, made, content) for each, content in zip(ids, contents, strict=True)}


def _contents(account: Account, user_id: str, ids: list[str]) -> Iterator[dict[str, Any]]:
    video = next(key for key in account.records["media_library"] if key.startswith("13_"))
    yield _tweet(user_id, "Spring has come to the harbour", lang="en")
    yield _tweet(user_id, "The harbour is open on Sundays", lang="en")
    answer = f"@{SCREEN_NAME} Harbour hours, thanks to @local_user: {_SITE}h #spring"
    yield _tweet(
        user_id,
        answer,
        lang="en",
        in_reply_to_user_id=user_id,
        referenced_tweets=[{"type": "replied_to", "id": ids[0]}],
        context_annotations=[_TOPIC],
        annotations=[_annotation(answer, "Harbour")],
        pages={f"{_SITE}h": _PAGE},
    )
    quote = {"lang": "en", "possibly_sensitive": True, "referenced_tweets": [{"type": "quoted", "id": ids[1]}]}
    yield _tweet(user_id, "Every Sunday, and see how it looks", **quote) | {"media_keys": [video]}


def _tweet(user_id: str, text: str, **known: Any) -> dict[str, Any]:
    return {
        "text": text,
        "user_id": user_id,
        "card_uri": None,
        "media_keys": [],
        "nullcast": False,
        "name": None,
        "conversation_settings": "EVERYONE",
        KNOWN: known,
    }


def _annotation(text: str, word: str) -> dict[str, Any]:
    start = text.index(word)
    return {
        "start": start,
        "end": start + len(word),
        "probability": 0.93,
        "type": "Place",
        "normalized_text": word,
    }
