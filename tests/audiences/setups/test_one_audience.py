"""Two syncs that make one audience equal to two lists, on the emulator: refused, however they call it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from audiencekit.audiences.setups.running import plan_setup, run_setup_async
from audiencekit.destinations.known_audiences import KnownAudiences
from audiencekit.emulator import Emulator
from audiencekit.errors import DefinitionRefused, UsageError
from audiencekit.settings import Settings

REFUSED = r"audiences\.two\.audience: audiences\.one makes it equal to another list: put the people of both into one"


def write(directory: Path, one: str, two: str, *, accounts: str = "") -> Path:
    """A setup of two syncs with lists of their own; `one` and `two` are the lines that say of which audience."""
    for name in ("one", "two"):
        rows = [f"{name}{number}@example.com" for number in range(20)]
        (directory / f"{name}.csv").write_text("\n".join(["email", *rows]) + "\n")
    tables = [f'[audiences.{name}]\nsource = "{name}.csv"\n{said}\n' for name, said in (("one", one), ("two", two))]
    (directory / "setup.toml").write_text("".join([accounts, *tables]))
    return directory / "setup.toml"


def methods(emulator: Emulator) -> set[str]:
    """Those of all requests that the service has seen."""
    return {each["method"] for each in emulator.store.requests.documents()}


@pytest.fixture
def names(emulator: Emulator) -> tuple[str, str]:
    """The id and the name of an audience."""
    account = emulator.store.accounts[emulator.account_id]
    return emulator.store.make_audience(account, "Spring", None, emulator.clock.now()).id, "Spring"


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("chosen", [None, ["one"], ["two"]])
async def test_an_id_and_a_name_of_one_audience_are_refused_before_anything_changes(
    tmp_path: Path,
    emulator: Emulator,
    settings: Settings,
    names: tuple[str, str],
    order: tuple[int, int],
    chosen: list[str] | None,
) -> None:
    """Also where only one of them is carried out: the other has its turn another time."""
    KnownAudiences(settings.state_dir, emulator.account_id).note({names[0]: names[1]})
    first, second = (names[each] for each in order)
    path = write(tmp_path, f'audience = "{first}"', f'audience = "{second}"')
    with pytest.raises(DefinitionRefused, match=REFUSED):
        await run_setup_async(path, chosen, settings=settings)
    assert methods(emulator) <= {"GET"}


async def test_the_service_is_asked_for_a_name_that_this_machine_has_not_seen(
    tmp_path: Path, emulator: Emulator, settings: Settings, names: tuple[str, str]
) -> None:
    """From then on this machine knows it, too, so that a plan is refused without the service."""
    path = write(tmp_path, f'audience = "{names[0]}"', f'audience = "{names[1]}"')
    with pytest.raises(DefinitionRefused, match=REFUSED):
        await run_setup_async(path, settings=settings)
    assert methods(emulator) == {"GET"}
    with pytest.raises(DefinitionRefused, match=REFUSED):
        plan_setup(path, settings=settings)


async def test_an_account_that_is_named_and_that_of_the_settings_are_one(
    tmp_path: Path, emulator: Emulator, settings: Settings, names: tuple[str, str]
) -> None:
    """And another account has other audiences, though they are called the same."""
    accounts = f'[accounts.shop]\naccount_id = "{emulator.account_id}"\n'
    said = f'audience = "{names[0]}"'
    path = write(tmp_path, said, f'{said}\naccount = "shop"', accounts=accounts)
    with pytest.raises(DefinitionRefused, match=REFUSED):
        await run_setup_async(path, settings=settings)
    with pytest.raises(DefinitionRefused, match=REFUSED):
        plan_setup(path, settings=settings)
    assert methods(emulator) == set()
    elsewhere = plan_setup(path, settings=replace(settings, account_id="0therone"))
    assert [result.state for result in elsewhere.results] == ["planned", "planned"]


async def test_a_name_that_is_not_there_leaves_the_other_done(
    tmp_path: Path, emulator: Emulator, settings: Settings, names: tuple[str, str]
) -> None:
    """It is told at its turn, and asked once."""
    path = write(tmp_path, f'audience = "{names[0]}"', 'audience = "Autumn"')
    with pytest.raises(UsageError, match="no audience is called 'Autumn'") as caught:
        await run_setup_async(path, settings=settings)
    document = caught.value.document
    assert document is not None
    assert [each["state"] for each in document["audiences"]] == ["complete", "refused"]
    paths = [each["path"] for each in emulator.store.requests.documents()]
    assert len([path for path in paths if path.endswith("/custom_audiences")]) == 1
