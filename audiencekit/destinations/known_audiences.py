"""The names of audiences that this machine has seen, for runs and the shell, and the search for an audience by name."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeGuard

from audiencekit.destinations.audience_look import as_run_error, call_if_offered
from audiencekit.errors import AudiencekitError, ExchangeError, Refused, RequestRefused, UsageError
from audiencekit.limits import MAX_QUERY_LENGTH
from audiencekit.service_words import is_service_id
from audiencekit.state.directory import check_root, make_directory
from audiencekit.state.files import decode_checked, encode_checked, read_file, replace_file

if TYPE_CHECKING:
    from audiencekit.delivery.retry import RetryPolicy


# --- The names of the audiences that this machine has seen, for runs and the shell ---
#
# It is a help and no truth: what cannot be read or written is not known. An audience that another program has renamed
# has its old name here until it is looked at again.

FILE: Final = "audiences.json"
_FORM: Final = "audiencekit-audiences/1"
_MOST_NAMED: Final = 5  # audiences that a hint names
AUDIENCES_HINT: Final = "`audiencekit audiences list` shows ids and names"


class KnownAudiences:
    """The known audiences of one account, by its id, in the state directory `state_dir`."""

    def __init__(self, state_dir: Path, account_id: str | None) -> None:
        self._document, self._account_id = AccountDocument(state_dir, FILE, _FORM), account_id or ""

    def names(self) -> dict[str, str]:
        """Return {id: name}; empty if nothing is known."""
        with contextlib.suppress(AudiencekitError, OSError):
            return _plain(self._document.read().get(self._account_id, {}))
        return {}

    def note(self, names: Mapping[str, str], *, gone: Iterable[str] = ()) -> None:
        """Store these names, without the audiences that are `gone`."""
        with contextlib.suppress(AudiencekitError, OSError):
            before = _plain(self._document.read().get(self._account_id, {}))
            left = {one: name for one, name in {**before, **names}.items() if one not in set(gone)}
            if left != before and self._account_id:
                self._document.replace(self._account_id, left)

    def find(self, given: str) -> str:
        """Return the id of the audience `given`: an id, or the name of exactly one known audience.

        Raises UsageError with the possible ids.
        """
        return given if is_id_not_name(given) else unique_id(given, self.names())


def is_id_not_name(given: object) -> TypeGuard[str]:
    """Whether `given` is an id; otherwise it may be a name. Raises UsageError for what is neither."""
    if isinstance(given, str) and given.strip() and len(given) <= MAX_QUERY_LENGTH:
        return is_service_id(given)
    what = f"a text of 1 to {MAX_QUERY_LENGTH} characters"
    raise UsageError(f"an audience is given by its id or its name, {what}", hint=AUDIENCES_HINT)


def unique_id(given: str, names: Mapping[str, str]) -> str:
    """Return the id of the only audience of `names` with the name `given`. Raises UsageError with the possible ids."""
    same = [one for one, name in names.items() if name == given]
    if len(same) == 1:
        return same[0]
    if same:
        raise UsageError(f"{len(same)} audiences are called {given!r}", hint=f"give an id: {', '.join(sorted(same))}")
    start = given.casefold()
    near = sorted(f"{one} {name!r}" for one, name in names.items() if name.casefold().startswith(start))[:_MOST_NAMED]
    hint = f"give an id, perhaps: {', '.join(near)}" if near else AUDIENCES_HINT
    raise UsageError(f"no audience is called {given!r}", hint=hint)


def _plain(names: Mapping[str, object]) -> dict[str, str]:
    return {one: name for one, name in names.items() if is_service_id(one) and isinstance(name, str)}


# --- A document in the state directory with a part for each account: facts from the service, as a help only ---

MAX_FILE_BYTES: Final = 16_000_000


class AccountDocument:
    """The file `name` of `state_dir`, in the format `form`.

    Raises an AudiencekitError or OSError when it cannot be read or written.
    """

    def __init__(self, state_dir: Path, name: str, form: str) -> None:
        self._state_dir, self._path, self._form = state_dir, state_dir / name, form

    def read(self) -> dict[str, dict[str, Any]]:
        """Return {account id: its part}; empty for a file that is missing, or was changed."""
        check_root(self._state_dir)
        try:
            content = read_file(self._path, MAX_FILE_BYTES)
        except FileNotFoundError:
            return {}
        document, is_as_written = decode_checked(content, self._form, self._path)
        found = document if is_as_written and document else {}
        return {account: part for account, part in found.items() if isinstance(part, dict)}

    def replace(self, account_id: str, part: Mapping[str, Any]) -> None:
        """Replace the part of `account_id`."""
        accounts = {**self.read(), account_id: dict(part)}
        make_directory(self._state_dir)
        replace_file(self._path, encode_checked(accounts, self._form))


# --- The search for an audience by its id, or by a name that only one has ---


class NamedAudiences(Protocol):
    """The methods of AdsClient that are needed here."""

    def iterate_custom_audiences(self, *, q: str | None = None, with_deleted: bool | None = None) -> Any:
        """Return pages of audiences whose names begin with `q`."""

    async def create_custom_audience(self, *, name: str, description: str | None = None) -> Any:
        """Create an audience."""

    async def update_custom_audience(self, audience_id: str, *, name: str | None = None) -> Any:
        """Change an audience."""


async def find_audience_id(
    given: str,
    client: NamedAudiences,
    policy: RetryPolicy,
    known: KnownAudiences,
    notify: Callable[[str], None] | None = None,
) -> str:
    """Return the id of the audience `given`. A text in the form of an id is returned without a request.

    The audiences that the service lists are stored as known; `notify` is told when it is asked again. Raises
    UsageError, with the possible ids, for a name that no audience or several audiences have; otherwise the errors that
    end a run before its first request.
    """
    if is_id_not_name(given):
        return given
    names: dict[str, str] = {}

    async def ask() -> None:
        async for page in client.iterate_custom_audiences(q=given):
            names.update({each["id"]: str(each.get("name", "")) for each in page.data if not each.get("deleted")})

    try:
        await policy.with_retries(lambda: call_if_offered(ask), notify)
    except ExchangeError as error:
        raise as_run_error(error, "the audience was not looked up") from None
    known.note(names)
    return unique_id(given, names)


# --- The name of an audience: it is given once in an account ---


async def create_audience(client: NamedAudiences, name: str, description: str | None = None) -> dict[str, Any]:
    """Create an audience, and return it as the service shows it.

    Raises Refused for a name that another audience has, or had before it was deleted; an ExchangeError otherwise.
    """
    try:
        return dict((await client.create_custom_audience(name=name, description=description)).data)
    except RequestRefused as error:
        refusal = error
    raise await _taken(client, name) or refusal


async def ensure_audience(
    client: NamedAudiences, name: str, description: str | None = None
) -> tuple[dict[str, Any], Literal["created", "found"]]:
    """Return the audience of this name as the service shows it, and whether it was created now or found.

    So the same call again, as of a task, creates no second one. Raises Refused for the name of a deleted audience; an
    ExchangeError otherwise.
    """
    try:
        return dict((await client.create_custom_audience(name=name, description=description)).data), "created"
    except RequestRefused as error:
        refusal = error
    async for page in client.iterate_custom_audiences(q=name[:MAX_QUERY_LENGTH]):
        for each in page.data:
            if each.get("name") == name and not each.get("deleted"):
                return dict(each), "found"
    raise await _taken(client, name) or refusal


async def rename_audience(client: NamedAudiences, audience_id: str, name: str) -> dict[str, Any]:
    """Rename an audience, and return it as the service shows it. Raises as `create_audience`."""
    try:
        return dict((await client.update_custom_audience(audience_id, name=name)).data)
    except RequestRefused as error:
        refusal = error
    raise await _taken(client, name) or refusal


async def _taken(client: NamedAudiences, name: str) -> Refused | None:
    """Return why the name is taken; None if no audience has it, or had it."""
    async for page in client.iterate_custom_audiences(q=name[:MAX_QUERY_LENGTH], with_deleted=True):
        for each in page.data:
            if each.get("name") == name:
                if each.get("deleted"):
                    had = f"an audience named {name!r} was deleted ({each['id']}), and a name is not given twice"
                    return Refused(had, hint="choose another name")
                there = f"an audience named {name!r} exists already ({each['id']})"
                return Refused(there, hint="use it, or choose another name")
    return None
