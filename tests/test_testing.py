"""The fixture that people put into tests of their own clients."""

from __future__ import annotations

import hashlib
import json
import socket
import sys
import textwrap
import threading
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import audiencekit
from audiencekit import load_settings, upload
from audiencekit.conformance import vectors
from audiencekit.conformance.fault_classes import BY_CODE
from audiencekit.emulator import EmulatorOptions
from audiencekit.errors import UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.testing import RunningEmulator, assert_conforms, run_emulator

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

    def test_pipeline(conformance):
        conformance(lambda text, country: "wrong", "handle")
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
    """As a plugin, with options overridden, as the documentation shows it; a failure shows no traceback."""
    pytester.makepyfile(textwrap.dedent(OWN_TEST))
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    done.assert_outcomes(passed=1, failed=1)
    told = done.stdout.str()
    assert "handle: " in told
    assert not any(word in told for word in ("Traceback", "assert_conforms", "@example"))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _right(kind: Kind) -> Callable[[str, str | None], str | None]:
    return lambda text, country: audiencekit.hash_identifier(kind, text, country=country)


DIGESTS = "import hashlib, sys\nfor line in sys.stdin: print(hashlib.sha256(line.strip().encode()).hexdigest())"


@pytest.fixture
def _some_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fifth: all of them are for tests/conformance."""
    some = vectors._lines()[::5]
    monkeypatch.setattr(vectors, "_lines", lambda: some)


@pytest.mark.usefixtures("_some_vectors")
def test_a_right_pipeline_conforms() -> None:
    """Whether a country is given, or none."""
    assert_conforms(_right(Kind.HANDLE), "handle")
    assert_conforms(_right(Kind.DEVICE_ID), "device_id", country="DE")


@pytest.mark.usefixtures("_some_vectors")
@pytest.mark.parametrize(
    ("pipeline", "kinds", "told"),
    [
        (
            lambda text, country: _sha256(text.lower()),
            ("handle", "platform_id"),
            [
                words for kind, code in (("handle", "at_sign"), ("platform_id", "white_space"))
                for words in (f"{kind}: ", f"{BY_CODE[code].message}; {BY_CODE[code].remedy}")
            ],
        ),
        ([sys.executable, "-c", DIGESTS], ("device_id",), [f"most would be mended so: {BY_CODE['case'].remedy}"]),
        (
            f"'{sys.executable}' -c 'raise SystemExit(7)'", ("handle",),
            ["handle: the program ended with exit code 7; run it by itself"],
        ),
    ],
    ids=["function", "program", "line"],
)  # fmt: skip
def test_a_failure_names_the_faults_and_no_vector(pipeline: Any, kinds: tuple[str, ...], told: list[str]) -> None:
    """The kind, the faults with their remedies, and the exit code of a program."""
    with pytest.raises(pytest.fail.Exception) as failed:
        assert_conforms(pipeline, *kinds)
    assert failed.value.pytrace is False
    assert [words for words in told if words not in str(failed.value)] == []
    assert "@example" not in str(failed.value)


def test_a_pipeline_is_checked_with_a_kind_and_a_program_that_is_there() -> None:
    """A test that checks nothing passes for no reason."""
    for call in (
        lambda: assert_conforms(str),
        lambda: assert_conforms(str, "name"),
        lambda: assert_conforms("no-such", "email"),
    ):
        with pytest.raises(UsageError):
            call()
