"""Scheduled tweets (specification part 2, section 4.9).

Listing and creating them are the public service's endpoints, without which there would be none to change. A tweet goes
out at its minute by the emulator's clock, at most a year ahead, and is a tweet from then on.
"""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.accounts.records import Account
from audiencekit.emulator.calls import Call
from audiencekit.emulator.credentials import long_id
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.times import add_months
from audiencekit.emulator.tweets.content import check_author, check_command, check_content, read_changes, read_new
from audiencekit.emulator.tweets.kinds import SCHEDULED_TWEETS, show_scheduled
from audiencekit.emulator.tweets.listing import read_page
from audiencekit.emulator.tweets.publication import publish

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


def show_one(call: Call) -> Answer:
    """Answer `GET …/scheduled_tweets/:scheduled_tweet_id`."""
    parameters = Parameters(call)
    record = _find(call, parameters)
    return success(parameters.echo_without_account(), show_scheduled(record))


def change_scheduled(call: Call) -> Answer:
    """Answer `PUT …/scheduled_tweets/:scheduled_tweet_id`, until it went out."""
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
    """Answer `DELETE …/scheduled_tweets/:scheduled_tweet_id`, until it went out."""
    parameters = Parameters(call)
    record = _find_waiting(call, parameters)
    record.delete(call.now)
    return success(parameters.echo_without_account(), show_scheduled(record))


def publish_due(account: Account, now: float) -> None:
    """Make tweets of what was due by `now`. To be called before scheduled tweets or tweets are looked at."""
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
