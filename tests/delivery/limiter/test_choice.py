"""Which limiter the settings ask for, and what is known of the quota by its name."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from audiencekit.delivery.limiter import HostLimiter, Unlimited, open_limiter
from audiencekit.delivery.limiter.choice import QUOTA_LENGTH, quota_of
from audiencekit.delivery.limiter.redis import RedisLimiter
from audiencekit.delivery.retry import Clock
from audiencekit.errors import CredentialsRefused
from audiencekit.personal import Secret
from audiencekit.settings import Settings, load_settings

TOKEN = "invented-token-of-a-person"
ENVIRONMENT = {
    "AUDIENCEKIT_ADS_URL": "http://127.0.0.1:1",
    "AUDIENCEKIT_ACCOUNT_ID": "invented-account",
    "AUDIENCEKIT_CONSUMER_KEY": "invented-key",
    "AUDIENCEKIT_CONSUMER_SECRET": "invented-secret",
    "AUDIENCEKIT_ACCESS_TOKEN": TOKEN,
    "AUDIENCEKIT_ACCESS_TOKEN_SECRET": "invented-token-secret",
}


def settings_in(directory: Path, **more: str) -> Settings:
    return load_settings(ENVIRONMENT | more, directory=directory, state_dir=directory / "state")


async def test_the_host_has_its_own_limiter(tmp_path: Path, clock: Clock) -> None:
    """Under the state directory, where neither account nor token can be read."""
    async with open_limiter(settings_in(tmp_path), "users", clock=clock) as limiter:
        assert isinstance(limiter, HostLimiter)
        await limiter.acquire()
    kept = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert len(kept) == 1
    assert not any(word.encode() in kept[0].read_bytes() for word in (TOKEN, "invented-account"))


async def test_requests_that_are_counted_apart_have_each_their_pace(tmp_path: Path, clock: Clock) -> None:
    """Those of another destination, with the same account and token."""
    for quota in ("users", "lines", "users"):
        async with open_limiter(settings_in(tmp_path), quota, clock=clock) as limiter:
            await limiter.acquire()
    (path,) = (tmp_path / "state" / "limiter").iterdir()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM lines").fetchone() == (2,)


async def test_redis_is_chosen_by_its_address(tmp_path: Path, clock: Clock) -> None:
    """Nothing is kept on the host then."""
    pytest.importorskip("redis", reason="the package redis is not installed: pip install '.[redis]'")
    settings = settings_in(tmp_path, AUDIENCEKIT_LIMITER="redis://127.0.0.1:1/0")
    async with open_limiter(settings, "users", clock=clock) as limiter:
        assert isinstance(limiter, RedisLimiter)
    assert not (tmp_path / "state").exists()


async def test_a_given_limiter_comes_first(tmp_path: Path, clock: Clock) -> None:
    """For services of one's own."""
    given = Unlimited()
    async with open_limiter(settings_in(tmp_path), "users", clock=clock, given=given) as limiter:
        assert limiter is given
    assert not (tmp_path / "state").exists()


async def test_without_credentials_there_is_no_quota(tmp_path: Path, clock: Clock) -> None:
    """It is named by the token."""
    settings = load_settings({}, directory=tmp_path)
    with pytest.raises(CredentialsRefused):
        async with open_limiter(settings, "users", clock=clock):
            pass


def test_a_quota_is_of_one_account_and_token_at_one_service() -> None:
    """Each of them makes another name; a slash at the end of the address does not."""
    quota = quota_of("http://a", "b", Secret("c"), "users")
    others = {
        quota_of("http://x", "b", Secret("c"), "users"),
        quota_of("http://a", "x", Secret("c"), "users"),
        quota_of("http://a", "b", Secret("x"), "users"),
        quota_of("http://a", "b", Secret("c"), "x"),
        quota_of("http://a", "bc", Secret(""), "users"),
    }
    assert len(others | {quota}) == 6
    assert quota_of("http://a/", "b", Secret("c"), "users") == quota
    assert len(quota) == QUOTA_LENGTH
