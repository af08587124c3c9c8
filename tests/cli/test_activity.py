"""`activity`, against an emulator."""

from __future__ import annotations

import json
import signal
import urllib.request
from typing import Any

import pytest

from tests.cli.conftest import Begin, Run, Service
from tests.forking import FASTER
from tests.moments import PATIENCE_SECONDS
from tests.shortened import shortened


def _door(service: Service, method: str, order: Any = None) -> None:
    data = None if order is None else json.dumps(order).encode()
    request = urllib.request.Request(f"{service.ready['base_url']}/__activity", data, method=method)
    urllib.request.urlopen(request).close()


def _happen(service: Service, text: str) -> None:
    _door(service, "POST", {"event_type": "profile.update.bio", "payload": {"bio": text}})


@pytest.mark.parametrize("ending", shortened([signal.SIGINT, signal.SIGTERM], 1))
def test_events_are_followed_until_the_end(run: Run, begin: Begin, service: Service, ending: signal.Signals) -> None:
    """Over a lost connection, each once; the end that a person asks for is a good one."""
    subscribed = run("activity", "subscribe", "--event-type", "profile.update.bio", **service.env)
    assert (subscribed.returncode, "profile.update.bio" in subscribed.stdout) == (0, True)
    process = begin("activity", "follow", "--backfill-minutes", "5", **service.env, **{FASTER: "100"})
    assert process.stdout is not None
    assert process.stderr is not None
    _happen(service, "spring\x1b[2J")
    first = process.stdout.readline()
    assert "\x1b" not in first
    assert json.loads(first)["data"]["payload"] == {"bio": "spring\x1b[2J"}
    _door(service, "DELETE")
    assert process.stderr.readline().startswith("the service ended the stream; it is opened again in")
    _happen(service, "summer")
    assert json.loads(process.stdout.readline())["data"]["payload"] == {"bio": "summer"}
    process.send_signal(ending)
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, out, err) == (0, "", "ended; 2 events\n")


def test_a_subscription_is_shown_whole(run: Run, service: Service) -> None:
    """With `--json`, as the service says it."""
    options = ("--user", "7", "--keyword", "spring", "--direction", "both", "--json")
    document = json.loads(run("activity", "subscribe", *options, **service.env).stdout)
    assert document["data"]["filter"] == {"user_id": "7", "keyword": "spring", "direction": "both"}


def test_a_wrong_filter_is_refused_before_it_is_sent(run: Run, service: Service) -> None:
    """By the names of before, and people that are none."""
    for options in (("--event-type", "ProfileBioUpdate"), ("--user", "@someone"), ("--direction", "up")):
        assert run("activity", "subscribe", *options, **service.env).returncode == 2
    assert run("activity", "follow", "--backfill-minutes", "6", **service.env).returncode == 2
    assert json.loads(service.get("/__requests")) == []


def test_a_revoked_application_is_told(run: Run, service: Service) -> None:
    """Exit code 77, at once."""
    settings = {**service.env, "AUDIENCEKIT_CONSUMER_SECRET": "wrong"}
    done = run("activity", "follow", **settings)
    assert (done.returncode, done.stdout) == (77, "")
