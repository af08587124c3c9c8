"""Promoted tweets and accounts, and scheduled promoted tweets (specification part 1, sections 4.8 and 4.9).

A partner's tweet is posted again by the account's own user, for promotion only, and that copy is promoted. The
specification does not say what follows for a tweet that the line item promotes already; here the answer is the existing
record, as for accounts.
"""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.answers import Answer, RefusalError, success
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.accounts import FULL, KNOWN
from audiencekit.emulator.endpoints.campaigns import LINE_ITEMS
from audiencekit.emulator.endpoints.reference import TIMELINE
from audiencekit.emulator.endpoints.tweets import ORIGINAL, SCHEDULED_TWEETS, TWEETS, publish, publish_due
from audiencekit.emulator.endpoints.users import type_of
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources import Record, Resource
from audiencekit.limits import MAX_PROMOTED_TWEETS

# --- Promoted tweets (specification part 1, sections 4.8 and 4.9) ---


def list_promoted_tweets(call: Call) -> Answer:
    """Answer `GET …/promoted_tweets`; those below a deleted line item only if `with_deleted`."""
    parameters = Parameters(call)
    with_deleted = parameters.given("with_deleted") == "true"
    items = LINE_ITEMS.all(call)
    return PROMOTED_TWEETS.list_wanted(
        call, parameters, lambda promoted: with_deleted or not items[promoted.fields["line_item_id"]].deleted
    )


def create_promoted_tweets(call: Call) -> Answer:
    """Answer `POST …/promoted_tweets`: one record for each tweet, and how many."""
    parameters = Parameters(call)
    line_item_id = parameters.required_text("line_item_id")
    tweet_ids = parameters.required_longs("tweet_ids", most=MAX_PROMOTED_TWEETS)
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
    """Show a tweet in a line item for an account in timelines on mobile devices, too."""
    placements = item.fields["placements"]
    if TIMELINE not in placements:
        item.change({"placements": [*placements, TIMELINE]}, call.now, call.user_id)


# --- Promoted accounts (specification part 1, section 4.8) ---
#
# Only the account's own user can be promoted: of a partner it may promote tweets alone. One that the line item promotes
# already is not promoted again, and the answer shows the record that there is.


def list_promoted_accounts(call: Call) -> Answer:
    """Answer `GET …/promoted_accounts`: of named line items at least one must be for promoted accounts."""
    parameters = Parameters(call)
    answer = PROMOTED_ACCOUNTS.list_wanted(call, parameters)
    named = [LINE_ITEMS.all(call).get(each) for each in parameters.echo.get("line_item_ids", ())]
    if named and not any(item and item.fields["product_type"] in FOR_ACCOUNTS for item in named):
        raise incompatible(call, "None of the line items is configured for promoted accounts", "line_item_ids")
    return answer


def create_promoted_account(call: Call) -> Answer:
    """Answer `POST …/promoted_accounts`."""
    parameters = Parameters(call)
    line_item_id = parameters.required_text("line_item_id")
    user_id = parameters.required_long("user_id")
    parameters.finish()
    find_line_item(call, line_item_id, FOR_ACCOUNTS)
    if type_of(call, user_id) != FULL:
        raise parameters.fault("user_id", "You cannot promote someone else's account", "INVALID_USER_ID")
    promoted = _find(call, line_item_id, user_id) or PROMOTED_ACCOUNTS.make(
        call,
        {
            "line_item_id": line_item_id,
            "user_id": str(user_id),
            "entity_status": "ACTIVE",
            "approval_status": "ACCEPTED",
        },
    )
    return success(parameters.echo, promoted.document())


def _find(call: Call, line_item_id: str, user_id: int) -> Record | None:
    wanted = (line_item_id, str(user_id))
    for promoted in PROMOTED_ACCOUNTS.all(call).values():
        if (promoted.fields["line_item_id"], promoted.fields["user_id"]) == wanted and not promoted.deleted:
            return promoted
    return None


# --- Objects that line items promote: accounts, tweets and scheduled tweets ---

PROMOTED_ACCOUNTS: Final = Resource(
    kind="promoted_accounts",
    noun="Promoted Account",
    id_name="promoted_account_id",
    filters=("line_item_ids",),
)
PROMOTED_TWEETS: Final = Resource(
    kind="promoted_tweets",
    noun="Promoted Tweet",
    id_name="promoted_tweet_id",
    filters=("line_item_ids",),
)
SCHEDULED_PROMOTED_TWEETS: Final = Resource(
    kind="scheduled_promoted_tweets",
    noun="Scheduled Promoted Tweet",
    id_name="scheduled_promoted_tweet_id",
    filters=("line_item_ids",),
)


# --- Which line items promote what: that follows from their product type ---

FOR_ACCOUNTS: Final = ("PROMOTED_ACCOUNT",)
FOR_TWEETS: Final = ("PROMOTED_ACCOUNT", "PROMOTED_TWEETS")


def find_line_item(call: Call, line_item_id: str, product_types: tuple[str, ...]) -> Record:
    """Return a line item of one of these product types. Raises RefusalError: 404, or 400 for another product type."""
    item = LINE_ITEMS.find(call, line_item_id)
    if item.fields["product_type"] not in product_types:
        raise incompatible(call, f"Line Item {item.id} is not configured for this", "line_item_id")
    return item


def incompatible(call: Call, message: str, parameter: str) -> RefusalError:
    """Return the refusal of line items for another purpose."""
    return call.refuse(400, "INCOMPATIBLE_LINE_ITEM", message, parameter)


# --- Scheduled promoted tweets (specification part 1, section 4.8): promoted from the moment that they go out ---
#
# The same scheduled tweet again is answered with the record that there is, as with tweets.


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
    promoted = _find_scheduled(call, fields) or SCHEDULED_PROMOTED_TWEETS.make(call, fields)
    return success(parameters.echo, promoted.document())


def delete_scheduled(call: Call) -> Answer:
    """Answer `DELETE …/scheduled_promoted_tweets/:scheduled_promoted_tweet_id`, before the tweet goes out."""
    _follow(call)
    promoted = SCHEDULED_PROMOTED_TWEETS.find(call, call.ids["scheduled_promoted_tweet_id"])
    _check_waiting(call, SCHEDULED_TWEETS.all(call)[promoted.fields["scheduled_tweet_id"]])
    return SCHEDULED_PROMOTED_TWEETS.delete_record(call)


def _follow(call: Call) -> None:
    """Add the number of the published tweet to its record."""
    publish_due(call.account, call.now)
    for promoted in SCHEDULED_PROMOTED_TWEETS.all(call).values():
        scheduled = SCHEDULED_TWEETS.all(call)[promoted.fields["scheduled_tweet_id"]].fields
        if promoted.fields["tweet_id"] is None and scheduled["tweet_id"] is not None and not promoted.deleted:
            promoted.change({"tweet_id": scheduled["tweet_id"]}, scheduled["completed_at"])


def _check_waiting(call: Call, scheduled: Record) -> None:
    if scheduled.fields["scheduled_at"] <= call.now:
        message = "The time of the scheduled tweet has passed"
        raise call.refuse(403, "ACTION_NOT_ALLOWED", message, "scheduled_tweet_id")


def _find_scheduled(call: Call, fields: dict[str, str | None]) -> Record | None:
    for promoted in SCHEDULED_PROMOTED_TWEETS.all(call).values():
        if promoted.fields == fields and not promoted.deleted:
            return promoted
    return None
