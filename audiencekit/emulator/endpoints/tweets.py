"""Tweets, drafts, scheduled tweets and previews (specification part 2, section 4.9)."""

from __future__ import annotations

import html
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from audiencekit.emulator.answers import Answer, add_months, format_time, refuse_legacy, success
from audiencekit.emulator.authentication import long_id
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.accounts import SCREEN_NAME as PARTNER, Account
from audiencekit.emulator.endpoints.cards import choose_card
from audiencekit.emulator.endpoints.media import GIF, IMAGE, MEDIA, VIDEO, choose_media
from audiencekit.emulator.endpoints.users import FIRST_NAME, TWEET_COMPOSER, refuse_missing_permission
from audiencekit.emulator.paging import Listing, Page, read_list_query
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources import Record, Resource
from audiencekit.limits import MAX_TWEET_TEXT

# --- Hashtags, mentions and addresses in a text, with their places in characters (part 0, section 2.4) ---

_FOUND: Final = re.compile(r"(?P<url>https?://\S+)|(?<!\w)#(?P<hashtag>\w+)|(?<!\w)@(?P<mention>[A-Za-z0-9_]{1,15})")


@dataclass(frozen=True, slots=True)
class Entity:
    """One entity: `kind` is url, hashtag or mention; `word` is without its sign."""

    kind: str
    word: str
    start: int
    end: int


def find_entities(text: str) -> Iterator[Entity]:
    """Return the entities of a text, in order."""
    for found in _FOUND.finditer(text):
        kind = found.lastgroup or ""
        yield Entity(kind, found[kind], found.start(), found.end())


def show_address(entity: Entity) -> dict[str, Any]:
    """Return the three forms of an address; they are equal, since nothing is shortened here."""
    return {"url": entity.word, "expanded_url": entity.word, "display_url": entity.word.partition("://")[2]}


# --- Draft tweets, scheduled tweets and tweets: the kinds, and how the first two are shown ---

MAX_NAME: Final = 80  # characters; specification part 2, section 8
DRAFT, PUBLISHED, SCHEDULED = "DRAFT", "PUBLISHED", "SCHEDULED"
ORIGINAL: Final = "original_tweet_id"  # the field of a tweet that was posted again
TWEET_TYPES: Final = (DRAFT, PUBLISHED, SCHEDULED)


def show_draft(record: Record) -> dict[str, Any]:
    """Return a draft tweet. A deleted one is shown only by its deletion (public documentation)."""
    shown = record.document()
    deleted = {"status": "DELETED"} if shown.pop("deleted") else {}
    return {**shown, **deleted}


def show_scheduled(record: Record) -> dict[str, Any]:
    """Return a scheduled tweet, with its state."""
    shown = record.document()
    deleted = {"scheduled_status": "DELETED"} if shown.pop("deleted") else {}
    times = {name: _show_time(record.fields[name]) for name in ("scheduled_at", "completed_at")}
    return {**shown, **times, **deleted}


def _show_time(epoch: float | None) -> str | None:
    return None if epoch is None else format_time(epoch)


_PAGES: Final = Listing(takes_sort_by=False, takes_with_deleted=False, takes_with_total_count=False)
_SHORT_PAGES: Final = replace(_PAGES, default_count=100, max_count=200)

DRAFTS: Final = Resource(
    kind="draft_tweets", noun="Draft Tweet", id_name="draft_tweet_id", listing=_SHORT_PAGES, show=show_draft
)
SCHEDULED_TWEETS: Final = Resource(
    kind="scheduled_tweets",
    noun="Scheduled Tweet",
    id_name="scheduled_tweet_id",
    listing=_SHORT_PAGES,
    show=show_scheduled,
)
TWEETS: Final = Resource(kind="tweets", noun="Tweet", id_name="tweet_id", listing=_PAGES)


# --- Pages of drafts, scheduled tweets and tweets: of one user, oldest first ---


def read_page(
    call: Call, kind: Resource, parameters: Parameters, wanted: Callable[[Record], bool] = lambda record: True
) -> Page[Record]:
    """Return the wanted records of the named user, by default of the account's own user."""
    query = read_list_query(parameters, kind.listing)
    named = parameters.long("user_id")
    parameters.finish()
    user_id = call.store.origin.user_id if named is None else str(named)
    records = sorted(kind.all(call).values(), key=lambda record: record.created_at)
    return query.page(parameters, records, lambda record: record.fields["user_id"] == user_id and wanted(record))


# --- Publication of a tweet ---


def publish(account: Account, tweet_id: str, moment: float, content: dict[str, Any]) -> Record:
    """Return a new tweet, and mark its media as tweeted."""
    tweet = TWEETS.of(account)[tweet_id] = Record(tweet_id, moment, moment, content)
    for key in content["media_keys"]:
        MEDIA.of(account)[key].change({"tweeted": True}, moment)
    return tweet


# --- Tweets in the form of version 1.1, as the ads API shows them (public documentation) ---

MEDIA_TYPES: Final = {"IMAGE": "photo", "GIF": "animated_gif", "VIDEO": "video"}


def show_status(call: Call, record: Record, *, trim_user: bool, extended: bool = False) -> dict[str, Any]:
    """Return a tweet. `trim_user` leaves only the id of its author; `extended` gives the text under another name."""
    fields = record.fields
    media = [_show_media(call, key, fields) for key in fields["media_keys"]]
    return {
        "created_at": time.strftime("%a %b %d %H:%M:%S +0000 %Y", time.gmtime(record.created_at)),
        "id": int(record.id),
        "id_str": record.id,
        "full_text" if extended else "text": fields["text"],
        "truncated": False,
        "entities": _show_entities(fields["text"]),
        **({"extended_entities": {"media": media}} if media else {}),
        "user": _show_user(call, fields["user_id"], trim=trim_user),
        "card_uri": fields["card_uri"],
        "retweet_count": 0,
        "favorite_count": 0,
        "lang": "und",
        "name": fields["name"],
    }


def show_listed(call: Call, record: Record, tweet_type: str, *, trim_user: bool) -> dict[str, Any]:
    """Return a tweet, a draft or a scheduled tweet in a list, with additional fields."""
    scheduled_at = record.fields.get("scheduled_at")
    return {
        **show_status(call, record, trim_user=trim_user),
        "tweet_id": record.id,
        "tweet_type": tweet_type,
        "nullcast": record.fields["nullcast"],
        "scheduled_at": None if scheduled_at is None else format_time(scheduled_at),
        "conversation_settings": record.fields.get("conversation_settings", "EVERYONE"),
    }


def name_author(own_user_id: str, user_id: str) -> tuple[str, str]:
    """Return name and handle of the author: the one user, or the partner whose tweets may be promoted."""
    return ("Local user", FIRST_NAME) if user_id == own_user_id else ("Partner", PARTNER)


def _show_user(call: Call, user_id: str, *, trim: bool) -> dict[str, Any]:
    name, screen_name = name_author(call.store.origin.user_id, user_id)
    ids = {"id": int(user_id), "id_str": user_id}
    return ids if trim else {**ids, "name": name, "screen_name": screen_name}


def _show_media(call: Call, key: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    media = MEDIA.all(call)[key]
    shown = {
        "media_key": key,
        "type": MEDIA_TYPES[media.fields["media_type"]],
        "media_url_https": media.fields["media_url"],
    }
    more = _show_video(fields) if media.fields["media_type"] == VIDEO else {}
    return {**shown, **({"additional_media_info": more} if more else {})}


def _show_video(fields: Mapping[str, Any]) -> dict[str, Any]:
    texts = {name: fields.get(f"video_{name}") for name in ("title", "description")}
    action, address = fields.get("video_cta"), fields.get("video_cta_value")
    actions = {} if action is None else {"call_to_actions": {action.lower(): {"url": address}}}
    return {**{name: text for name, text in texts.items() if text is not None}, **actions}


def _show_entities(text: str) -> dict[str, list[dict[str, Any]]]:
    shown: dict[str, list[dict[str, Any]]] = {"hashtags": [], "urls": [], "user_mentions": []}
    for entity in find_entities(text):
        name, members = _show_entity(entity)
        shown[name].append({**members, "indices": [entity.start, entity.end]})
    return shown


def _show_entity(entity: Entity) -> tuple[str, dict[str, Any]]:
    if entity.kind == "hashtag":
        return "hashtags", {"text": entity.word}
    if entity.kind == "mention":
        return "user_mentions", {"screen_name": entity.word}
    return "urls", show_address(entity)


# --- Scheduled tweets (specification part 2, section 4.9) ---
#
# Listing and creating them are the public service's endpoints, without which there would be none to change. A tweet
# goes out at its minute by the emulator's clock, at most a year ahead, and is a tweet from then on.

_MINUTE: Final = 60
_WAITING, _OUT = "SCHEDULED", "SUCCESS"
_CONTENT: Final = ("text", "card_uri", "media_keys", "nullcast", "name", "user_id")


def list_scheduled(call: Call) -> Answer:
    """Answer `GET …/scheduled_tweets`."""
    publish_due(call.account, call.now)
    parameters = Parameters(call)
    page = read_page(call, SCHEDULED_TWEETS, parameters)
    return success(
        parameters.echo_without_account(), [show_scheduled(record) for record in page.records], **page.members()
    )


def create_scheduled(call: Call) -> Answer:
    """Answer `POST …/scheduled_tweets`."""
    parameters = Parameters(call)
    scheduled_at = _read_moment(call, parameters, parameters.required_time("scheduled_at"))
    content = read_new(call, parameters)
    parameters.finish()
    check_author(call, content)
    check_command(content)
    waiting = {"scheduled_at": scheduled_at, "scheduled_status": _WAITING, "completed_at": None, "tweet_id": None}
    record = SCHEDULED_TWEETS.make(call, {**content, **waiting}, call.store.make_long_id(call.now))
    return success(parameters.echo_without_account(), show_scheduled(record))


def show_scheduled_tweet(call: Call) -> Answer:
    """Answer `GET …/scheduled_tweets/:scheduled_tweet_id`."""
    parameters = Parameters(call)
    record = _find(call, parameters)
    return success(parameters.echo_without_account(), show_scheduled(record))


def change_scheduled(call: Call) -> Answer:
    """Answer `PUT …/scheduled_tweets/:scheduled_tweet_id`, before it is published."""
    parameters = Parameters(call)
    changes = read_changes(call, parameters)
    scheduled_at = parameters.time("scheduled_at")
    if scheduled_at is not None:
        changes["scheduled_at"] = _read_moment(call, parameters, scheduled_at)
    record = _find_waiting(call, parameters)
    check_content(parameters, {**record.fields, **changes})
    check_author(call, {**record.fields, **changes})
    check_command({**record.fields, **changes})
    record.change(changes, call.now)
    return success(parameters.echo_without_account(), show_scheduled(record))


def delete_scheduled(call: Call) -> Answer:
    """Answer `DELETE …/scheduled_tweets/:scheduled_tweet_id`, before it is published."""
    parameters = Parameters(call)
    record = _find_waiting(call, parameters)
    record.delete(call.now)
    return success(parameters.echo_without_account(), show_scheduled(record))


def publish_due(account: Account, now: float) -> None:
    """Publish the tweets that are due by `now`. Call it before scheduled tweets or tweets are read."""
    for record in SCHEDULED_TWEETS.of(account).values():
        is_due = record.fields["scheduled_at"] <= now and record.fields["scheduled_status"] == _WAITING
        if is_due and not record.deleted:
            _publish(account, record)


def _publish(account: Account, record: Record) -> None:
    moment = record.fields["scheduled_at"]
    # Made of facts that are there already, so that the id is the same whenever a client first asks.
    tweet_id = long_id(moment, int(record.id))
    content = {name: record.fields[name] for name in _CONTENT}
    publish(account, tweet_id, moment, {**content, "conversation_settings": "EVERYONE"})
    record.change({"scheduled_status": _OUT, "completed_at": moment, "tweet_id": tweet_id}, moment)


def _find(call: Call, parameters: Parameters) -> Record:
    tweet_id = parameters.path_long("scheduled_tweet_id")
    parameters.finish()
    publish_due(call.account, call.now)
    return SCHEDULED_TWEETS.find(call, str(tweet_id))


def _find_waiting(call: Call, parameters: Parameters) -> Record:
    record = _find(call, parameters)
    if record.fields["scheduled_status"] != _WAITING:
        raise call.refuse(403, "ACTION_NOT_ALLOWED", "The tweet was published already", "scheduled_tweet_id")
    return record


def _read_moment(call: Call, parameters: Parameters, moment: int) -> int:
    minute = moment - moment % _MINUTE
    if not call.now < minute <= add_months(call.now, 12):
        raise parameters.fault("scheduled_at", "Expected a time in the coming year for scheduled_at")
    return minute


# --- The content of drafts, scheduled tweets and tweets (specification part 2, section 4.9) ---
#
# A text may be as long as that of a long post (part 0, section 8). The specification does not say which rules a changed
# draft or scheduled tweet must keep; here it keeps those of a new one.

# `d someone words`, also with dm and m: the earlier commands of the public service.
_MESSAGE: Final = re.compile(r"\s*(?:d|dm|m)\s+@?[A-Za-z0-9_]{1,15}\s+\S", re.IGNORECASE)
_MAX_OF_TYPE: Final = {IMAGE: 4, GIF: 1, VIDEO: 1}

Content = dict[str, Any]


def read_new(call: Call, parameters: Parameters) -> Content:
    """Return the content of a new tweet, and its user. Raises RefusalError for any other user."""
    user_id = str(parameters.required_long("as_user_id"))
    if user_id != call.store.origin.user_id:
        raise parameters.fault("as_user_id", "The user is no FULL promotable user of the account", "INVALID_USER_ID")
    unsaid: Content = {"text": "", "card_uri": None, "media_keys": [], "nullcast": True, "name": None}
    content = {**unsaid, **_read(call, parameters, empty=False), "user_id": user_id}
    check_content(parameters, content)
    return content


def check_command(content: Mapping[str, Any]) -> None:
    """Refuse (403) a text that is a command for a direct message and cannot be tweeted (part 0, section 7)."""
    if _MESSAGE.match(content["text"]):
        raise refuse_legacy(403, 151, "Direct messages cannot be sent through a status update.")


def check_author(call: Call, content: Mapping[str, Any]) -> None:
    """Refuse (403) a tweet for a user by another who may not compose it, or that is not promoted-only.

    Organic tweets are for the authenticated user.
    """
    if call.user_id == content["user_id"]:
        return
    if not content["nullcast"]:
        raise call.refuse(403, "ACTION_NOT_ALLOWED", "Organic tweets are for their own user", "nullcast")
    if TWEET_COMPOSER not in call.store.users.of(call.user_id).permissions:
        raise refuse_missing_permission(TWEET_COMPOSER, call.ids)


def read_changes(call: Call, parameters: Parameters) -> Content:
    """Return the changes to the content; an empty field removes the old one."""
    return _read(call, parameters, empty=True)


def check_content(parameters: Parameters, content: Mapping[str, Any]) -> None:
    """Refuse an empty tweet (400): without media there must be a text."""
    if content["media_keys"] or content["text"].strip():
        return
    if content["text"]:
        raise parameters.fault("text", "The text is blank", "TWEET_CANNOT_BE_BLANK")
    raise parameters.fault("text", '"text" is a required parameter', "MISSING_PARAMETER")


def read_name(parameters: Parameters, *, empty: bool) -> str | None:
    """Return a name of up to 80 characters."""
    return parameters.text("name", longest=MAX_NAME, empty=empty)


def _read(call: Call, parameters: Parameters, *, empty: bool) -> Content:
    content: Content = {}
    text, name = parameters.text("text", longest=MAX_TWEET_TEXT, empty=empty), read_name(parameters, empty=empty)
    card_uri, media_keys = parameters.text("card_uri", empty=empty), _read_media(call, parameters, empty=empty)
    if text is not None:
        content["text"] = text
    if name is not None:
        content["name"] = name or None
    if card_uri is not None:
        content["card_uri"] = choose_card(call, card_uri)["card_uri"] if card_uri else None
    if media_keys is not None:
        content["media_keys"] = media_keys
    if parameters.given("nullcast") is not None:
        content["nullcast"] = parameters.boolean("nullcast")
    return content


def _read_media(call: Call, parameters: Parameters, *, empty: bool) -> list[str] | None:
    if empty and parameters.given("media_keys") == "":
        parameters.text("media_keys", empty=True)
        return []
    media_keys = parameters.words("media_keys")
    if media_keys is None:
        return None
    chosen = [choose_media(call, key, "media_keys", tuple(_MAX_OF_TYPE)) for key in media_keys]
    counts = Counter(media.fields["media_type"] for media in chosen)
    if len(counts) > 1 or any(count > _MAX_OF_TYPE[media_type] for media_type, count in counts.items()):
        message = "Expected up to 4 images, or 1 GIF, or 1 video for media_keys"
        raise parameters.fault("media_keys", message, "INVALID_MEDIA")
    return media_keys


# --- Draft tweets (specification part 2, section 4.9). The echo leaves out the account (public documentation) ---


def list_drafts(call: Call) -> Answer:
    """Answer `GET …/draft_tweets`."""
    parameters = Parameters(call)
    page = read_page(call, DRAFTS, parameters)
    return success(parameters.echo_without_account(), [show_draft(record) for record in page.records], **page.members())


def create_draft(call: Call) -> Answer:
    """Answer `POST …/draft_tweets`."""
    parameters = Parameters(call)
    content = read_new(call, parameters)
    parameters.finish()
    draft = DRAFTS.make(call, content, call.store.make_long_id(call.now))
    return success(parameters.echo_without_account(), show_draft(draft))


def show_draft_tweet(call: Call) -> Answer:
    """Answer `GET …/draft_tweets/:draft_tweet_id`."""
    parameters = Parameters(call)
    draft = _find_draft(call, parameters)
    return success(parameters.echo_without_account(), show_draft(draft))


def change_draft(call: Call) -> Answer:
    """Answer `PUT …/draft_tweets/:draft_tweet_id`."""
    parameters = Parameters(call)
    changes = read_changes(call, parameters)
    draft = _find_draft(call, parameters)
    check_content(parameters, {**draft.fields, **changes})
    draft.change(changes, call.now)
    return success(parameters.echo_without_account(), show_draft(draft))


def delete_draft(call: Call) -> Answer:
    """Answer `DELETE …/draft_tweets/:draft_tweet_id`."""
    parameters = Parameters(call)
    draft = _find_draft(call, parameters)
    draft.delete(call.now)
    return success(parameters.echo_without_account(), show_draft(draft))


def preview_draft(call: Call) -> Answer:
    """Answer `POST …/draft_tweets/preview/:draft_tweet_id`: where the user would see it. No device is notified here."""
    parameters = Parameters(call)
    _find_draft(call, parameters)
    message = (
        f"See @{call.store.users.of(call.user_id).screen_name}'s notifications in the X app to preview your Tweet."
    )
    return Answer(200, orjson.dumps({"request": {"params": parameters.echo_without_account()}, "message": message}))


def _find_draft(call: Call, parameters: Parameters) -> Record:
    draft_id = parameters.path_long("draft_tweet_id")
    parameters.finish()
    return DRAFTS.find(call, str(draft_id))


# --- Tweets: listed, made, named, and shown in frames (specification part 2, section 4.9) ---
#
# The values of `tweet_type` in the list are those that previews name. Video fields are shown with a video.

_SETTINGS: Final = ("EVERYONE", "FOLLOWING", "MENTIONED_USERS")
_MAX_TITLE, _MAX_DESCRIPTION = 70, 200  # characters; specification part 2, section 8
_KINDS: Final = {DRAFT: DRAFTS, PUBLISHED: TWEETS, "SCHEDULED": SCHEDULED_TWEETS}


def list_tweets(call: Call) -> Answer:
    """Answer `GET …/tweets`: of one type; promoted-only ones unless `timeline_type` says otherwise."""
    publish_due(call.account, call.now)
    parameters = Parameters(call)
    tweet_type = parameters.required_choice("tweet_type", TWEET_TYPES)
    timeline = parameters.choice("timeline_type", ("ALL", "NULLCAST", "ORGANIC"), "NULLCAST")
    prefix = (parameters.text("name", longest=MAX_NAME) or "").casefold()
    with_replies = parameters.boolean("include_mentions_and_replies")
    trim_user = parameters.boolean("trim_user")
    tweet_ids = parameters.longs("tweet_ids")

    def wanted(record: Record) -> bool:
        fields = record.fields
        return (
            (timeline == "ALL" or fields["nullcast"] is (timeline == "NULLCAST"))
            and (not prefix or (fields["name"] or "").casefold().startswith(prefix))
            and (with_replies or not fields["text"].startswith("@"))
            and (tweet_ids is None or int(record.id) in tweet_ids)
            and fields.get("scheduled_status", "SCHEDULED") == "SCHEDULED"
        )

    page = read_page(call, _KINDS[tweet_type], parameters, wanted)
    shown = [show_listed(call, record, tweet_type, trim_user=trim_user) for record in page.records]
    return success(parameters.echo, shown, **page.members())


def create_tweet(call: Call) -> Answer:
    """Answer `POST …/tweet`."""
    parameters = Parameters(call)
    content = read_new(call, parameters)
    content["conversation_settings"] = parameters.choice("conversation_settings", _SETTINGS, "EVERYONE")
    content.update(_read_video(parameters))
    trim_user = parameters.boolean("trim_user")
    extended = parameters.choice("tweet_mode", ("compat", "extended"), "compat") == "extended"
    parameters.finish()
    check_author(call, content)
    check_command(content)
    tweet = publish(call.account, call.store.make_long_id(call.now), call.now, content)
    return success(parameters.echo, show_status(call, tweet, trim_user=trim_user, extended=extended))


def rename_tweet(call: Call) -> Answer:
    """Answer `PUT …/tweets/:tweet_id/name`: an empty name is removed."""
    publish_due(call.account, call.now)
    parameters = Parameters(call)
    tweet_id, name = parameters.path_long("tweet_id"), read_name(parameters, empty=True)
    parameters.finish()
    tweet = TWEETS.find(call, str(tweet_id))
    if name is not None:
        tweet.change({"name": name or None}, call.now)
    return success(parameters.echo, {"tweet_id": tweet.id, "name": tweet.fields["name"]})


def list_previews(call: Call) -> Answer:
    """Answer `GET …/tweet_previews`: a frame for each tweet, in the requested order.

    Raises RefusalError (404) for a tweet that is missing, or of another type.
    """
    publish_due(call.account, call.now)
    parameters = Parameters(call)
    tweet_ids = parameters.required_longs("tweet_ids")
    kind = _KINDS[parameters.required_choice("tweet_type", TWEET_TYPES)]
    parameters.finish()
    shown = []
    for tweet_id in map(str, tweet_ids):
        record = kind.all(call).get(tweet_id)
        if record is None or record.deleted:
            message = f"{kind.noun} {tweet_id} was not found for Account {call.account.id}"
            raise call.refuse(404, "NOT_FOUND", message, "tweet_ids")
        shown.append({"tweet_id": tweet_id, "preview": _frame(record.fields["text"])})
    return success(parameters.echo, shown)


def _read_video(parameters: Parameters) -> dict[str, Any]:
    return {
        "video_cta": parameters.choice("video_cta", ("VISIT_SITE", "WATCH_NOW"), "") or None,
        "video_cta_value": parameters.text("video_cta_value"),
        "video_description": parameters.text("video_description", longest=_MAX_DESCRIPTION),
        "video_title": parameters.text("video_title", longest=_MAX_TITLE),
    }


def _frame(text: str) -> str:
    page = html.escape(f"<!doctype html><p>{html.escape(text)}</p>", quote=True)
    return f"<iframe class='tweet-preview' sandbox srcdoc='{page}'></iframe>"
