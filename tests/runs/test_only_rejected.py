"""After a repair, exactly the rows that a run rejected and that are valid now are sent: in random lists, and by cases.

REPAIRS sets the number of random lists of the campaign (40; 440 were run once).
"""

from __future__ import annotations

import json
import os
import random
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pytest

from audiencekit.audiences.erasure.forgetting import forget_async
from audiencekit.emulator import Emulator
from audiencekit.emulator.endpoints.audience_members import EMAIL, PHONE_NUMBER, make_key, make_key_set
from audiencekit.errors import NotFinished, PlanRefused, Refused, UsageError
from audiencekit.pipeline import resume_async, upload_async
from audiencekit.reporting.report import Report
from audiencekit.reporting.sealed_rejections import find_sealed, open_sealed
from audiencekit.reporting.text import render_report
from audiencekit.runs.rejected_rows import REJECTED
from audiencekit.runs.reports import read_report, with_repairs
from audiencekit.settings import Settings
from tests.runs.begun import EndsAfter, requests_received
from tests.runs.repairs import PEOPLE, Row, draw, due, people, repaired, write_list, write_opened

pyrage = pytest.importorskip("pyrage", reason="the extra age is not installed")

LISTS: Final = int(os.environ.get("REPAIRS", "40"))
CHUNK: Final = 20
LENIENT: Final = {"max_rejected_share": 1.0, "max_rejected_column_share": 1.0}
COLUMNS: Final = {"email": "email", "phone_number": "phone"}


@pytest.fixture
def identity(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The file of an identity, and its recipient."""
    made, path = pyrage.x25519.Identity.generate(), tmp_path_factory.mktemp("age") / "identity"
    path.write_text(str(made))
    path.chmod(0o600)
    return str(path), str(made.to_public())


class Owner:
    """The owner of a list, who uploads and repairs it."""

    def __init__(self, directory: Path, emulator: Emulator, settings: Settings, identity: tuple[str, str]) -> None:
        self.path, self.repair = directory / "list.csv", directory / "repair.jsonl"
        self.emulator, self.settings, self._identity = emulator, settings, identity
        self.recipient = identity[1]
        self.run_id = ""

    async def upload(self, path: Path | None = None, **given: Any) -> Report:
        """The report of an upload of the list, or of the file at `path`."""
        options = {"audience": self.emulator.audience_id, "columns": COLUMNS, **LENIENT, **given}
        return await upload_async(path or self.path, settings=self.settings, **options)

    async def begin(self, rows: list[Row], **given: Any) -> None:
        """Upload the list for the first time."""
        write_list(self.path, rows)
        self.run_id = (await self.upload(seal_rejections=self._identity[1], **given)).run_id

    def mend(self, rows: list[Row], *, opened: bool) -> Path:
        """The path of the list, or of the opened file, with the `rows` as they are now."""
        if opened:
            write_opened(self.repair, self.opened(), rows)
            return self.repair
        write_list(self.path, rows)
        return self.path

    def opened(self) -> list[dict[str, Any]]:
        """The lines of the opened file."""
        sealed = open_sealed(find_sealed(self.settings.state_dir, self.run_id), self._identity[0])
        return [json.loads(line.unwrap()) for line in sealed]

    async def send(self, path: Path, **given: Any) -> tuple[Report, set[bytes]]:
        """The report of an upload of the repaired rows only, and the people who are new in the audience."""
        before = people(self.emulator)
        report = await self.upload(path, only_rejected=self.run_id, **given)
        return report, people(self.emulator) - before


@pytest.fixture
def owner(tmp_path: Path, emulator: Emulator, settings: Settings, identity: tuple[str, str]) -> Owner:
    return Owner(tmp_path, emulator, settings, identity)


async def _play(owner: Owner, seed: int) -> None:
    """Repair a list twice, each time in one of the two ways, and once more with nothing new."""
    chance = random.Random(seed)
    rows = draw(chance, first=seed * PEOPLE)
    await owner.begin(rows)
    rejected = {row.number for row in rows if row.is_rejected}
    for _ in range(2):
        now = repaired(rows, chance)
        opened = chance.random() < 0.5
        path, found = owner.mend(now, opened=opened), [row.key_set for row in now if row.number in rejected]
        if opened and not any(found):
            with pytest.raises(PlanRefused, match="every one of"):
                await owner.send(path)
            continue
        report, new = await owner.send(path)
        assert new == set(due(rows, now)), seed
        assert (report.rows.sent, report.repair_of["run"]) == (len(due(rows, now)), owner.run_id), seed
        rows = now
    sent = requests_received(owner.emulator)
    report, new = await owner.send(owner.mend(rows, opened=False))
    assert (report.rows.sent, new, requests_received(owner.emulator)) == (0, set(), sent), seed
    assert any("nothing is sent" in note for note in report.notes), seed


@pytest.mark.parametrize("seed", range(4))
async def test_exactly_the_repaired_rows_are_sent(owner: Owner, seed: int) -> None:
    """In the list or in the opened file; and nothing, when all of them were sent."""
    await _play(owner, LISTS + seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, LISTS, CHUNK))
async def test_the_people_sent_are_those_repaired_in_random_lists(owner: Owner, first: int) -> None:
    """REPAIRS lists, some repaired in their place and some in the opened file, twice each."""
    for seed in range(first, min(first + CHUNK, LISTS)):
        await _play(owner, seed)


# --- By cases: a list of four people; two of them are rejected ---

HEADER: Final = ("email", "phone", "consent", "verb")
ADA, BEN, CLEO, DAN = (
    "ada@example.com,,yes",
    "ben at example.com,+1 201 2340001,yes",
    "cleo at example.com,,yes",
    "dan@example.com,,yes",
)
MENDED: Final = [ADA, BEN.replace(" at ", "@"), CLEO.replace(" at ", "@"), DAN]
BEN_AND_CLEO: Final = {
    make_key_set(make_key(tag, sha256(text.encode()).hexdigest()) for tag, text in keys)
    for keys in (((EMAIL, "ben@example.com"), (PHONE_NUMBER, "+12012340001")), ((EMAIL, "cleo@example.com"),))
}


def write(owner: Owner, lines: list[str]) -> Path:
    """The list with these lines."""
    header = ",".join(HEADER[: lines[0].count(",") + 1])
    owner.path.write_text("\n".join([header, *lines]) + "\n")
    return owner.path


async def begin(owner: Owner, *lines: str, **given: Any) -> None:
    """Upload four people, or other lines."""
    write(owner, list(lines) or [ADA, BEN, CLEO, DAN])
    owner.run_id = (await owner.upload(seal_rejections=owner.recipient, **given)).run_id


async def refusal(owner: Owner, path: Path, **given: Any) -> Refused | UsageError:
    """The error of an upload of the rejected rows, by which nothing is sent."""
    sent = requests_received(owner.emulator)
    with pytest.raises((Refused, UsageError)) as caught:
        await owner.upload(path, **{"only_rejected": owner.run_id, **given})
    assert requests_received(owner.emulator) == sent
    assert "example" not in f"{caught.value} {caught.value.hint}"
    return caught.value


@pytest.mark.parametrize(
    "lines",
    [
        MENDED[1:],
        [MENDED[0], *MENDED[2:]],
        ["eve@example.com,,yes", *MENDED],
        [*MENDED, "eve@example.com,,yes"],
        [MENDED[0], "eve@example.com,,yes", *MENDED[1:]],
        MENDED[::-1],
        [MENDED[3], *MENDED[1:3], MENDED[0]],
        [MENDED[0].replace("ada", "eve"), *MENDED[1:]],
        [MENDED[0], MENDED[1].replace("340001", "340002"), *MENDED[2:]],
        [MENDED[0].replace(",,", ",+1 201 2340009,"), *MENDED[1:]],
    ],
    ids=["first removed", "rejected removed", "inserted first", "appended", "inserted", "turned", "exchanged",
         "another person", "sent identifier edited", "identifier added"],
)  # fmt: skip
async def test_a_list_that_changed_besides_is_refused(owner: Owner, lines: list[str]) -> None:
    """No one is sent who was not rejected."""
    await begin(owner)
    await refusal(owner, write(owner, lines))
    _, new = await owner.send(write(owner, MENDED))
    assert new == BEN_AND_CLEO


async def test_lines_of_another_file_are_refused(owner: Owner) -> None:
    """A line without its proof, a row twice, the file of another run, and of a check; and the rest can be sent."""
    await begin(owner)
    lines, first = owner.opened(), owner.run_id
    mended = [line | {"email": line["email"].replace(" at ", "@")} for line in lines]
    await begin(owner)
    others = owner.opened()
    owner.run_id = first
    forged = [mended[1] | {"row": 1, "proof": mended[1]["proof"].replace("3.", "1.")}]
    for wrong, why in (
        ([mended[0] | {"proof": None}], "no proof"),
        (others, "no proof"),
        (forged, "no proof"),
        ([mended[0], mended[0] | {"email": "eve@example.com"}], "came before"),
        (mended[::-1], "came before"),
        ([mended[0] | {"phone": "+1 201 2340002"}], "may be another row"),
    ):
        owner.repair.write_text("".join(json.dumps(line) + "\n" for line in wrong))
        assert why in str(await refusal(owner, owner.repair))
    owner.repair.write_text(json.dumps(mended[1]) + "\n")
    _, new = await owner.send(owner.repair)
    assert len(new) == 1


async def test_only_the_place_and_the_options_of_the_run_are_accepted(owner: Owner, tmp_path: Path) -> None:
    """Another audience, another consent or operation, a missing list of people to keep out, a spool."""
    (tmp_path / "out.csv").write_text("email\nzoe@example.com\n")
    await begin(owner, consent_column="consent=yes", suppress=[tmp_path / "out.csv"])
    path, given = write(owner, MENDED), {"consent_column": "consent=yes", "suppress": [tmp_path / "out.csv"]}
    account = owner.emulator.store.accounts[owner.emulator.account_id]
    other = owner.emulator.store.make_audience(account, "another", None, owner.emulator.clock.now())
    assert "sent to" in str(await refusal(owner, path, audience=other.id, **given))
    assert "consent_column" in str(await refusal(owner, path, suppress=given["suppress"]))
    assert "no list is given" in str(await refusal(owner, path, consent_column="consent=yes"))
    assert "operation" in str(await refusal(owner, path, operation="delete", **given))
    assert "exclude each other" in str(await refusal(owner, path, keep_spool=True, **given))
    assert "no such run" in str(await refusal(owner, path, only_rejected="20200101-000000-00000000", **given))
    _, new = await owner.send(path, **given)
    assert new == BEN_AND_CLEO


async def test_people_to_keep_out_are_those_of_now(owner: Owner, tmp_path: Path) -> None:
    """A list, the memory of erased people, and the consent in the row; in the list and in the opened file."""
    (tmp_path / "out.csv").write_text("email\nzoe@example.com\n")
    lost = "eve at example.com,,yes"
    await begin(owner, ADA, BEN, CLEO, lost, consent_column="consent=yes", suppress=[tmp_path / "out.csv"])
    given = {"consent_column": "consent=yes", "suppress": [tmp_path / "out.csv"]}
    opened = [line | {"email": line["email"].replace(" at ", "@")} for line in owner.opened()]
    await forget_async(["cleo@example.com"], settings=owner.settings)
    (tmp_path / "out.csv").write_text("email\nben@example.com\n")
    lines = [ADA, *MENDED[1:3], lost.replace(" at ", "@").replace("yes", "no")]
    report, new = await owner.send(write(owner, lines), **given)
    assert (new, report.rows.suppressed) == (set(), 3)
    opened[2]["consent"] = "no"
    owner.repair.write_text("".join(json.dumps(line) + "\n" for line in opened))
    assert "all of 3 records are suppressed" in str(await refusal(owner, owner.repair, **given))


async def test_a_time_that_has_passed_is_refused(owner: Owner) -> None:
    """As in every upload."""
    await begin(owner)
    passed = "2020-01-01T00:00:00Z"
    await refusal(owner, write(owner, MENDED), expires_at=passed)


@pytest.mark.usefixtures("small_requests")
async def test_a_repair_that_was_cut_short_is_resumed(owner: Owner) -> None:
    """It sends the rest, as any upload; until then no other repair of the run begins."""
    bad = [f"person{number} at example.com,,yes" for number in range(40)]
    await begin(owner, ADA, *bad)
    before = people(owner.emulator)
    path = write(owner, [ADA, *(line.replace(" at ", "@") for line in bad)])
    with pytest.raises(NotFinished) as caught:
        await owner.upload(path, only_rejected=owner.run_id, limiter=EndsAfter(1))
    assert caught.value.document is not None
    repair_id = caught.value.document["run_id"]
    assert f"run {repair_id}" in str(await refusal(owner, path))
    report = await resume_async(repair_id, settings=owner.settings)
    assert (report.state, report.rows.sent, len(people(owner.emulator) - before)) == ("complete", 40, 40)
    again, new = await owner.send(path)
    assert (again.rows.sent, new) == (0, set())


async def test_a_repair_joins_the_report_of_the_run(owner: Owner) -> None:
    """The run names its repairs, and each repair the run, of which it cannot be the run itself."""
    await begin(owner)
    first, _ = await owner.send(write(owner, [ADA, MENDED[1], CLEO, DAN]))
    second, _ = await owner.send(write(owner, MENDED), run_id="the-second-repair")
    again, new = await owner.send(write(owner, MENDED), run_id="the-second-repair")
    assert (again, new) == (second, set())
    state_dir = owner.settings.state_dir
    document = with_repairs(state_dir, read_report(state_dir, owner.run_id))
    assert document["repairs"] == [
        {"run": report.run_id, "rejected_rows": 2, "rows_sent": 1} for report in (first, second)
    ]
    assert f"repaired and sent: 1 of 2 rows with a rejection, by run {first.run_id}" in render_report(document)
    assert first.repair_of == {"run": owner.run_id, "rejected_rows": 2}
    assert f"1 of 2 rows with a rejection in run {owner.run_id}" in first.to_text()
    assert "itself sends" in str(await refusal(owner, owner.path, only_rejected=first.run_id))
    report = await owner.upload(owner.path, only_rejected="last")
    assert report.repair_of == first.repair_of


async def test_a_later_row_that_says_the_opposite_keeps_the_last_word(owner: Owner) -> None:
    """The repaired row alone would put a person in again, although a later row takes out one of its identifiers."""
    taken_out = ",+1 201 2340003,yes,delete"
    ada = f"{ADA},update"
    lines = [ada, "cleo at example.com,+1 201 234 3,yes,update", taken_out]
    await begin(owner, *lines, operation_column="verb")
    mended = [ada, "cleo@example.com,+1 201 2340003,yes,update", taken_out]
    assert "contradict" in str(await refusal(owner, write(owner, mended), operation_column="verb"))
    opened = owner.opened()
    owner.repair.write_text(json.dumps(opened[0] | {"email": "cleo@example.com"}) + "\n")
    assert "opened file" in str(await refusal(owner, owner.repair, operation_column="verb"))
    mended[1] = "cleo@example.com,,yes,update"
    _, new = await owner.send(write(owner, mended), operation_column="verb")
    assert len(new) == 1


@pytest.mark.parametrize("damage", ["changed", "removed"])
async def test_a_run_without_its_rejected_rows_is_refused(owner: Owner, damage: str) -> None:
    """They are sealed: a file that was changed is noticed, and so is one that is missing."""
    await begin(owner)
    sealed = owner.settings.state_dir / "runs" / owner.run_id / REJECTED
    if damage == "removed":
        sealed.unlink()
    else:
        sealed.write_bytes(sealed.read_bytes()[:-1] + b"x")
    await refusal(owner, write(owner, MENDED))


async def test_a_run_that_is_not_complete_is_refused(owner: Owner) -> None:
    """Its own rows come first."""
    write(owner, [ADA, BEN, CLEO, DAN])
    with pytest.raises(NotFinished) as caught:
        await owner.upload(limiter=EndsAfter(0))
    assert caught.value.document is not None
    owner.run_id = caught.value.document["run_id"]
    assert "not complete" in str(await refusal(owner, write(owner, MENDED)))
