"""The accounts in the emulator's memory."""

from __future__ import annotations

from audiencekit.emulator.audiences.entries import Span
from audiencekit.emulator.store import Store


def test_a_store_starts_with_one_ready_audience() -> None:
    """One account, one audience, both following from the seed."""
    store, again = Store(3, 1_000.0), Store(3, 2_000.0)
    audience = store.find_audience(store.audience_id)
    assert audience is not None
    assert (audience.created_at, audience.deleted) == (1_000.0, False)
    assert store.audience_id == again.audience_id
    assert list(store.accounts) == list(again.accounts)


def test_every_audience_has_an_id_of_its_own() -> None:
    """Ids are lower-case base-36, and differ."""
    store = Store(0, 0.0)
    account = store.accounts[store.origin.account_id]
    ids = [store.make_audience(account, f"n{number}", None, 0.0).id for number in range(500)]
    assert len({*ids, store.audience_id}) == 501
    assert all(id_.isalnum() and id_ == id_.lower() and id_.isascii() for id_ in ids)


def test_a_deleted_audience_keeps_its_name() -> None:
    """The name of a deleted audience is taken."""
    store = Store(0, 0.0)
    account = store.accounts[store.origin.account_id]
    store.make_audience(account, "Gone", None, 0.0).deleted = True
    assert account.has_name("Gone")
    assert not account.has_name("gone")
    assert store.find_audience("nothing") is None


def test_lost_members_are_gone_from_every_list() -> None:
    """The lists stay."""
    store = Store(0, 0.0)
    audience = store.find_audience(store.audience_id)
    assert audience is not None
    audience.members.update([b"\x02" + bytes(32)], Span(0.0, 10.0), 0.0)
    assert len(list(audience.members.members(1.0))) == 1
    store.lose_members()
    assert list(audience.members.members(1.0)) == []
    assert store.find_audience(store.audience_id) is audience
