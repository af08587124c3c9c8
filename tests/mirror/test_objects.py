"""Conditional writes, over lost calls and answers; and a bucket of S3, whose errors quote nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from audiencekit.errors import AudienceBusy, InputOutputFailed, UsageError
from audiencekit.mirror.mirror import StateMirror
from audiencekit.mirror.objects import ATTEMPTS, BucketObjects, Overtaken, Repeated
from audiencekit.sources.remote.addresses import SourceAddress
from audiencekit.state.keys import StateKey
from benchmarks.cloud_storage import cloud_storage
from tests.azurite import CONTAINER, azurite
from tests.forms.servers import BUCKET
from tests.mirror.servers import state_bucket
from tests.mirror.stores import FakeClock, MemoryObjects

At = Callable[[str], BucketObjects]


SERVERS = {"s3": (state_bucket, BUCKET), "az": (azurite, CONTAINER), "gs": (cloud_storage, BUCKET)}


@pytest.fixture(params=list(SERVERS))
def at(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[At]:
    """The objects at a path, in a bucket of S3 (moto), in a container of Azure (Azurite), and in a bucket of Google."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "AZURE_", "AZURITE_", "GOOGLE_"))]:
        monkeypatch.delenv(name)
    pytest.importorskip("obstore", reason="the extra cloud is not installed")
    serve, name = SERVERS[request.param]
    with serve() as server:
        for variable, value in server.env.items():
            monkeypatch.setenv(variable, value)
        yield lambda path: BucketObjects(SourceAddress.read(f"{request.param}://{path or name + '/acme'}"))


async def test_a_lost_answer_of_a_conditional_write_is_asked_again() -> None:
    """Own bytes are found, and another writer's are never taken for them."""
    for seed in range(300):
        memory, clock = MemoryObjects(), FakeClock()
        lossy = Repeated(memory.clone(0.3, seed), sleep=clock.sleep)
        try:
            version = await lossy.swap("head", b"one", None)
        except InputOutputFailed:
            continue
        assert memory.objects["head"] == (b"one", int(version))
        other = await memory.swap("head", b"other", version)
        with pytest.raises((Overtaken, InputOutputFailed)):
            await lossy.swap("head", b"two", version)
        assert memory.objects["head"] == (b"other", int(other))


async def test_a_store_that_does_not_answer_is_given_up() -> None:
    """After some attempts, each after a longer wait."""
    memory, clock = MemoryObjects(losses=1.0), FakeClock()
    with pytest.raises(InputOutputFailed, match=rf"cannot be used: lost \({ATTEMPTS} attempts\)"):
        await Repeated(memory, sleep=clock.sleep).read("head")
    assert memory.calls == ATTEMPTS
    assert clock.now > ATTEMPTS * 0.2


@pytest.mark.services
async def test_a_bucket_keeps_the_conditions_of_writes(at: At) -> None:
    """A write that expects no object, or an earlier version, changes nothing."""
    objects = at("")
    first = await objects.swap("head", b"one", None)
    with pytest.raises(Overtaken):
        await objects.swap("head", b"lost", None)
    second = await objects.swap("head", b"two", first)
    with pytest.raises(Overtaken):
        await objects.swap("head", b"lost", first)
    found = await objects.read("head")
    assert found is not None
    assert (found.data, found.version) == (b"two", second)
    assert await objects.read("none") is None


@pytest.mark.services
async def test_a_bucket_lists_and_removes(at: At) -> None:
    """Only below its prefix; an object that is gone is passed over."""
    objects = at("")
    for name in ("pieces/1", "pieces/2", "lists/1", "pieces-other"):
        await objects.write(name, b"x")
    await objects.remove(["pieces/1", "pieces/1", "none"])
    assert (await objects.names("pieces/"), await objects.names("lists/")) == (["pieces/2"], ["lists/1"])


@pytest.mark.services
async def test_a_state_is_kept_in_a_bucket(at: At, tmp_path: Path) -> None:
    """Begun once, filled, and found on another machine; a holder that was overtaken writes nothing."""
    key = StateKey(bytes(32))
    await StateMirror(at(""), key, tmp_path).begin()
    first = StateMirror(at(""), key, tmp_path / "first", patience_seconds=0.5)
    await first.open(hold=True)
    (first.root / "forgotten").write_bytes(b"tags" * 500_000)
    first.note(first.root)
    await first.stored()
    first._beating.cancel()  # type: ignore[union-attr]  # as a kill does
    second = StateMirror(at(""), key, tmp_path / "second", patience_seconds=0.5)
    await second.open(hold=True)
    assert (second.root / "forgotten").read_bytes() == b"tags" * 500_000
    (first.root / "forgotten").write_bytes(b"late")
    first.note(first.root)
    with pytest.raises(AudienceBusy):
        await first.stored()
    await second.close()


@pytest.mark.services
async def test_a_refusal_of_the_bucket_quotes_nothing(at: At) -> None:
    missing = at("secretbucket/secretprefix")
    with pytest.raises(InputOutputFailed, match="the bucket of the state is not there") as caught:
        await missing.write("head", b"x")
    assert "secret" not in str(caught.value) + caught.value.hint
    assert caught.value.__context__ is None or "secret" not in str(caught.value.__context__)


def test_an_installation_without_the_extra_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(UsageError, match="a state in a bucket needs the package obstore"):
        BucketObjects(SourceAddress.read("s3://lists/acme"))
