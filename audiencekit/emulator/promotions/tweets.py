"""Promoted tweets (specification part 1, sections 4.8 and 4.9).

A partner's tweet is posted again, by the account's own user and for promotion only, and that one is promoted. The
specification does not say what becomes of a tweet that the line item promotes already; here it is answered with the
record that there is, as with accounts.
"""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.accounts.partner import KNOWN
from audiencekit.emulator.calls import Call
from audiencekit.emulator.campaigns.kinds import LINE_ITEMS
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.promotions.kinds import PROMOTED_TWEETS
from audiencekit.emulator.promotions.line_items import FOR_ACCOUNTS, FOR_TWEETS, find_line_item
from audiencekit.emulator.reference.placements import TIMELINE
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.tweets.kinds import ORIGINAL, TWEETS
from audiencekit.emulator.tweets.publication import publish
from audiencekit.emulator.tweets.scheduled import publish_due

MAX_TWEETS: Final = 50  # of one request; specification part 1, section 8


def list_promoted_tweets(call: Call) -> Answer:
    """`GET …/promoted_tweets`: those below a deleted line item only with `with_deleted`, although they are not."""
    parameters = Parameters(call)
    with_deleted = parameters.given("with_deleted") == "true"
    items = LINE_ITEMS.all(call)
    return PROMOTED_TWEETS.list_wanted(
        call, parameters, lambda promoted: with_deleted or not items[promoted.fields["line_item_id"]].deleted
    )


def create_promoted_tweets(call: Call) -> Answer:
    """Answer `POST …/promoted_tweets`: a list of records, one for each tweet, and how many."""
    parameters = Parameters(call)
    line_item_id = parameters.required_text("line_item_id")
    tweet_ids = parameters.required_longs("tweet_ids", most=MAX_TWEETS)
    parameters.finish()
    item = find_line_item(call, line_item_id, FOR_TWEETS)
    publish_due(call.account, call.now)
    tweets = [_find_tweet(call, str(tweet_id)) for tweet_id in dict.fromkeys(tweet_ids)]
    promoted = [_promote(call, line_item_id, tweet) for tweet in tweets]
    if item.fields["product_type"] in FOR_ACCOUNTS:
        _add_timeline(call, item)
    return success(parameters.echo, [record.document() for record in promoted], total_count=len(promoted))


def _find_tweet(call: Call, tweet_id: str) -> Record:
    tweet = TWEETS.all(call).get(tweet_id)
    if tweet is None:
        message = f"Tweet {tweet_id} was not found for Account {call.account.id}"
        raise call.refuse(404, "NOT_FOUND", message, "tweet_ids")
    return tweet


def _promote(call: Call, line_item_id: str, tweet: Record) -> Record:
    for promoted in PROMOTED_TWEETS.all(call).values():
        shown = TWEETS.all(call)[promoted.fields["tweet_id"]]
        is_same = tweet.id in (shown.id, shown.fields.get(ORIGINAL))
        if is_same and promoted.fields["line_item_id"] == line_item_id and not promoted.deleted:
            return promoted
    own = tweet if tweet.fields["user_id"] == call.store.origin.user_id else _post_again(call, tweet)
    fields = {
        "line_item_id": line_item_id,
        "tweet_id": own.id,
        "entity_status": "ACTIVE",
        "approval_status": "ACCEPTED",
    }
    return PROMOTED_TWEETS.make(call, fields)


def _post_again(call: Call, tweet: Record) -> Record:
    content = {**tweet.fields, KNOWN: {}, "user_id": call.store.origin.user_id, "nullcast": True, ORIGINAL: tweet.id}
    return publish(call.account, call.store.make_long_id(call.now), call.now, content)


def _add_timeline(call: Call, item: Record) -> None:
    """A tweet in a line item for an account is shown in timelines on mobile devices, too."""
    placements = item.fields["placements"]
    if TIMELINE not in placements:
        item.change({"placements": [*placements, TIMELINE]}, call.now, call.user_id)
