"""Tweets: listed, made, named, and shown in frames (specification part 2, section 4.9).

The values of `tweet_type` in the list are those that previews name. Video fields are shown with a video.
"""

from __future__ import annotations

import html
from typing import Any, Final

from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.tweets.content import check_author, check_command, read_name, read_new
from audiencekit.emulator.tweets.kinds import DRAFT, DRAFTS, MAX_NAME, PUBLISHED, SCHEDULED_TWEETS, TWEET_TYPES, TWEETS
from audiencekit.emulator.tweets.listing import read_page
from audiencekit.emulator.tweets.publication import publish
from audiencekit.emulator.tweets.scheduled import publish_due
from audiencekit.emulator.tweets.statuses import show_listed, show_status

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
    """Answer `PUT …/tweets/:tweet_id/name`: the name goes when it is empty."""
    publish_due(call.account, call.now)
    parameters = Parameters(call)
    tweet_id, name = parameters.path_long("tweet_id"), read_name(parameters, empty=True)
    parameters.finish()
    tweet = TWEETS.find(call, str(tweet_id))
    if name is not None:
        tweet.change({"name": name or None}, call.now)
    return success(parameters.echo, {"tweet_id": tweet.id, "name": tweet.fields["name"]})


def list_previews(call: Call) -> Answer:
    """`GET …/tweet_previews`: a frame for each tweet, in the order asked for. Raises RefusalError (404) for a tweet
    that is not there, or of another type."""
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
