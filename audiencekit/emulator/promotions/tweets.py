"""Promoted tweets (specification part 1, section 4.8).

The specification does not say what becomes of a tweet that the line item promotes already; here it is answered with the
record that there is, as with accounts.
"""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.calls import Call
from audiencekit.emulator.campaigns.kinds import LINE_ITEMS
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.reference.placements import EVERYWHERE, TIMELINE
from audiencekit.emulator.resources.records import Record

from .kinds import PROMOTED_TWEETS
from .line_items import FOR_ACCOUNTS, FOR_TWEETS, find_line_item

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
    """`POST …/promoted_tweets`: a list of records, one for each tweet, and how many."""
    parameters = Parameters(call)
    line_item_id = parameters.required_text("line_item_id")
    tweet_ids = parameters.required_longs("tweet_ids", most=MAX_TWEETS)
    parameters.finish()
    item = find_line_item(call, line_item_id, FOR_TWEETS)
    promoted = [_promote(call, line_item_id, tweet_id) for tweet_id in dict.fromkeys(tweet_ids)]
    if item.fields["product_type"] in FOR_ACCOUNTS:
        _add_timeline(call, item)
    return success(parameters.echo, [record.document() for record in promoted], total_count=len(promoted))


def _promote(call: Call, line_item_id: str, tweet_id: int) -> Record:
    wanted = (line_item_id, str(tweet_id))
    for promoted in PROMOTED_TWEETS.all(call).values():
        if (promoted.fields["line_item_id"], promoted.fields["tweet_id"]) == wanted and not promoted.deleted:
            return promoted
    fields = {
        "line_item_id": line_item_id,
        "tweet_id": str(tweet_id),
        "entity_status": "ACTIVE",
        "approval_status": "ACCEPTED",
    }
    return PROMOTED_TWEETS.make(call, fields)


def _add_timeline(call: Call, item: Record) -> None:
    """A tweet in a line item for an account is shown in timelines on mobile devices, too."""
    placements = item.fields["placements"]
    if not {EVERYWHERE, TIMELINE}.intersection(placements):
        item.change({"placements": [*placements, TIMELINE]}, call.now)
