"""The fixture that people put into tests of their own clients."""

from __future__ import annotations

import json
import socket
import textwrap
import threading
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from audiencekit import load_settings, upload
from audiencekit.emulator import EmulatorOptions
from audiencekit.testing import RunningEmulator, run_emulator

pytest_plugins = ["audiencekit.testing", "pytester"]

OWN_TEST = """
    from audiencekit.emulator import EmulatorOptions
    import pytest, urllib.request

    pytest_plugins = ["audiencekit.testing"]

    @pytest.fixture(scope="session")
    def ads_emulator_options():
        return EmulatorOptions(profile="x")

    def test_mine(ads_emulator):
        assert ads_emulator.env["AUDIENCEKIT_PROFILE"] == "x"
        assert urllib.request.urlopen(ads_emulator.base_url + "/__requests").status == 200
"""


def _read_members(emulator: RunningEmulator) -> list[object]:
    with urllib.request.urlopen(f"{emulator.base_url}/__members/{emulator.audience_id}") as answer:
        members: list[object] = json.load(answer)["members"]
        return members


def test_a_client_that_blocks_can_call_it(ads_emulator: RunningEmulator, tmp_path: Path) -> None:
    """The test's own thread uploads, and asks who is in."""
    contacts = tmp_path / "contacts.csv"
    contacts.write_text("email\nann@example.com\nbo@example.com\n")
    settings = load_settings(ads_emulator.env)
    upload(contacts, audience=ads_emulator.audience_id, settings=settings)
    assert len(_read_members(ads_emulator)) == 2


@pytest.mark.parametrize("_turn", [1, 2])
def test_each_test_has_a_fresh_one(ads_emulator: RunningEmulator, _turn: int) -> None:
    """Nothing is left of the test before."""
    assert _read_members(ads_emulator) == []


def test_several_stand_side_by_side(start_ads_emulator: Callable[[EmulatorOptions], RunningEmulator]) -> None:
    """Each with its options."""
    first, second = (start_ads_emulator(EmulatorOptions(seed=seed)) for seed in (1, 2))
    assert first.ads_url != second.ads_url
    assert first.account_id != second.account_id


def test_it_ends_with_its_block() -> None:
    """Neither its port nor its thread is left, when the block fails too."""
    before = set(threading.enumerate())  # other tests of this process may have an emulator of their own
    with pytest.raises(KeyError), run_emulator() as emulator:
        raise KeyError
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", urlsplit(emulator.ads_url).port or 0))
    assert all(thread.name != "audiencekit-emulator" for thread in set(threading.enumerate()) - before)


def test_a_fault_of_the_start_is_raised() -> None:
    """In the thread that asked for it: here a port that is taken."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OSError), run_emulator(EmulatorOptions(port=taken.getsockname()[1])):  # noqa: PT011
            pass


def test_secrets_are_not_shown(ads_emulator: RunningEmulator) -> None:
    """A failing test prints its fixtures."""
    assert ads_emulator.env["AUDIENCEKIT_ACCESS_TOKEN_SECRET"] not in repr(ads_emulator)


@pytest.mark.slow
def test_a_project_of_its_own_uses_it(pytester: pytest.Pytester) -> None:
    """As a plugin, with options overridden, as the documentation shows it."""
    pytester.makepyfile(textwrap.dedent(OWN_TEST))
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
