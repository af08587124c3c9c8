"""`init`: the service, a login, an ads account, an audience and a list, asked one after the other and kept."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shlex
import sys
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import click

from audiencekit.cli.command_help import Command, plan_option, service_option
from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.kept_settings import choose_account, keep_settings
from audiencekit.cli.login import LoginManner, log_in_here, logged_in, named_place
from audiencekit.cli.options import SourcePath, json_option
from audiencekit.cli.output import insist, leave_with, print_json, say, suggest, tell
from audiencekit.cli.settings import PLACE, audience_type
from audiencekit.errors import AudiencekitError, CredentialsRefused, MappingRefused, SourceRefused, UsageError
from audiencekit.personal import Secret, guarded
from audiencekit.text import shown

if TYPE_CHECKING:
    from audiencekit.settings import Settings


PUBLIC: Final = "x"
REHEARSAL: Final = "emulator"
SETUP: Final = "audiencekit.toml"
MOST_SHOWN: Final = 20  # audiences in the list that a person chooses from
MOST_STDIN_BYTES: Final = 64_000
NONE: Final = "-"
WINDOWS: Final = "cp1252"


@click.command(
    cls=Command,
    examples=("init", 'init --profile x --account 18ce54d4x5t --audience "Spring customers" --from contacts.csv'),
)
@service_option("--profile", help="Which service: spec or x.")
@service_option("--ads-url", metavar="URL", help="The ads API of another service than x.")
@service_option("--base-url", metavar="URL", help="Where people log in there; --ads-url by default.")
@service_option("--account", "account_id", metavar="ID", help="The ads account.")
@service_option("--stdin", "reads_stdin", is_flag=True, help="Read consumer key and secret from stdin, a line each.")
@service_option("--no-browser", is_flag=True, help="Print the address of the login, and open no browser.")
@plan_option("--audience", metavar=PLACE, type=audience_type, help="The custom audience.")
@plan_option("--create-audience", "new_audience", metavar="NAME", type=audience_type, help="Create this one.")
@plan_option("--from", "source", metavar="SOURCE", type=SourcePath(), help="The list that is uploaded to it.")
@plan_option("--encoding", help="Encoding of the list, if it is not UTF-8.")
@plan_option("--consent-column", metavar="NAME=VALUE", help="Only rows with VALUE in this column are uploaded.")
@plan_option("--setup", metavar="FILE", default=SETUP, show_default=True, help="The setup file to write.")
@json_option
def init(
    reads_stdin: bool,
    no_browser: bool,
    audience: str | None,
    new_audience: str | None,
    source: str | None,
    encoding: str | None,
    consent_column: str | None,
    setup: str,
    as_json: bool,
    **given: str | None,
) -> None:
    """Set up the service, the account, an audience and a list.

    It asks at a terminal, and shows what is set: Enter keeps it. Elsewhere options and the environment answer.
    Secrets are typed, or come from the environment or stdin; they are kept as `login` keeps them.
    """
    asks = sys.stdin.isatty()
    try:
        if audience is not None and new_audience is not None:
            raise UsageError("--audience and --create-audience exclude each other")
        keys = _read_keys() if reads_stdin else ()
        settings = _service(given, asks=asks)
        _log_in(settings, keys, opens_browser=not no_browser, asks=asks)
        settings = replace(settings, account_id=_account(settings, asks=asks))
        kept_in = keep_settings(settings, settings.account_id)
        file = _SetupFile.at(Path(setup), settings)
        chosen = _audience(settings, audience, new_audience, file, asks=asks)
        if chosen is not None:
            file = file.completed(chosen, source, encoding, consent_column, asks=asks)
        elif (source, encoding, consent_column) != (None, None, None):
            raise UsageError("a list needs its audience", hint="give --audience, or --create-audience")
        written_in = file.write(settings)
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)
    found = {
        "profile": settings.profile.name,
        "ads_url": settings.address,
        "account_id": settings.account_id,
        "audience_id": None if chosen is None else chosen.audience_id,
        "settings_file": str(kept_in),
        "setup_file": None if written_in is None else str(written_in),
    }
    if as_json:
        print_json(found)
    else:
        _say(found, chosen)
    _suggest(file, chosen, written_in)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The audience that was chosen."""

    audience_id: str
    name: str


def _say(found: dict[str, Any], chosen: Chosen | None) -> None:
    say(f"service   {shown(found['ads_url'])} (profile {found['profile']})")
    say(f"account   {shown(found['account_id'])}")
    if chosen is not None:
        say(f"audience  {shown(chosen.audience_id)} ({shown(chosen.name)})")
    say(f"settings  {shown(found['settings_file'])}")
    if found["setup_file"]:
        say(f"setup     {shown(found['setup_file'])}")


def _suggest(file: _SetupFile, chosen: Chosen | None, written_in: Path | None) -> None:
    if written_in is not None:
        elsewhere = () if file.path == Path(SETUP) else ("--setup", str(file.path))
        suggest("run", file.name, *elsewhere)
    elif chosen is not None:
        suggest("upload LIST --audience", chosen.name)
    else:
        suggest("audiences create NAME")


# --- The service and the login ---


def _service(given: dict[str, str | None], *, asks: bool) -> Settings:
    """The settings with the service that options or the environment name, or that a person chooses.

    Raises UsageError where nothing names it.
    """
    from audiencekit.settings_file import SERVICE

    if given["ads_url"] is not None:
        given = _allowed({**given, "base_url": given["base_url"] or given["ads_url"]})
    settings = command_settings(**given)
    if asks and not any(settings.origins.get(name) in ("option", "environment") for name in SERVICE):
        settings = _ask_service(settings, given["account_id"])
    if not settings.address:
        hint = "give --profile x for the public one, or --ads-url for another; at a terminal `init` asks"
        raise UsageError("the service is not named", hint=hint)
    return settings


def _allowed(given: dict[str, str | None]) -> dict[str, str | None]:
    """These with the hosts of their addresses allowed: the person has typed them for this."""
    try:
        hosts = {urlsplit(given[name] or "").netloc for name in ("ads_url", "base_url")} - {""}
    except ValueError:
        raise UsageError("an address of the service is not of the form https://host[:port][/path]") from None
    return {**given, "allow_host": " ".join(sorted(hosts))}


def _ask_service(settings: Settings, account_id: str | None) -> Settings:
    present = settings.ads_url or (settings.profile.name if settings.profile.ads_url else PUBLIC)
    question = "Service: x is the public one, emulator a rehearsal; or the address of another"
    while True:
        answer = click.prompt(question, default=present, err=True).strip()
        if answer == settings.ads_url or (answer == settings.profile.name and settings.profile.ads_url):
            return settings
        if answer == PUBLIC:
            return command_settings(profile=PUBLIC, account_id=account_id)
        if "://" in answer:
            base = click.prompt("Address where people log in", default=answer, err=True).strip()
            given = {"profile": "spec", "ads_url": answer, "base_url": base, "account_id": account_id}
            return command_settings(**_allowed(given))
        if answer == REHEARSAL:
            insist(
                "Run `audiencekit emulator` in a second terminal. End this with Ctrl-C, paste the `export` lines that"
                " it prints here, and run `audiencekit init` again."
            )
        else:
            insist("write x, emulator, or an address that begins with https://")


def _read_keys() -> tuple[Secret, ...]:
    """The pair of the application, and perhaps that of a person, from standard input. Raises UsageError."""
    if sys.stdin.isatty():
        raise UsageError("standard input is a terminal", hint="pipe the secrets into it; or leave --stdin out to type")
    lines = _lines_of(Secret(sys.stdin.buffer.read(MOST_STDIN_BYTES).decode("utf-8-sig", "replace")))
    if len(lines) not in (2, 4):
        told = "consumer key and consumer secret, each on its line; a token and its secret may follow"
        raise UsageError(f"standard input has {len(lines)} lines of secrets", hint=told)
    return lines


@guarded
def _lines_of(text: Secret) -> tuple[Secret, ...]:
    return tuple(Secret(line.strip()) for line in text.unwrap().splitlines() if line.strip())


def _log_in(settings: Settings, keys: tuple[Secret, ...], *, opens_browser: bool, asks: bool) -> None:
    """Keep a token of a person, unless there is one. Raises as `log_in`."""
    from audiencekit.settings import SECRET_NAMES
    from audiencekit.state.credentials import StoredCredentials

    if len(keys) == len(SECRET_NAMES):
        place = settings.open_store().keep(StoredCredentials(secrets=dict(zip(SECRET_NAMES, keys, strict=True))))
        tell(f"the token is kept in the {named_place(place)}")
        return
    found = settings.find_credentials()
    origin = found.origins.get("token")
    if origin is not None and not keys:
        whose = f" of {shown(found.screen_name)}" if found.screen_name else ""
        insist(f"the token{whose} from the {named_place(origin)} is used")
        if not asks or origin == "environment" or not click.confirm("Log in again?", default=False, err=True):
            return
    how = LoginManner(opens_browser=opens_browser)
    tell(logged_in(log_in_here(settings, how, application=(keys[0], keys[1]) if keys else None)))


def _account(settings: Settings, *, asks: bool) -> str:
    """The ads account that is named, or that a person chooses, or the only one. Raises UsageError for none of these."""
    import asyncio

    from audiencekit.api.login import list_ads_accounts

    accounts = asyncio.run(list_ads_accounts(settings))
    ids, present = [each.account_id for each in accounts], settings.account_id
    if not accounts:
        told = (
            "its user needs a role in an ads account, and the application access to the ads API: see docs/accounts.md"
        )
        raise CredentialsRefused("this login has no ads account", hint=told)
    one_of = f"give one of them with --account: {', '.join(ids)}"
    if present is not None and settings.origins.get("account_id") in ("option", "environment"):
        if present not in ids:
            raise UsageError(f"account {present} is not one of this login", hint=one_of)
        return present
    if asks:
        return choose_account(accounts, present)
    if present in ids:
        return str(present)
    if len(ids) > 1:
        raise UsageError(f"this login has {len(ids)} ads accounts", hint=one_of)
    return ids[0]


# --- The audience ---


def _audience(settings: Settings, given: str | None, new: str | None, file: _SetupFile, *, asks: bool) -> Chosen | None:
    """The audience that is named, created or chosen; None for none."""
    if not asks and new is None:
        given = given or file.audience or None
        if given is None:
            return None
    names = _names_of_audiences(settings)
    if new is not None:
        return _created(settings, new)
    if given is None:
        return _ask_audience(settings, names, file.audience)
    from audiencekit.destinations.known_audiences import unique_id

    audience_id = given if given in names else unique_id(given, names)
    return Chosen(audience_id, names[audience_id])


def _names_of_audiences(settings: Settings) -> dict[str, str]:
    """{id: name} of the audiences of the account, as the service lists them."""
    import asyncio

    from audiencekit.api.opening import open_client
    from audiencekit.destinations.known_audiences import KnownAudiences

    async def ask() -> dict[str, str]:
        async with open_client(settings) as client:
            pages = client.iterate_custom_audiences()
            return {each["id"]: str(each.get("name", "")) async for page in pages for each in page.data}

    names = asyncio.run(ask())
    KnownAudiences(settings.state_dir, settings.account_id).note(names)
    return names


def _ask_audience(settings: Settings, names: dict[str, str], present: str) -> Chosen | None:
    ids = sorted(names, key=lambda one: (one != present, names[one].casefold()))
    if ids:
        insist("Audiences of the account:")
    for number, one in enumerate(ids[:MOST_SHOWN], start=1):
        insist(f"  {number}  {shown(one)}  {shown(names[one])}")
    if len(ids) > MOST_SHOWN:
        insist(f"  and {len(ids) - MOST_SHOWN:,} more, by their names")
    kept = "1" if present in names else ""
    told = "Number of the audience, or the name of a new one" + ("" if kept else " (Enter for none)")
    while True:
        answer = click.prompt(told, default=kept, show_default=bool(kept), err=True).strip()
        if not answer:
            return None
        if answer.isdecimal() and 1 <= int(answer[:9]) <= min(len(ids), MOST_SHOWN):
            return Chosen(one := ids[int(answer) - 1], names[one])
        same = [one for one in ids if answer in (one, names[one])]
        if len(same) == 1:
            return Chosen(same[0], names[same[0]])
        if answer.isdecimal() and not same:
            insist(f"write a number from 1 to {len(ids):,}, or a name" if ids else "write a name")
        elif not same and click.confirm(shown(f"Create the audience {answer!r}?"), default=True, err=True):
            return _created(settings, answer)


def _created(settings: Settings, name: str) -> Chosen:
    """A new audience. Raises Refused for a name that identifies a person, or that is taken."""
    import asyncio

    from audiencekit.api.opening import open_client
    from audiencekit.destinations.audience_names import check_name
    from audiencekit.destinations.known_audiences import KnownAudiences, create_audience

    async def ask() -> dict[str, Any]:
        async with open_client(settings) as client:
            return await create_audience(client, name)

    for note in check_name(name):
        tell(f"note: {note}")
    made = asyncio.run(ask())
    KnownAudiences(settings.state_dir, settings.account_id).note({made["id"]: name})
    return Chosen(str(made["id"]), name)


# --- The setup file: one audience with its list, for the next time ---


@dataclass(frozen=True, slots=True, kw_only=True)
class _SetupFile:
    """A setup file of one audience at `path`, and its values; empty where they are not known.

    It `is_of_others` when there is a file that `init` has not written so: it stays as it is.
    """

    path: Path
    name: str = ""
    audience: str = ""
    source: str = ""
    encoding: str = ""
    consent_column: str = ""
    is_of_others: bool = False

    @classmethod
    def at(cls, path: Path, settings: Settings) -> _SetupFile:
        """That of an earlier `init`, a new one, or one of others."""
        from audiencekit.audiences.setups.document import read_setup
        from audiencekit.audiences.setups.setup import TrustedSetups

        if not os.path.lexists(path):
            return cls(path=path)
        try:
            (one,) = read_setup(TrustedSetups(settings.state_dir).check(path)).audiences
            (source,) = map(str, one.sources)
        except (UsageError, AudiencekitError, ValueError):  # several audiences or lists
            return cls(path=path, is_of_others=True)
        here = f"{path.absolute().parent}{os.sep}"
        found = cls(
            path=path,
            name=one.name,
            audience=one.audience,
            source=source.removeprefix(here),
            encoding=str(one.keywords.get("encoding", "")),
            consent_column=str(one.keywords.get("consent_column", "")),
        )
        is_ours = path.read_bytes() == found.text().encode("utf-8", "surrogateescape")
        return found if is_ours else cls(path=path, is_of_others=True)

    def completed(
        self, chosen: Chosen, source: str | None, encoding: str | None, consent: str | None, *, asks: bool
    ) -> _SetupFile:
        """This with the audience, its list, encoding and column of consent. Raises UsageError for what cannot be."""
        from audiencekit.sources.remote.addresses import is_address

        if self.is_of_others:
            if source is not None:
                hint = "name another file with --setup; or add the audience to this one: see docs/nightly.md"
                raise UsageError(f"{str(self.path)!r} is there, and `init` has not written it so", hint=hint)
            tell(f"note: {shown(self.path)} is there already, and stays as it is")
            return self
        if source is None and asks:
            source, found = _ask_list(self.source, self.encoding)
            encoding = found if source and encoding is None else encoding
        is_kept, source = (source, encoding) == (None, None), self.source if source is None else source
        if not source:
            if (encoding, consent) != (None, None):
                raise UsageError("an encoding or a column of consent needs its list", hint="give the list with --from")
            return replace(self, source="")
        encoding = self.encoding if encoding is None else encoding
        if not is_kept:
            _check_source(source)
            _check_encoding(encoding, source)
            _check_list(source, encoding)
        if consent is not None:
            _check_consent(consent, source, encoding)
        else:
            consent = _ask_consent(self.consent_column, source, encoding) if asks else self.consent_column
        if not is_address(source) and self.path.absolute().parent != Path.cwd():
            source = str(Path(source).absolute())  # a setup counts paths from its own directory
        slug = re.sub(r"[^a-z0-9]+", "-", chosen.name.casefold()).strip("-")[:64].strip("-")
        return replace(
            self,
            name=slug or chosen.audience_id,
            audience=chosen.audience_id,
            source=source,
            encoding=encoding,
            consent_column=consent,
        )

    def text(self) -> str:
        """The content of the file."""
        from audiencekit.settings_file import toml_text

        encoding = f"encoding = {toml_text(self.encoding)}\n" if self.encoding else ""
        consent = f"consent_column = {toml_text(self.consent_column)}\n" if self.consent_column else ""
        return (
            f"# Written by `audiencekit init`. `audiencekit run {self.name}` uploads the list. See docs/nightly.md.\n"
            f"[audiences.{self.name}]\n"
            f"source = {toml_text(self.source)}\n"
            f"{encoding}"
            f"audience = {toml_text(self.audience)}\n"
            'command = "upload"  # adds the people of the list; "sync" makes the audience equal to the list\n'
            f"{consent}"
        )

    def write(self, settings: Settings) -> Path | None:
        """Write the file, and remember it, so that `run` takes it here; None where there is no list, or another file.

        Raises DefinitionRefused, with the file as it was, for a list that a setup cannot name, and InputOutputFailed.
        """
        from audiencekit.audiences.setups.document import read_setup
        from audiencekit.audiences.setups.setup import TrustedSetups
        from audiencekit.state.files import explained

        if not self.source or self.is_of_others:
            return None
        aside = self.path.with_name(f".{self.path.name}-{secrets.token_hex(8)}")
        try:
            with explained("the setup cannot be written", self.path, hint="name another file with --setup"):
                aside.write_text(self.text(), encoding="utf-8")
                read_setup(aside)
                os.replace(aside, self.path)
        except UnicodeEncodeError:
            raise UsageError("a setup cannot name this list: its name is not UTF-8", hint="rename it") from None
        finally:
            aside.unlink(missing_ok=True)
        TrustedSetups(settings.state_dir).remember(self.path)
        return self.path.absolute()


def _check_source(source: str) -> None:
    """Raises UsageError for a list that is not there, or that a setup cannot name."""
    from audiencekit.sources.bytes.files import RegularFile, shown_path
    from audiencekit.sources.remote.addresses import SourceAddress, is_address

    if source == "-":
        raise UsageError("standard input cannot be named in a setup", hint="name a file, or leave the list out")
    if is_address(source):
        SourceAddress.read(source)
    elif not os.path.isdir(source):
        try:
            RegularFile(source)
        except SourceRefused as error:
            raise UsageError(f"{shown_path(source)}: {error}", hint=error.hint) from None


def _as_typed(answer: str) -> str:
    """The path that `answer` means: a file that was dropped on a terminal is in quotes, or has \\ before its blanks."""
    from audiencekit.sources.remote.addresses import is_address

    if is_address(answer) or os.path.lexists(answer):
        return answer
    with contextlib.suppress(ValueError):
        answer = words[0] if len(words := shlex.split(answer)) == 1 else answer
    return os.path.expanduser(answer)


def _check_list(source: str, encoding: str) -> None:
    """Raises UsageError for a list that no upload would take without further options, which `init` does not know."""
    from audiencekit.sources.bytes.files import shown_path
    from audiencekit.sources.options import SourceOptions
    from audiencekit.sources.remote.addresses import is_address
    from audiencekit.sources.source import open_source

    if is_address(source):
        return
    try:
        open_source(source, SourceOptions(encoding=encoding or None, puts_in=True))
    except (SourceRefused, MappingRefused) as error:
        told = str(error).removeprefix(f"{shown_path(source)}: ")
        hint = f"{error.hint}; or leave the list out here, and give it with its options to `upload`".removeprefix(
            "; or "
        )
        raise UsageError(f"{shown_path(source)}: {told}", hint=hint) from None


def _ask_list(source: str, encoding: str) -> tuple[str, str]:
    """The list and its encoding, which are these now; both empty for none."""
    while True:
        told = "Your list, a file" + (" (- for none)" if source else " (Enter for none)")
        answer = click.prompt(told, default=source, show_default=bool(source), err=True).strip()
        if answer in ("", NONE):
            return "", ""
        try:
            _check_source(answer := _as_typed(answer))
            chosen = _ask_encoding(encoding, answer)
            _check_list(answer, chosen)
        except UsageError as error:
            _tell_wrong(error)
        else:
            return answer, chosen


def _is_readable(source: str, encoding: str) -> bool:
    """Whether the first rows of a delimited text are text in this encoding; blank is UTF-8, or as the list says itself.

    Raises UsageError for an encoding that is none, or contradicts the list.
    """
    from audiencekit.sources.bytes.files import shown_path
    from audiencekit.sources.csv.records import BROKEN, NOT_UTF_8, first_rows

    try:
        cells = chain.from_iterable(first_rows(source, encoding or None).columns)
    except UsageError:
        raise
    except (AudiencekitError, OSError) as error:
        if encoding and isinstance(error, SourceRefused):
            raise UsageError(f"{shown_path(source)}: {error}", hint=error.hint) from None
        return str(error) != NOT_UTF_8  # other forms are looked at when they are read
    return not any(map(BROKEN.search, cells))


def _check_encoding(encoding: str, source: str) -> None:
    """Raises UsageError where the list is not text in this encoding."""
    if not _is_readable(source, encoding):
        raise UsageError(
            f"the list is not text in {encoding or 'UTF-8'}",
            hint="give its encoding with `encoding=`, for example cp1252, which Windows calls ANSI in Western Europe"
            " and America; or save it as CSV UTF-8",
        )


def _ask_encoding(present: str, source: str) -> str:
    if _is_readable(source, ""):
        return ""
    while True:
        told = f"The list is not UTF-8. Its encoding ({WINDOWS} is what Windows calls ANSI)"
        answer = click.prompt(told, default=present or WINDOWS, err=True).strip()
        try:
            _check_encoding(answer, source)
        except UsageError as error:
            _tell_wrong(error)
        else:
            return answer


def _check_consent(consent: str, source: str, encoding: str) -> None:
    """Raises UsageError for what is not NAME=VALUE, for a column that the list has not, and for an answer in no row."""
    from audiencekit.planning.options import Keywords, read_keywords
    from audiencekit.profile import SPEC
    from audiencekit.records.records import fold_consent
    from audiencekit.sources.columns.consent import find_consent

    keywords: Keywords = {"consent_column": consent}
    read_keywords(keywords, SPEC)
    columns = _columns(source, encoding)
    name, _, value = consent.rpartition("=")
    if not columns:
        return
    if name not in columns:
        raise UsageError("the list has no such column", hint=f"it has {', '.join(columns)}")
    cells = columns[name]
    if cells and fold_consent(value) not in set(map(fold_consent, cells)):
        found = find_consent(name, cells)
        known = f": those who agree have {found.word!r} there" if found and found.word else ""
        raise UsageError(
            f"none of the first {len(cells):,} rows has this answer in the column{known}", hint="look at the list"
        )


def _ask_consent(present: str, source: str, encoding: str) -> str:
    if columns := _columns(source, encoding):
        insist(f"Columns of the list: {', '.join(map(shown, columns))}")
    present = present or _likely_consent(columns)
    none = "- for none" if present else "Enter for none"
    while True:
        told = f"Column with the consent, such as marketing=yes ({none})"
        answer = click.prompt(told, default=present, show_default=bool(present), err=True).strip()
        if answer in ("", NONE):
            return ""
        try:
            _check_consent(answer, source, encoding)
        except UsageError as error:
            _tell_wrong(error)
        else:
            return answer


def _likely_consent(columns: dict[str, tuple[str, ...]]) -> str:
    """NAME=VALUE of the only column in which some people refuse; empty where there is none, or more than one."""
    from audiencekit.sources.columns.consent import find_consent

    found = [(name, consent.word) for name, cells in columns.items() if (consent := find_consent(name, cells))]
    return f"{found[0][0]}={found[0][1]}" if len(found) == 1 and found[0][1] else ""


def _columns(source: str, encoding: str) -> dict[str, tuple[str, ...]]:
    """The first cells of each column of a delimited text; empty for other forms, looked at when they are read."""
    from audiencekit.sources.csv.records import first_rows

    try:
        sample = first_rows(source, encoding or None)
    except (AudiencekitError, OSError):
        return {}
    return dict(zip(sample.names or (), sample.columns, strict=False))


def _tell_wrong(error: UsageError) -> None:
    insist(f"{error}" + (f"; {error.hint}" if error.hint else ""))
