"""Draft tweets (specification part 2, section 4.9). The echo leaves out the account (public documentation)."""

from __future__ import annotations

import orjson

from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.tweets.content import check_content, read_changes, read_new
from audiencekit.emulator.tweets.kinds import DRAFTS, show_draft
from audiencekit.emulator.tweets.listing import read_page


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


def show_one(call: Call) -> Answer:
    """Answer `GET …/draft_tweets/:draft_tweet_id`."""
    parameters = Parameters(call)
    draft = _find(call, parameters)
    return success(parameters.echo_without_account(), show_draft(draft))


def change_draft(call: Call) -> Answer:
    """Answer `PUT …/draft_tweets/:draft_tweet_id`."""
    parameters = Parameters(call)
    changes = read_changes(call, parameters)
    draft = _find(call, parameters)
    check_content(parameters, {**draft.fields, **changes})
    draft.change(changes, call.now)
    return success(parameters.echo_without_account(), show_draft(draft))


def delete_draft(call: Call) -> Answer:
    """Answer `DELETE …/draft_tweets/:draft_tweet_id`."""
    parameters = Parameters(call)
    draft = _find(call, parameters)
    draft.delete(call.now)
    return success(parameters.echo_without_account(), show_draft(draft))


def preview_draft(call: Call) -> Answer:
    """Answer `POST …/draft_tweets/preview/:draft_tweet_id`: where the user would see it. No device hears of it here."""
    parameters = Parameters(call)
    _find(call, parameters)
    message = (
        f"See @{call.store.users.of(call.user_id).screen_name}'s notifications in the X app to preview your Tweet."
    )
    return Answer(200, orjson.dumps({"request": {"params": parameters.echo_without_account()}, "message": message}))


def _find(call: Call, parameters: Parameters) -> Record:
    draft_id = parameters.path_long("draft_tweet_id")
    parameters.finish()
    return DRAFTS.find(call, str(draft_id))
