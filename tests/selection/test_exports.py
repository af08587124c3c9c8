"""People that one host has erased, made known to others: sealed, merged in any order, never forgotten again."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from audiencekit.errors import InputOutputFailed, MemoryRefused, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import Secret
from audiencekit.records.columns.arrays import HASH_TYPE
from audiencekit.selection import exports
from audiencekit.selection.erased_people import accept_memory, read_forgotten, read_log, remember
from audiencekit.selection.erased_people_file import read_memory
from audiencekit.selection.erasure_witness import Witness
from audiencekit.selection.exports import (
    export_memory,
    import_memory,
    list_imports,
    recipient_of,
    sender_of,
    withdraw_import,
)
from audiencekit.selection.tags import Tagger
from audiencekit.state.keys import StateKey, SubKey
from tests.planning.memories import Place, records_of
from tests.shortened import shortened


class Host:
    """A state directory with a state key of its own, and what its user has seen."""

    def __init__(self, root: Path, number: int) -> None:
        self.root, self.state = root, root / "state"
        self.given = Secret(f"{number:02x}" * 32)
        self.key, self.witness = StateKey(bytes([number]) * 32), Witness(root / "witness")
        root.mkdir()

    def forget(self, *people: int) -> None:
        remember(self.state, self.key, records_of(people), self.witness)

    def export_to(self, other: Host) -> Path:
        path = self.root / f"{random.getrandbits(64):x}.export"
        export_memory(self.state, self.given, other.recipient, path, self.witness)
        return path

    @property
    def recipient(self) -> str:
        return recipient_of(self.state, self.given)

    @property
    def sender(self) -> str:
        return sender_of(self.state, self.given)

    def take(self, path: Path, sender: Host) -> dict[str, Any]:
        return import_memory(self.state, self.given, path, sender.sender, self.witness)

    def imports(self) -> list[dict[str, Any]]:
        return list_imports(self.state, self.given, self.witness)

    def withdraw(self, import_id: str) -> dict[str, Any]:
        return withdraw_import(self.state, self.given, import_id, self.witness)

    def holds(self, *people: int) -> list[bool]:
        forgotten = read_forgotten(self.state, self.given, self.witness)
        return [forgotten is not None and bool(forgotten.holds_any(records_of([one]))[0]) for one in people]


@pytest.fixture
def hosts(tmp_path: Path) -> list[Host]:
    return [Host(tmp_path / f"host{number}", number) for number in (1, 2, 3)]


def test_an_import_adds_to_what_is_remembered(hosts: list[Host]) -> None:
    here, there, _ = hosts
    here.forget(1)
    there.forget(2)
    there.take(here.export_to(there), here)
    assert there.holds(1, 2, 3) == [True, True, False]
    assert here.holds(1, 2) == [True, False]
    there.forget(3)
    assert there.holds(1, 2, 3) == [True, True, True]


def test_it_reaches_a_host_that_remembered_no_one(hosts: list[Host]) -> None:
    here, there, _ = hosts
    here.forget(1)
    there.take(here.export_to(there), here)
    assert there.holds(1, 2) == [True, False]


def test_it_is_passed_on(hosts: list[Host]) -> None:
    """Also back to the host where it began, which then knows no one twice."""
    first, second, third = hosts
    first.forget(1)
    second.take(first.export_to(second), first)
    second.forget(2)
    third.take(second.export_to(third), second)
    assert third.holds(1, 2) == [True, True]
    first.take(third.export_to(first), third)
    assert first.holds(1, 2) == [True, True]
    assert [line["keys"] for line in read_log(first.state)] == [2]


def test_an_older_export_forgets_no_one(hosts: list[Host]) -> None:
    here, there, _ = hosts
    here.forget(1)
    older = here.export_to(there)
    here.forget(2)
    there.take(here.export_to(there), here)
    there.take(older, here)
    assert there.holds(1, 2) == [True, True]


def test_only_the_recipient_opens_it(hosts: list[Host]) -> None:
    here, there, thief = hosts
    here.forget(1)
    with pytest.raises(MemoryRefused, match="to another recipient: nothing was added"):
        thief.take(here.export_to(there), here)
    assert thief.holds(1) == [False]
    assert read_log(thief.state) == []


def test_a_changed_export_is_refused(hosts: list[Host], tmp_path: Path) -> None:
    """At every byte, and cut off anywhere; no export at all, too."""
    here, there, _ = hosts
    here.forget(1)
    content, path = here.export_to(there).read_bytes(), tmp_path / "changed"
    changed = [content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :] for at in range(len(content))]
    for one in [
        *changed,
        *(content[:size] for size in range(0, len(content), 7)),
        content + b"\0",
        b"AKFORGX2" * 40,
    ]:
        path.write_bytes(one)
        with pytest.raises(MemoryRefused):
            there.take(path, here)
    assert there.holds(1) == [False]


def test_an_export_of_another_version_is_refused_as_such(hosts: list[Host], tmp_path: Path) -> None:
    """The sender and the recipient may be right."""
    here, there, _ = hosts
    here.forget(1)
    path = tmp_path / "other"
    path.write_bytes(b"AKFORGX3" + here.export_to(there).read_bytes()[8:])
    with pytest.raises(MemoryRefused, match=r"is in format AKFORGX3, and .* reads AKFORGX2 only") as refused:
        there.take(path, here)
    assert "the same version of audiencekit on both hosts" in refused.value.hint
    assert (there.holds(1), read_log(there.state)) == ([False], [])


def test_it_says_nothing_of_the_exporter(hosts: list[Host]) -> None:
    """The tags of two exports differ in every byte that counts, and no key of the exporter stands in them."""
    here, there, _ = hosts
    here.forget(1)
    memory = read_memory(here.state, here.key)
    assert memory is not None
    one, other = here.export_to(there).read_bytes(), here.export_to(there).read_bytes()
    for secret in (memory.people.own.tobytes(), memory.people.key.unwrap(), here.key.unwrap()):
        assert secret not in one
    assert one[8:] != other[8:]
    assert sum(a == b for a, b in zip(one[8:], other[8:], strict=True)) < len(one) / 8
    assert bytes.fromhex(here.sender[3:67]) not in one


def _named(public: bytes) -> str:
    return f"ak1{public.hex()}{hashlib.sha256(b'ak1' + public).hexdigest()[:8]}"


# Of small order: with them every host has the same secret.
_LOW = [bytes(32), b"\1" + bytes(31), bytes.fromhex("ec" + "ff" * 30 + "7f"), bytes.fromhex(
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"
)]  # fmt: skip


@pytest.mark.parametrize(
    "recipient", ["", "ak1", "age1qqqq", "ak1" + "0" * 72, "one digit is wrong", *map(_named, _LOW)]
)
def test_an_invalid_recipient_is_refused(recipient: str, hosts: list[Host], tmp_path: Path) -> None:
    here, there, _ = hosts
    if recipient == "one digit is wrong":
        recipient = there.recipient[:-20] + ("0" if there.recipient[-20] != "0" else "1") + there.recipient[-19:]
    with pytest.raises(UsageError, match="invalid recipient"):
        export_memory(here.state, here.given, recipient, tmp_path / "out", here.witness)
    assert not (tmp_path / "out").exists()


def test_an_export_replaces_no_file(hosts: list[Host], tmp_path: Path) -> None:
    here, there, _ = hosts
    (tmp_path / "out").write_text("mine")
    with pytest.raises(InputOutputFailed, match="exists: nothing was written"):
        export_memory(here.state, here.given, there.recipient, tmp_path / "out", here.witness)
    assert (tmp_path / "out").read_text() == "mine"


def test_a_memory_that_is_not_the_last_is_neither_exported_nor_added_to(hosts: list[Host]) -> None:
    here, there, _ = hosts
    there.forget(3)
    here.forget(1)
    path = there.export_to(here)
    (here.state / "forgotten").unlink()
    with pytest.raises(MemoryRefused, match="is missing"):
        here.export_to(there)
    with pytest.raises(MemoryRefused, match="is missing"):
        here.take(path, there)


def test_a_restored_state_directory_that_lacks_an_import_is_refused(hosts: list[Host], tmp_path: Path) -> None:
    here, there, _ = hosts
    there.forget(2)
    place = Place(there.state, there.witness)
    backup = place.copy(tmp_path / "backup")
    here.forget(1)
    there.take(here.export_to(there), here)
    place.restore(backup)
    with pytest.raises(MemoryRefused, match="older than the last"):
        there.holds(1)
    accept_memory(there.state, there.given, empty=False, witness=there.witness)
    there.take(here.export_to(there), here)
    assert there.holds(1, 2) == [True, True]


def _sealed_by_anyone(recipient: str, content: bytes) -> bytes:
    """As an export is sealed, which takes the public name of the recipient and nothing else."""
    once, to = X25519PrivateKey.generate(), bytes.fromhex(recipient[3:67])
    public = once.public_key().public_bytes_raw()
    shared = once.exchange(X25519PublicKey.from_public_bytes(to))
    key = HKDF(SHA256(), 32, salt=public + to, info=b"audiencekit/1\0forgotten export").derive(shared)
    return b"AKFORGX2" + public + AESGCM(key).encrypt(bytes(12), content, b"AKFORGX2")


@pytest.mark.parametrize("forgery", ["unsigned", "own name", "name of the sender", "signature of another export"])
def test_an_export_that_the_named_sender_did_not_sign_is_refused(
    forgery: str, hosts: list[Host], tmp_path: Path
) -> None:
    """Before anything is stored or logged. Who forges it knows both public names, and another export."""
    here, there, forger = hosts
    here.forget(1)
    there.forget(2)
    before = (there.state / "forgotten").read_bytes()
    signing = Ed25519PrivateKey.generate()
    own, named = signing.public_key().public_bytes_raw(), bytes.fromhex(here.sender[3:67])
    people = (
        bytes(32)
        + Tagger(SubKey(bytes(32)), movable=True).tag_hashes(pa.array([b"x" * 32], HASH_TYPE), Kind.EMAIL).tobytes()
    )
    made = {
        "unsigned": named + bytes(64) + people,
        "own name": own + signing.sign(people) + people,
        "name of the sender": named + signing.sign(people) + people,
    }
    path = tmp_path / "forged"
    if forgery in made:
        path.write_bytes(_sealed_by_anyone(there.recipient, made[forgery]))
    else:
        path = forger.export_to(there)
    with pytest.raises(MemoryRefused, match="of another sender or to another recipient: nothing was added"):
        there.take(path, here)
    assert (there.state / "forgotten").read_bytes() == before
    assert read_log(there.state) == []
    assert there.holds(1, 2) == [False, True]


def test_an_export_is_not_sealed_to_someone_else(hosts: list[Host], tmp_path: Path) -> None:
    """By its recipient, as if the sender had meant them: the signature is for one recipient."""
    here, there, third = hosts
    here.forget(1)
    content, own = (
        here.export_to(there).read_bytes(),
        X25519PrivateKey.from_private_bytes(there.key.derive("forgotten recipient").unwrap()),
    )
    shared = own.exchange(X25519PublicKey.from_public_bytes(content[8:40]))
    salt = content[8:40] + own.public_key().public_bytes_raw()
    key = HKDF(SHA256(), 32, salt=salt, info=b"audiencekit/1\0forgotten export").derive(shared)
    opened = AESGCM(key).decrypt(bytes(12), content[40:], b"AKFORGX2")
    (tmp_path / "passed on").write_bytes(_sealed_by_anyone(third.recipient, opened))
    with pytest.raises(MemoryRefused):
        third.take(tmp_path / "passed on", here)


@pytest.mark.parametrize("sender", ["", "as1", "a recipient", "one digit is wrong"])
def test_an_invalid_sender_is_refused(sender: str, hosts: list[Host]) -> None:
    here, there, _ = hosts
    here.forget(1)
    wrong = {
        "a recipient": here.recipient,
        "one digit is wrong": here.sender[:-1] + ("0" if here.sender[-1] != "0" else "1"),
    }
    with pytest.raises(UsageError, match="invalid sender: nothing was imported"):
        import_memory(there.state, there.given, here.export_to(there), wrong.get(sender, sender), there.witness)


def test_an_import_is_listed_and_can_be_withdrawn(hosts: list[Host]) -> None:
    """Those who were erased here, or in another import, stay out; the log says whose the people were."""
    first, second, third = hosts
    first.forget(1, 2, 3)
    second.forget(3, 4)
    third.forget(1)
    taken = third.take(first.export_to(third), first)
    third.take(second.export_to(third), second)
    assert [(one["sender"], one["keys"]) for one in third.imports()] == [(first.sender, 3), (second.sender, 2)]
    assert third.imports()[0]["id"] == taken["import"]
    assert third.holds(1, 2, 3, 4) == [True] * 4
    third.withdraw(taken["import"])
    assert third.holds(1, 2, 3, 4) == [True, False, True, True]
    assert [one["sender"] for one in third.imports()] == [second.sender]
    with pytest.raises(UsageError, match="no import has this id"):
        third.withdraw(taken["import"])
    log = read_log(third.state)
    assert [line["sender"] for line in log] == [first.sender, second.sender, first.sender]
    assert log[2]["withdrawn"] == log[0]["import"] == taken["import"]


def test_imports_do_not_add_up(hosts: list[Host]) -> None:
    """One that holds all people of an earlier one of the same sender takes its place."""
    here, there, _ = hosts
    for person in range(5):
        here.forget(person)
        there.take(here.export_to(there), here)
    assert [one["keys"] for one in there.imports()] == [5]
    assert there.holds(*range(6)) == [True] * 5 + [False]


def test_a_check_asks_as_much_for_many_imports_as_for_one(hosts: list[Host], monkeypatch: pytest.MonkeyPatch) -> None:
    """All tags are under one key: a row is tagged once."""
    here, there, third = hosts
    here.forget(1)
    third.forget(2)
    there.take(here.export_to(there), here)
    there.take(third.export_to(there), third)
    forgotten, asked = read_forgotten(there.state, there.given, there.witness), []
    assert forgotten is not None
    tag = Tagger.tag_hashes
    monkeypatch.setattr(Tagger, "tag_hashes", lambda *given: asked.append(1) or tag(*given))
    assert forgotten.holds_any(records_of([1, 2])).all()
    assert len(asked) == 1


def test_imports_have_a_bound(hosts: list[Host], monkeypatch: pytest.MonkeyPatch) -> None:
    here, there, third = hosts
    monkeypatch.setattr(exports, "MOST_IMPORTS", 1)
    here.forget(1)
    third.forget(2)
    there.take(here.export_to(there), here)
    with pytest.raises(MemoryRefused, match="1 imports are remembered, and no more can be"):
        there.take(third.export_to(there), third)
    assert there.holds(1, 2) == [True, False]


@pytest.mark.parametrize("seed", shortened(range(20), 4))
def test_in_any_order_an_erased_person_is_never_sent(seed: int, tmp_path: Path) -> None:
    """Forget, backup, restore, export, import and upload on three hosts: an upload is refused or leaves them out."""
    assert live_through(random.Random(seed), tmp_path, steps=25) == 0


def live_through(chance: random.Random, directory: Path, *, steps: int) -> int:
    """How many erased people were sent, of those who were erased on the host or imported by it.

    A backup is of the state directory; what the user has seen stays. A host whose memory is refused puts the last
    state back, or takes what is there for the last and imports from the others what it lacks.
    """
    hosts = [Host(directory / f"host{number}", number) for number in (1, 2, 3)]
    known: list[set[int]] = [set(), set(), set()]
    backups: list[list[Path]] = [[], [], []]
    sent = 0
    for step in range(steps):
        at = chance.randrange(3)
        host, place = hosts[at], Place(hosts[at].state, hosts[at].witness)
        act = chance.choice(["forget", "backup", "restore", "exchange", "exchange", "upload", "upload"])
        try:
            if act == "forget":
                person = chance.randrange(30)
                host.forget(person)
                known[at].add(person)
            elif act == "backup":
                backups[at].append(place.copy(directory / f"backup{step}"))
            elif act == "restore" and backups[at]:
                place.restore(chance.choice(backups[at]))
            elif act == "exchange":
                other = chance.choice([one for one in range(3) if one != at])
                path = hosts[other].export_to(host)
                carried = set(known[other])
                host.take(path, hosts[other])
                known[at] |= carried
            elif act == "upload":
                sent += sum(person in known[at] for person, held in enumerate(host.holds(*range(30))) if not held)
        except MemoryRefused:
            repair(at, hosts, known)
    return sent


def repair(at: int, hosts: list[Host], known: list[set[int]]) -> None:
    """Take what is there for the last, forget anew those who were erased here, and import from the others."""
    host = hosts[at]
    try:
        host.holds(0)
        return  # another host was refused, and its own turn will come
    except MemoryRefused:
        is_there = (host.state / "forgotten").exists()
    accept_memory(host.state, host.given, empty=not is_there, witness=host.witness)
    host.forget(*known[at])
