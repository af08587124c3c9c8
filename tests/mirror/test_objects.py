"""Conditional writes, over lost calls and answers; and a bucket of S3, whose errors quote nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from audiencekit.errors import InputOutputFailed, UsageError
from audiencekit.mirror.objects import ATTEMPTS, BucketObjects, Overtaken, Repeated
from audiencekit.sources.remote.addresses import SourceAddress
from tests.forms.servers import BUCKET
from tests.mirror.servers import StateBucket, state_bucket
from tests.mirror.stores import FakeClock, MemoryObjects


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[StateBucket]:
    with state_bucket() as found:
        for name, value in found.env.items():
            monkeypatch.setenv(name, value)
        yield found


def _objects(prefix: str = "acme") -> BucketObjects:
    return BucketObjects(SourceAddress.read(f"s3://{BUCKET}/{prefix}"))


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
async def test_a_bucket_keeps_the_conditions_of_writes(bucket: StateBucket) -> None:
    """A write that expects no object, or an earlier version, changes nothing."""
    objects = _objects()
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
async def test_a_bucket_lists_and_removes(bucket: StateBucket) -> None:
    """Only below its prefix; what is gone is passed over."""
    objects = _objects()
    for name in ("pieces/1", "pieces/2", "lists/1"):
        await objects.write(name, b"x")
    await _objects("acme-two").write("pieces/3", b"x")
    await objects.remove(["pieces/1", "pieces/1", "none"])
    assert (await objects.names("pieces/"), await objects.names("lists/")) == (["pieces/2"], ["lists/1"])
    assert "acme-two/pieces/3" in bucket.names()


@pytest.mark.services
async def test_a_refusal_of_the_bucket_quotes_nothing(bucket: StateBucket) -> None:
    missing = BucketObjects(SourceAddress.read("s3://secretbucket/secretprefix"))
    with pytest.raises(InputOutputFailed, match="the bucket of the state is not there") as caught:
        await missing.write("head", b"x")
    assert "secret" not in str(caught.value) + caught.value.hint
    assert caught.value.__context__ is None or "secret" not in str(caught.value.__context__)


def test_an_installation_without_the_extra_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(UsageError, match="a state in a bucket needs the package obstore"):
        _objects()
