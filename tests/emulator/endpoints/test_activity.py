"""Events that are told to subscribers and streams."""

from __future__ import annotations

import json

import pytest

from audiencekit.emulator.endpoints.activity import EVENT_TYPES, Activity, Event, Subscription, read_event
from tests.cases import each_case


def _event(event_type: str = "profile.update.bio", user_id: str = "1", time: float = 0.0, **payload: str) -> Event:
    return Event(event_type, user_id, payload, time)


@each_case(
    "subscription, event, wanted",
    [
        (Subscription("1"), _event(), True),
        (Subscription("1"), _event(user_id="2"), False),
        (Subscription("1", "profile.update.bio"), _event(), True),
        (Subscription("1", "spaces.end"), _event(), False),
        (Subscription("1", keyword="SPRING"), _event(bio="It is spring"), True),
        (Subscription("1", keyword="summer"), _event(bio="It is spring"), False),
        (Subscription("1", direction="sent"), _event("dm.sent"), True),
        (Subscription("1", direction="sent"), _event("dm.received"), False),
        (Subscription("1", direction="received"), _event("dm.read"), True),
        (Subscription("1", direction="received"), _event("dm.sent"), False),
        (Subscription("1", direction="both"), _event("dm.sent"), True),
        (Subscription("1", direction="sent"), _event("spaces.start"), True),
    ],
)
def test_a_subscription_wants_what_passes_its_filters(subscription: Subscription, event: Event, wanted: bool) -> None:
    """Person, type, keyword in any case, and direction of what has one."""
    assert subscription.wants(event) is wanted


def test_the_types_are_the_stated_ones() -> None:
    """The ten of the specification's table (part 0, section 6), none of the earlier form."""
    stated = """
        profile.update.bio profile.update.verified profile.update.affiliate profile.update.screenname
        dm.received dm.sent dm.read dm.indicate_typing spaces.start spaces.end
    """
    assert set(EVENT_TYPES) == set(stated.split())


async def test_a_stream_is_told_what_is_wanted() -> None:
    """A stream hears events from its opening on; events without a subscription are told to no stream."""
    activity = Activity()
    assert not activity.publish(_event())
    activity.subscriptions.append(Subscription("1"))
    assert activity.publish(_event(time=10.0))
    stream, changed = activity.open_stream(float("inf")), None
    assert stream.take() == []
    changed = stream.changed()
    assert stream.changed() is changed
    activity.publish(_event(bio="new", time=20.0))
    assert changed.done()
    assert [json.loads(line)["data"]["payload"] for line in stream.take()] == [{"bio": "new"}]
    assert stream.take() == []


async def test_a_stream_can_be_told_what_was() -> None:
    """From a moment on, and never of more than the last five minutes."""
    activity = Activity()
    activity.subscriptions.append(Subscription("1"))
    for time in (0.0, 100.0, 350.0):
        activity.publish(_event(time=time))
    assert len(activity.open_stream(0.0).take()) == 2
    assert len(activity.open_stream(101.0).take()) == 1


async def test_a_stream_ends_for_its_reader_or_for_all() -> None:
    """A closed one is told nothing more; an ended one wakes its reader."""
    activity = Activity()
    activity.subscriptions.append(Subscription("1"))
    closed, open_ = activity.open_stream(float("inf")), activity.open_stream(float("inf"))
    closed.close()
    activity.publish(_event())
    assert (closed.take(), len(open_.take())) == ([], 1)
    changed = open_.changed()
    activity.end_streams()
    assert open_.ended
    assert changed.done()


@each_case(
    "order",
    [
        None,
        [],
        {},
        {"event_type": "ProfileBioUpdate"},
        {"event_type": ["spaces.start"]},
        {"event_type": "spaces.start", "colour": "red"},
        {"event_type": "spaces.start", "user_id": 7},
        {"event_type": "spaces.start", "user_id": "me"},
        {"event_type": "spaces.start", "payload": "text"},
    ],
)
def test_orders_that_are_none_are_refused(order: object) -> None:
    """With what was expected; the earlier names of types are none any more."""
    with pytest.raises(ValueError, match="Expected"):
        read_event(order, "1", 0.0)


def test_an_order_names_a_person_or_not() -> None:
    """Without one it happens to the application's own user."""
    assert read_event({"event_type": "spaces.start"}, "1", 5.0) == _event("spaces.start", "1", 5.0)
    order = {"event_type": "dm.sent", "user_id": "2", "payload": {"text": "hello"}}
    assert read_event(order, "1", 5.0) == _event("dm.sent", "2", 5.0, text="hello")
