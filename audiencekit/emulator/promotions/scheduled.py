"""Scheduled promoted tweets (specification part 1, section 4.8): promoted from the moment that they go out.

The same scheduled tweet again is answered with the record that there is, as with tweets.
"""

from __future__ import annotations

from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.promotions.kinds import SCHEDULED_PROMOTED_TWEETS
from audiencekit.emulator.promotions.line_items import FOR_TWEETS, find_line_item
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.tweets.kinds import SCHEDULED_TWEETS
from audiencekit.emulator.tweets.scheduled import publish_due


def list_scheduled(call: Call) -> Answer:
    """Answer `GET …/scheduled_promoted_tweets`."""
    _follow(call)
    return SCHEDULED_PROMOTED_TWEETS.list_records(call)


def show_scheduled(call: Call) -> Answer:
    """Answer `GET …/scheduled_promoted_tweets/:scheduled_promoted_tweet_id`."""
    _follow(call)
    return SCHEDULED_PROMOTED_TWEETS.show_record(call)


def create_scheduled(call: Call) -> Answer:
    """Answer `POST …/scheduled_promoted_tweets`, before the tweet goes out."""
    _follow(call)
    parameters = Parameters(call)
    line_item_id = parameters.required_text("line_item_id")
    tweet_id = str(parameters.required_long("scheduled_tweet_id"))
    parameters.finish()
    find_line_item(call, line_item_id, FOR_TWEETS)
    _check_waiting(call, SCHEDULED_TWEETS.find(call, tweet_id))
    fields = {"line_item_id": line_item_id, "scheduled_tweet_id": tweet_id, "tweet_id": None}
    promoted = _find(call, fields) or SCHEDULED_PROMOTED_TWEETS.make(call, fields)
    return success(parameters.echo, promoted.document())


def delete_scheduled(call: Call) -> Answer:
    """Answer `DELETE …/scheduled_promoted_tweets/:scheduled_promoted_tweet_id`, before the tweet goes out."""
    _follow(call)
    promoted = SCHEDULED_PROMOTED_TWEETS.find(call, call.ids["scheduled_promoted_tweet_id"])
    _check_waiting(call, SCHEDULED_TWEETS.all(call)[promoted.fields["scheduled_tweet_id"]])
    return SCHEDULED_PROMOTED_TWEETS.delete_record(call)


def _follow(call: Call) -> None:
    """Give what went out meanwhile the number of its tweet."""
    publish_due(call.account, call.now)
    for promoted in SCHEDULED_PROMOTED_TWEETS.all(call).values():
        scheduled = SCHEDULED_TWEETS.all(call)[promoted.fields["scheduled_tweet_id"]].fields
        if promoted.fields["tweet_id"] is None and scheduled["tweet_id"] is not None and not promoted.deleted:
            promoted.change({"tweet_id": scheduled["tweet_id"]}, scheduled["completed_at"])


def _check_waiting(call: Call, scheduled: Record) -> None:
    if scheduled.fields["scheduled_at"] <= call.now:
        message = "The time of the scheduled tweet has passed"
        raise call.refuse(403, "ACTION_NOT_ALLOWED", message, "scheduled_tweet_id")


def _find(call: Call, fields: dict[str, str | None]) -> Record | None:
    for promoted in SCHEDULED_PROMOTED_TWEETS.all(call).values():
        if promoted.fields == fields and not promoted.deleted:
            return promoted
    return None
