"""To log in, which keeps a token of a person, and to log out, which ends and removes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from audiencekit.api.login.callback import Callback
from audiencekit.api.login.legs import OUT_OF_BAND, Grant, application_only, begin_authorization, finish, invalidate
from audiencekit.api.oauth import Credentials
from audiencekit.errors import CredentialsRefused, ExchangeError, HostRefused
from audiencekit.machine.credentialstore import APPLICATION, SECRET_NAMES, TOKEN, CredentialPlace, StoredCredentials
from audiencekit.personal import Secret
from audiencekit.settings import PREFIX, Settings

Confirm = Callable[[Grant], bool]  # whether the account is the right one
Show = Callable[[str], None]  # takes the address of the page where the person says yes
AskPin = Callable[[], Secret]


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """The user who logged in, and where the token is kept. `is_overruled`: one from the environment comes first."""

    user_id: str
    screen_name: str
    kept_in: CredentialPlace
    is_overruled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Logout:
    """Where credentials were removed from, and whether the service knows: True, False when it did not have to, or None
    when it could not be told, for the reason in `failure`."""

    removed_from: tuple[CredentialPlace, ...]
    invalidated: bool | None
    failure: str = ""


async def log_in(
    settings: Settings,
    *,
    show: Show,
    ask_pin: AskPin | None = None,
    confirm: Confirm | None = None,
    may_write: bool = True,
    application: tuple[Secret, Secret] | None = None,
    callback: Callback | None = None,
) -> Login:
    """Logs a person in by a browser that comes back to `callback`, or by the PIN that `ask_pin` returns.

    `confirm` is asked before anything is kept whether the account is the right one; for no the token is ended. Unless
    it `may_write`, the token is one that reads. `application` is its key pair, which is then kept with the token; else
    it is that of the settings. Raises CredentialsRefused without one, when access was not given, when no one said yes
    in time, and for the wrong account; an ExchangeError, UsageError and HostRefused; InputOutputFailed when the token
    cannot be kept.
    """
    store, found = settings.open_store(), settings.find_credentials()
    if application is None:
        asking, is_ours = application_of(found.secrets), found.origins["application"] != "environment"
    else:
        asking, is_ours = application_only(*application), True
    if ask_pin is not None:
        pending = await begin_authorization(settings, asking, OUT_OF_BAND, may_write=may_write)
        show(pending.page(settings.require_base_url()))
        verifier = ask_pin()
    else:
        async with callback or Callback() as returned:
            pending = await begin_authorization(settings, asking, returned.url, may_write=may_write)
            returned.expect(pending.request_token)
            show(pending.page(settings.require_base_url()))
            verifier = await returned.receive()
    grant = await finish(settings, pending, verifier)
    if confirm is not None:
        await _require_right(settings, grant, confirm)
    place = store.keep(_stored(grant, with_application=is_ours))
    overruled = any(name in settings.own_secrets for name in TOKEN)
    return Login(user_id=grant.user_id, screen_name=grant.screen_name, kept_in=place, is_overruled=overruled)


def application_of(secrets: Mapping[str, Secret]) -> Credentials:
    """The key pair of the application among `secrets`. Raises CredentialsRefused naming what is missing."""
    if missing := [PREFIX + name.upper() for name in APPLICATION if name not in secrets]:
        raise CredentialsRefused(
            f"the keys of the application are missing: {', '.join(missing)}",
            hint="set them in the environment, or log in at a terminal, which asks for them",
        )
    return application_only(*(secrets[name] for name in APPLICATION))


async def _require_right(settings: Settings, grant: Grant, confirm: Confirm) -> None:
    """Raises CredentialsRefused when it is the wrong account, and ends its token; also when no one says which."""
    ended, is_right = "its token was ended", False
    try:
        is_right = confirm(grant)
    finally:
        if not is_right:
            try:
                await invalidate(settings, grant.credentials)
            except (ExchangeError, HostRefused):
                ended = "its token is good until its owner revokes it"
    if not is_right:
        raise CredentialsRefused(
            f"this is not the right account: nothing was kept, and {ended}",
            hint="log out of the service in the browser, and begin again",
        )


def _stored(grant: Grant, *, with_application: bool) -> StoredCredentials:
    secrets = {name: getattr(grant.credentials, name) for name in SECRET_NAMES}
    if not with_application:
        # The key stays, to tell whose token it is; the secret is where it was found.
        del secrets["consumer_secret"]
    return StoredCredentials(secrets=secrets, user_id=grant.user_id, screen_name=grant.screen_name)


async def log_out(settings: Settings) -> Logout:
    """Ends the kept token at the service and removes all that `log_in` kept, which it does even when the service
    cannot be told. A token of the environment stays. Raises as the CredentialStore does."""
    store = settings.open_store()
    tokens = [stored.secrets for _, stored in store.read() if all(name in stored.secrets for name in TOKEN)]
    invalidated, failure = False, ""
    for secrets in tokens:
        try:
            keys = application_of({**_application_in_use(settings, secrets), **secrets})
            ended = await invalidate(settings, replace(keys, **{name: secrets[name] for name in TOKEN}))
            invalidated = invalidated or ended
        except (CredentialsRefused, ExchangeError, HostRefused) as error:
            failure = str(error)
    removed = store.remove()
    return Logout(removed_from=removed, invalidated=None if failure else invalidated, failure=failure)


def _application_in_use(settings: Settings, secrets: Mapping[str, Secret]) -> Mapping[str, Secret]:
    # Signed by another application, a token would look as if it were worth nothing already.
    given = settings.secrets
    return given if given.get("consumer_key") == secrets.get("consumer_key") else {}
