"""`key`: show where the state key is and what it opens, move it away from these files, or rotate it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from audiencekit.cli.command_help import CommandGroup
from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.options import json_option
from audiencekit.cli.output import print_json, say
from audiencekit.errors import Refused
from audiencekit.personal import Secret
from audiencekit.process.programs import own_environment

if TYPE_CHECKING:
    from audiencekit.state.key_places import KeyPlace


_NEW = "AUDIENCEKIT_NEW_KEY"
_PLACES = ("environment", "command", "keyring", "file")
_BESIDE = (
    "it lies beside the files that it opens: a copy of the state directory can open them."
    " `audiencekit key move --to keyring` moves it away"
)


@click.group(cls=CommandGroup)
def key() -> None:
    """Show, move and rotate the state key.

    The files of the state directory are sealed under it.
    """


@key.command("show", examples=("key show", "key show --json"))
@json_option
def show_key(as_json: bool) -> None:
    """Show where the state key is.

    Its fingerprint and the number of files that it opens are shown, too; never the key.
    """
    found = _describe()
    if as_json:
        print_json(found)
    else:
        for line in _lines(found):
            say(line)
    sys.exit(Refused.exit_code if _refused(found) else 0)


@key.command("move", examples=("key move --to keyring", "key move --to environment"))
@click.option("--to", "place", type=click.Choice(_PLACES), required=True, help="Where the key is kept from now on.")
@json_option
def move_key(place: KeyPlace, as_json: bool) -> None:
    """Move the state key to another place.

    It stays the same key, and is destroyed where it was. To `environment` and `command` you bring it yourself first:
    the move finds it there, and destroys the others.
    """
    from audiencekit.state.credentials import CredentialStore
    from audiencekit.state.key_places import move_key as move

    settings = command_settings()
    left = move(settings.state_dir, settings.key, place)
    CredentialStore(settings.state_dir, "", settings.key).write_anew()
    if as_json:
        print_json({"place": place, "removed_from": list(left)})
    else:
        say(f"the state key is in: {place}; removed from: {', '.join(left) or 'nowhere'}")


@key.command("rotate", examples=("key rotate", "key rotate --json"))
@json_option
def rotate_key(as_json: bool) -> None:
    """Make a new state key, and seal everything anew.

    The key before opens none of it. A key from the environment or a command cannot be put there: give the new one by
    AUDIENCEKIT_NEW_KEY.
    """
    from audiencekit.audiences.key_rotation import rotate_key as rotate
    from audiencekit.state.key_places import key_fingerprint
    from audiencekit.state.keys import parse_key

    settings, given = command_settings(), own_environment().get(_NEW, "").strip()
    fresh = parse_key(Secret(given), _NEW) if given else None
    place = rotate(settings.state_dir, settings.key, fresh)
    if as_json:
        print_json({"place": place})
    elif fresh is None:
        say(f"the new state key is in: {place}")
    else:
        say(f"everything is sealed under the key of {_NEW}, fingerprint {key_fingerprint(fresh)}: bring it to: {place}")


def _describe() -> dict[str, Any]:
    from audiencekit.audiences.key_rotation import count_sealed
    from audiencekit.state.key_places import key_fingerprint, place_of_key
    from audiencekit.state.keys import existing_state_key, refuse_lost_key

    settings = command_settings()
    refuse_lost_key(settings.state_dir, settings.key)
    found = existing_state_key(settings.state_dir, settings.key)
    return {
        "place": place_of_key(settings.state_dir, settings.key),
        "fingerprint": None if found is None else key_fingerprint(found),
        "files": {} if found is None else count_sealed(settings.state_dir, found),
    }


def _lines(found: dict[str, Any]) -> list[str]:
    if found["place"] is None:
        return ["there is no state key yet: the first run makes one, in the state directory unless another is given"]
    lines = [f"state key: {found['place']}, fingerprint {found['fingerprint']}"]
    lines += [_BESIDE] * (found["place"] == "file")
    for kind, counts in found["files"].items():
        refused = f", {counts['refused']:,} not: damaged, or of another key" if counts["refused"] else ""
        lines.append(f"{kind}: opens {counts['opened']:,}{refused}")
    return lines


def _refused(found: dict[str, Any]) -> int:
    return sum(counts["refused"] for counts in found["files"].values())
