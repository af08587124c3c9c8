"""`login`, `logout`, `whoami`: the token of a person. Nothing here prints a secret, nor takes one as an argument."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from audiencekit.cli.command_help import Command
from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.kept_settings import keep_after_login
from audiencekit.cli.options import dry_run_option, json_option
from audiencekit.cli.output import insist, leave_with, print_json, say, suggest, tell
from audiencekit.errors import AudiencekitError, UsageError
from audiencekit.text import shown

if TYPE_CHECKING:
    from audiencekit.api.login import Grant, Login
    from audiencekit.personal import Secret
    from audiencekit.settings import Settings


T = TypeVar("T")
_profile_option = click.option("--profile", help="Which service: spec or x.")
_account_option = click.option("--account", metavar="NAME", help="The token of this account of your setups alone.")


@click.command(cls=Command, examples=("login", "login --pin --read-only"))
@click.option("--pin", is_flag=True, help="Enter a PIN from the browser; for a browser on another machine.")
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
@click.option("--read-only", is_flag=True, help="Ask for a token that can only read.")
@click.option(
    "--callback-port", type=click.IntRange(1, 65_535), metavar="N",
    help="Port on loopback that the browser comes back to; a free one by default.",
)  # fmt: skip
@click.option("--yes", is_flag=True, help="Do not ask whether the account is the right one.")
@_account_option
@_profile_option
@json_option
def login(
    pin: bool,
    no_browser: bool,
    read_only: bool,
    callback_port: int | None,
    yes: bool,
    as_json: bool,
    **whose: str | None,
) -> None:
    """Log in with a browser, and keep the token.

    The token is kept in the keyring, or in a file that only you can read.
    """
    if pin and callback_port is not None:
        raise UsageError("--callback-port and --pin exclude each other")
    how = LoginManner(pin=pin, opens_browser=not no_browser, may_write=not read_only, port=callback_port, asks=not yes)
    try:
        settings = _settings(**whose)
        done = log_in_here(settings, how)
        kept_account = None if settings.account_name else keep_after_login(settings)
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)
    if as_json:
        names = {"user_id": done.user_id, "screen_name": done.screen_name, "kept_in": done.kept_in}
        print_json({**names, "account_id": kept_account})
    else:
        say(logged_in(done))
    if not settings.account_name:
        suggest("init" if kept_account is None else "audiences create NAME")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginManner:
    """How a person logs in: by a PIN, or a browser that comes back to `port`; and what is asked."""

    pin: bool = False
    opens_browser: bool = True
    may_write: bool = True
    port: int | None = None
    asks: bool = True


def log_in_here(settings: Settings, how: LoginManner, *, application: tuple[Secret, Secret] | None = None) -> Login:
    """Log a person in at this terminal, with their browser, and keep the token. Raises as `log_in`."""
    import asyncio  # which would take a third of the time of `--help`
    import sys

    from audiencekit.api.login import Callback, log_in
    from audiencekit.cli.browser import Browser

    with Browser() as browser:

        def show(page: str) -> None:
            insist(f"open this address in a browser, and allow access: {page}", level=None)  # it holds a token
            if how.opens_browser and not browser.open(page):
                tell("no browser could be opened here")

        done = asyncio.run(
            log_in(
                settings,
                show=show,
                ask_pin=_ask_pin if how.pin else None,
                confirm=_is_right if how.asks and sys.stdin.isatty() else None,
                may_write=how.may_write,
                application=application or _ask_application(settings),
                callback=Callback(port=how.port or 0),
            )
        )
    if done.is_overruled:
        tell("note: the token in the environment is used before this one")
    return done


def logged_in(done: Login) -> str:
    """A sentence on who logged in, and where the token is."""
    who = f"{shown(done.screen_name)} ({shown(done.user_id)})"
    return f"logged in as {who}; the token is kept in the {named_place(done.kept_in)}"


@click.command(cls=Command, examples=("logout", "logout --json"))
@_account_option
@_profile_option
@dry_run_option
@json_option
def logout(dry_run: bool, as_json: bool, **whose: str | None) -> None:
    """End the token, and remove it from this machine.

    The service ends the token, too.
    """
    from audiencekit.api.login import log_out

    if dry_run:
        _foresee_logout(as_json, **whose)

    done = _run(log_out, as_json, **whose)
    if done.failure:
        tell(f"note: the token works at the service until its owner revokes it: {done.failure}")
    if as_json:
        print_json({"removed_from": list(done.removed_from), "invalidated": done.invalidated})
    elif not done.removed_from:
        say("you were not logged in")
    else:
        say(f"logged out; removed from the {' and the '.join(map(named_place, done.removed_from))}")


def _foresee_logout(as_json: bool, **whose: str | None) -> NoReturn:
    """Say what would be removed, and where, and leave."""
    import sys

    places = [place for place, _ in _settings(**whose).open_store().read()]
    tell("dry run: nothing was changed")
    if as_json:
        print_json({"dry_run": True, "would_remove_from": places})
    else:
        kept = " and the ".join(map(named_place, places))
        say(f"would end the token, and remove it from the {kept}" if places else "you are not logged in")
    sys.exit(0)


@click.command(cls=Command, examples=("whoami", "whoami --json"))
@_account_option
@_profile_option
@json_option
def whoami(as_json: bool, **whose: str | None) -> None:
    """Show which credentials are used.

    It says where they are from, and what they may do.
    """
    from dataclasses import asdict

    from audiencekit.api.login import who_am_i

    who = _run(who_am_i, as_json, **whose)
    if as_json:
        print_json(asdict(who))
        return
    permissions = "no account is set" if who.permissions is None else ", ".join(map(shown, who.permissions)) or "none"
    name = f" ({shown(who.screen_name)})" if who.screen_name else ""
    say(f"user         {shown(who.user_id or 'unknown')}{name}")
    say(f"service      {who.ads_url} (profile {who.profile})")
    say(f"application  from the {named_place(who.application)}")
    say(f"token        from the {named_place(who.token)}")
    say(f"account      {who.account_id or 'none'}")
    say(f"permissions  {permissions}")
    say(f"accounts     {', '.join(map(shown, who.accounts)) or 'none'}")


def _settings(account: str | None = None, **given: str | None) -> Settings:
    settings = command_settings(**given)
    return settings if account is None else settings.for_account(account)


def _run(work: Callable[[Settings], Coroutine[Any, Any, T]], as_json: bool, **whose: str | None) -> T:
    import asyncio  # which would take a third of the time of `--help`

    try:
        return asyncio.run(work(_settings(**whose)))
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)


def named_place(origin: str) -> str:
    """The place of a pair of credentials in words."""
    return "file of the state directory" if origin == "file" else origin


def _is_right(grant: Grant) -> bool:
    """The person's answer about the account; another person may have answered in the browser."""
    who = f"{shown(grant.screen_name)} ({shown(grant.user_id)})"
    with _interruptible():
        return click.confirm(f"Is {who} the account that you want to use?", err=True)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C ends a question at once; asyncio would only note it, and the terminal go on waiting."""
    import signal

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _ask_application(settings: Settings) -> tuple[Secret, Secret] | None:
    """The key pair of the application from the terminal, unless it is known, or there is no terminal."""
    import sys

    if "application" in settings.find_credentials().origins or not sys.stdin.isatty():
        return None
    insist("The keys of your application are not known yet; they are kept with the token.")
    return _ask("consumer key"), _ask("consumer secret")


def _ask_pin() -> Secret:
    """From the terminal, or the first line of stdin."""
    import sys

    from audiencekit.personal import Secret

    pin = _ask("PIN") if sys.stdin.isatty() else Secret(sys.stdin.readline().strip())
    if not pin.unwrap():
        raise UsageError("no PIN was entered", hint="copy it from the page in the browser")
    return pin


def _ask(what: str) -> Secret:
    from audiencekit.personal import Secret

    with _interruptible():
        return Secret(click.prompt(what, hide_input=True, err=True).strip())
