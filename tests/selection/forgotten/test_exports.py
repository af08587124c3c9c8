"""People that one host has erased, made known to others: sealed, merged in any order, never forgotten again."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from audiencekit.errors import InputOutputFailed, MemoryRefused, UsageError
from audiencekit.machine.erasurewitness import Witness
from audiencekit.machine.keys import StateKey
from audiencekit.personal import Secret
from audiencekit.selection.forgotten.exports import export_memory, import_memory, recipient_of
from audiencekit.selection.forgotten.file import EARLIER_PURPOSE, read_memory
from audiencekit.selection.forgotten.log import read_log
from audiencekit.selection.forgotten.memoryacceptance import accept_memory
from audiencekit.selection.forgotten.people import read_forgotten, remember
from tests.planning.memories import GIVEN, KEY, Place, records_of


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

    def take(self, path: Path) -> None:
        import_memory(self.state, self.given, path, self.witness)

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
    there.take(here.export_to(there))
    assert there.holds(1, 2, 3) == [True, True, False]
    assert here.holds(1, 2) == [True, False]
    there.forget(3)
    assert there.holds(1, 2, 3) == [True, True, True]


def test_it_reaches_a_host_that_remembered_no_one(hosts: list[Host]) -> None:
    here, there, _ = hosts
    here.forget(1)
    there.take(here.export_to(there))
    assert there.holds(1, 2) == [True, False]


def test_it_is_passed_on(hosts: list[Host]) -> None:
    """Also back to the host where it began, which then knows no one twice."""
    first, second, third = hosts
    first.forget(1)
    second.take(first.export_to(second))
    second.forget(2)
    third.take(second.export_to(third))
    assert third.holds(1, 2) == [True, True]
    first.take(third.export_to(first))
    assert first.holds(1, 2) == [True, True]
    assert [line["keys"] for line in read_log(first.state)] == [2]


def test_an_older_export_forgets_no_one(hosts: list[Host]) -> None:
    here, there, _ = hosts
    here.forget(1)
    older = here.export_to(there)
    here.forget(2)
    there.take(here.export_to(there))
    there.take(older)
    assert there.holds(1, 2) == [True, True]


def test_only_the_recipient_opens_it(hosts: list[Host]) -> None:
    here, there, thief = hosts
    here.forget(1)
    with pytest.raises(MemoryRefused, match="another recipient: nothing was added"):
        thief.take(here.export_to(there))
    assert thief.holds(1) == [False]
    assert read_log(thief.state) == []


def test_a_changed_export_is_refused(hosts: list[Host], tmp_path: Path) -> None:
    """At every byte, and cut off anywhere; no export at all, too."""
    here, there, _ = hosts
    here.forget(1)
    content, path = here.export_to(there).read_bytes(), tmp_path / "changed"
    changed = [content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :] for at in range(len(content))]
    for one in [*changed, *(content[:size] for size in range(0, len(content), 7)), content + b"\0", b"AKFORGX1" * 9]:
        path.write_bytes(one)
        with pytest.raises(MemoryRefused):
            there.take(path)
    assert there.holds(1) == [False]


def test_it_says_nothing_of_the_exporter(hosts: list[Host]) -> None:
    """The tags of two exports differ in every byte that counts, and no key of the exporter stands in them."""
    here, there, _ = hosts
    here.forget(1)
    memory = read_memory(here.state, here.key)
    assert memory is not None
    one, other = here.export_to(there).read_bytes(), here.export_to(there).read_bytes()
    for secret in (memory.parts[0].tags.tobytes(), memory.parts[0].key.unwrap(), here.key.unwrap()):
        assert secret not in one
    assert one[8:] != other[8:]
    assert sum(a == b for a, b in zip(one[8:], other[8:], strict=True)) < len(one) / 8


@pytest.mark.parametrize("recipient", ["", "ak1", "age1qqqq", "ak1" + "0" * 72, "one digit is wrong"])
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
        here.take(path)


def test_a_restored_state_directory_that_lacks_an_import_is_refused(hosts: list[Host], tmp_path: Path) -> None:
    here, there, _ = hosts
    there.forget(2)
    place = Place(there.state, there.witness)
    backup = place.copy(tmp_path / "backup")
    here.forget(1)
    there.take(here.export_to(there))
    place.restore(backup)
    with pytest.raises(MemoryRefused, match="older than the last"):
        there.holds(1)
    accept_memory(there.state, there.given, empty=False, witness=there.witness)
    there.take(here.export_to(there))
    assert there.holds(1, 2) == [True, True]


@pytest.mark.parametrize("state", ["first version", "now"])
def test_the_memory_of_a_version_before_is_exported(state: str, tmp_path: Path) -> None:
    """Its tags are under a key of the file: from then on another key seals the file."""
    place, there = Place(tmp_path / "state", Witness(None)), Host(tmp_path / "there", 2)
    place.write_earlier(1)
    if state == "now":
        place.forget(2)
    export_memory(place.directory, GIVEN, there.recipient, tmp_path / "export", place.witness)
    there.take(tmp_path / "export")
    assert there.holds(1, 2) == [True, state == "now"]
    memory = read_memory(place.directory, KEY)
    assert memory is not None
    assert memory.parts[0].key.unwrap() == KEY.derive(EARLIER_PURPOSE).unwrap()
    assert (place.directory / "forgotten").read_bytes().startswith(b"AKFORGT3")


@pytest.mark.parametrize("seed", range(40))
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
                host.take(path)
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
