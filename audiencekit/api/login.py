"""The login of a person: three steps of OAuth, the page that the browser returns to, the identity, and the logout."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Final, Literal, Self
from urllib.parse import parse_qsl, urlsplit

from audiencekit.api.answers import require_list
from audiencekit.api.calls import find_endpoint
from audiencekit.api.client import AdsClient
from audiencekit.api.oauth import Credentials, encode_pairs
from audiencekit.api.opening import open_calls
from audiencekit.errors import (
    CredentialsRefused,
    ExchangeError,
    HostRefused,
    InputOutputFailed,
    MalformedAnswer,
    Unauthorized,
)
from audiencekit.limits import CALLBACK_READ_SECONDS, LOGIN_SECONDS, MAX_CALLBACK_BYTES
from audiencekit.personal import Secret, guarded
from audiencekit.settings import PREFIX, Origin, Settings
from audiencekit.state.credentials import APPLICATION, SECRET_NAMES, TOKEN, CredentialPlace, StoredCredentials

# --- The three legs of OAuth 1.0a that an application takes, and the end of a token (specification part 0, sections
# 4.1 to 4.5). The second leg is the browser's ---

OUT_OF_BAND: Final = Secret("oob")  # in the place of a callback: the service shows a PIN
NO_TOKEN: Final = Secret("")
_WORTHLESS: Final = "89"  # specification part 0, section 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """An authorization that its person has not approved yet; the token of `credentials` is the request token."""

    credentials: Credentials

    @property
    def request_token(self) -> Secret:
        """The token that the answer of the browser must name."""
        return self.credentials.access_token

    @guarded
    def page(self, base_url: str) -> str:
        """Return the address where the person approves. It contains the request token, which is useless alone."""
        path = find_endpoint("oauth_authorize").path
        return f"{base_url}{path}?{encode_pairs([('oauth_token', self.credentials.access_token.unwrap())])}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The approval of a person: a token in `credentials`, and who they are."""

    credentials: Credentials
    user_id: str
    screen_name: str


async def begin_authorization(
    settings: Settings, application: Credentials, callback: Secret, *, may_write: bool = True
) -> Pending:
    """Return a pending authorization that returns to `callback`, or gives a PIN. Raises an ExchangeError.

    Unless `may_write`, its token can only read.
    """
    access: Literal["read"] | None = None if may_write else "read"
    async with open_calls(settings, application) as calls:
        answer = await calls.call(
            "oauth_request_token", {"oauth_callback": callback.unwrap(), "platform_auth_access_type": access}
        )
    if answer.data.get("oauth_callback_confirmed") != "true":
        raise MalformedAnswer("the service did not confirm the callback", status=answer.status)
    return Pending(credentials=_with_token(application, answer.data, answer.status))


async def finish(settings: Settings, pending: Pending, verifier: Secret) -> Grant:
    """Return the token of the approved authorization. Raises CredentialsRefused for a wrong verifier.

    Raises an ExchangeError, too.
    """
    try:
        async with open_calls(settings, pending.credentials) as calls:
            answer = await calls.call("oauth_access_token", {"oauth_verifier": verifier.unwrap()})
    except Unauthorized as error:
        refusal = CredentialsRefused(f"the service gave no token: {error}", hint="begin again with `audiencekit login`")
    else:
        credentials = _with_token(pending.credentials, answer.data, answer.status)
        names = {name: str(answer.data.get(name, "")) for name in ("user_id", "screen_name")}
        return Grant(credentials=credentials, **names)
    raise refusal


async def invalidate(settings: Settings, credentials: Credentials) -> bool:
    """Return whether this call ended the token; False if it was invalid already. Raises an ExchangeError."""
    try:
        async with open_calls(settings, credentials) as calls:
            await calls.call("oauth_invalidate_token")
    except Unauthorized as error:
        if _WORTHLESS not in error.codes:
            raise
        return False
    return True


def application_only(key: Secret, secret: Secret) -> Credentials:
    """The key pair of an application, without a person."""
    return Credentials(consumer_key=key, consumer_secret=secret, access_token=NO_TOKEN, access_token_secret=NO_TOKEN)


def _with_token(credentials: Credentials, data: object, status: int) -> Credentials:
    pair = [data.get(name) for name in ("oauth_token", "oauth_token_secret")] if isinstance(data, dict) else []
    match pair:
        case [Secret() as token, Secret() as secret] if NO_TOKEN not in pair:
            return replace(credentials, access_token=token, access_token_secret=secret)
        case _:
            raise MalformedAnswer("the service answered without a token", status=status)


# --- Login, which stores a token of a person, and logout, which ends and removes it ---

Confirm = Callable[[Grant], bool]  # whether the account is the right one
Show = Callable[[str], None]  # takes the address of the page where the person says yes
AskPin = Callable[[], Secret]


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """The user who logged in, and where the token is stored. `is_overruled`: the environment has another one."""

    user_id: str
    screen_name: str
    kept_in: CredentialPlace
    is_overruled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Logout:
    """Where credentials were removed from, and whether the token was ended at the service.

    `invalidated` is True, False when nothing had to be ended, or None when the service could not be told, for the
    reason in `failure`.
    """

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
    """Log a person in with a browser that returns to `callback`, or with the PIN that `ask_pin` returns.

    `confirm` is asked, before anything is stored, whether the account is the right one; if it is not, the token is
    ended. Unless `may_write`, the token can only read. `application` is its key pair, which is then stored with the
    token; by default it is that of the settings. Raises CredentialsRefused without one, when access was not given, when
    the person did not approve in time, and for the wrong account; an ExchangeError, UsageError and HostRefused;
    InputOutputFailed when the token cannot be stored.
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
    """Return the key pair of the application among `secrets`. Raises CredentialsRefused with the missing names."""
    if missing := [PREFIX + name.upper() for name in APPLICATION if name not in secrets]:
        raise CredentialsRefused(
            f"the keys of the application are missing: {', '.join(missing)}",
            hint="set them in the environment, or log in at a terminal, which asks for them",
        )
    return application_only(*(secrets[name] for name in APPLICATION))


async def _require_right(settings: Settings, grant: Grant, confirm: Confirm) -> None:
    """Raise CredentialsRefused for the wrong account, and end its token; also if no account can be confirmed."""
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
    """End the stored token at the service, and remove all that `log_in` stored.

    It is removed even when the service cannot be told. A token in the environment stays. Raises as the CredentialStore
    does.
    """
    store = settings.open_store()
    tokens = [stored.secrets for _, stored in store.read() if all(name in stored.secrets for name in TOKEN)]
    invalidated, failure = False, ""
    for found in tokens:
        try:
            keys = application_of({**_application_in_use(settings, found), **found})
            ended = await invalidate(settings, replace(keys, **{name: found[name] for name in TOKEN}))
            invalidated = invalidated or ended
        except (CredentialsRefused, ExchangeError, HostRefused) as error:
            failure = str(error)
    removed = store.remove()
    return Logout(removed_from=removed, invalidated=None if failure else invalidated, failure=failure)


def _application_in_use(settings: Settings, secrets: Mapping[str, Secret]) -> Mapping[str, Secret]:
    # Signed by another application, a token would look as if it were worth nothing already.
    given = settings.secrets
    return given if given.get("consumer_key") == secrets.get("consumer_key") else {}


# --- The callback of the browser: a server on loopback that takes one answer and shows a page without secrets ---

HOST: Final = "127.0.0.1"
PATH: Final = "/callback"
STATE_BYTES: Final = 32  # of the secret in the address
_HEADERS: Final = (
    "Content-Type: text/html; charset=utf-8",
    "Cache-Control: no-store",
    "Referrer-Policy: no-referrer",
    "Content-Security-Policy: default-src 'none'; style-src 'sha256-{style}'",
    "X-Content-Type-Options: nosniff",
    "Connection: close",
)
_DONE: Final = "You are logged in. You can close this tab."
_DECLINED: Final = "Access was not given. You can close this tab."
_NOT_HERE: Final = "There is nothing here."
_STYLE: Final = (
    ":root{color-scheme:light dark}"
    "body{margin:0;min-height:100vh;display:grid;place-items:center;font:1.25rem/1.5 system-ui,sans-serif;"
    "background:#fff;color:#1b1f24}"
    "main{margin:1rem;padding:2rem 2.5rem;max-width:26rem;border:1px solid #c9ced6;border-radius:.75rem}"
    "h1{margin:0 0 .5rem;font-size:1rem;color:#57606a}p{margin:0}"
    "@media(prefers-color-scheme:dark){body{background:#14171a;color:#e8eaed}main{border-color:#454c54}"
    "h1{color:#a3abb5}}"
)


@dataclass(frozen=True, slots=True)
class _Answer:
    """The answer of the browser: None when the person declined."""

    verifier: Secret | None


class Callback:
    """Wait for one answer of the browser, for `timeout_seconds`, as an async context manager.

    With `port` 0 the system chooses the port. The answer must name the request token, and the state in the callback
    address. The token is in the address of the page, which others on the machine may see; the state is known only to
    the service and the browser.
    """

    def __init__(self, *, port: int = 0, timeout_seconds: float = LOGIN_SECONDS) -> None:
        self._port, self._timeout_seconds = port, timeout_seconds
        self._server: asyncio.Server | None = None
        self._state = Secret(secrets.token_urlsafe(STATE_BYTES))
        self._expected: Secret | None = None
        self._answer: asyncio.Future[Secret | None]

    async def __aenter__(self) -> Self:
        self._answer = asyncio.get_running_loop().create_future()
        try:
            self._server = await asyncio.start_server(self._serve, HOST, self._port, limit=MAX_CALLBACK_BYTES)
        except OSError as error:
            raise InputOutputFailed(
                f"no callback can be received at port {self._port}: {error.strerror or type(error).__name__}",
                hint="choose another `callback_port=`, or log in with `pin=True`",
            ) from None
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()

    @property
    @guarded
    def url(self) -> Secret:
        """The callback address. The service adds its answer to it, and the browser calls it."""
        return Secret(f"http://{HOST}:{self._port}{PATH}?state={self._state.unwrap()}")

    def expect(self, request_token: Secret) -> None:
        """Accept the answer for this token, and none before."""
        self._expected = request_token

    async def receive(self) -> Secret:
        """Return the verifier. Raises CredentialsRefused when the person declined, or did nothing in time."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                verifier = await self._answer
        except TimeoutError:
            raise CredentialsRefused(
                f"access was not allowed within {self._timeout_seconds:.0f} seconds",
                hint="begin again, or log in with `pin=True`",
            ) from None
        if verifier is None:
            raise CredentialsRefused(
                "access was not given", hint="allow access in the browser, as the owner of the account"
            )
        return verifier

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(CALLBACK_READ_SECONDS):
                head = Secret((await reader.readuntil(b"\r\n\r\n")).decode("latin-1"))
                answer = _read_answer(head, self._state, self._expected)
                if answer is not None and not self._answer.done():
                    self._answer.set_result(answer.verifier)
                writer.write(_page_of(answer))
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            # A client that is no browser, or one that left: the one with the answer can still come.
            pass
        finally:
            writer.close()


@guarded
def _read_answer(head: Secret, state: Secret, expected: Secret | None) -> _Answer | None:
    """Return the answer to the pending authorization in a request; None for every other request."""
    method, _, rest = head.unwrap().partition(" ")
    try:
        target = urlsplit(rest.partition(" ")[0])
        pairs = parse_qsl(target.query, max_num_fields=10)
    except ValueError:
        return None
    query = dict(pairs)
    if len(query) < len(pairs):  # a name that stands there twice has two meanings
        return None
    if method != "GET" or target.path != PATH or expected is None or not _is_same(query.get("state"), state):
        return None
    if _is_same(query.get("denied"), expected):
        return _Answer(None)
    verifier = query.get("oauth_verifier")
    return _Answer(Secret(verifier)) if verifier and _is_same(query.get("oauth_token"), expected) else None


def _is_same(given: str | None, expected: Secret) -> bool:
    return given is not None and hmac.compare_digest(given.encode(), expected.unwrap().encode())


def _page_of(answer: _Answer | None) -> bytes:
    if answer is None:
        return _page(_NOT_HERE, "404 Not Found")
    return _page(_DECLINED if answer.verifier is None else _DONE, "200 OK")


def _page(words: str, status: str) -> bytes:
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>audiencekit</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{_STYLE}</style></head><body><main><h1>audiencekit</h1><p>{words}</p></main></body></html>"
    ).encode()
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()  # the page may use this style alone
    headers = [header.format(style=digest) for header in _HEADERS]
    lines = (f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(page)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + page


# --- The identity of the caller: the origin of the credentials, their user, the accounts, and the permissions ---


@dataclass(frozen=True, slots=True, kw_only=True)
class AdsAccount:
    """An ads account that the token can use; the service may leave its `name` out."""

    account_id: str
    name: str


async def list_ads_accounts(settings: Settings) -> tuple[AdsAccount, ...]:
    """Ask the service for the ads accounts of the credentials. Raises as `who_am_i` does."""
    settings.require_ads_url()
    async with open_calls(settings) as client:
        return await _ads_accounts(client)


async def _ads_accounts(client: AdsClient) -> tuple[AdsAccount, ...]:
    pages = [require_list(page, named=True) async for page in client.pages("list_accounts")]
    found = [account for page in pages for account in page.data]
    return tuple(AdsAccount(account_id=each["id"], name=str(each.get("name") or "")) for each in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The owner of the credentials. `application` and `token` say where the two pairs were found.

    `user_id` and `permissions` are those of the service and of the account, None without one; `accounts` are the ids of
    the accounts that the token can use.
    """

    profile: str
    ads_url: str
    application: Origin
    token: Origin
    screen_name: str | None
    user_id: str | None
    account_id: str | None
    permissions: tuple[str, ...] | None
    accounts: tuple[str, ...]


async def who_am_i(settings: Settings) -> Identity:
    """Ask the service whose credentials these are.

    Raises CredentialsRefused without credentials, UsageError without an address of the ads API, an ExchangeError, and
    HostRefused.
    """
    ads_url, secrets = settings.require_ads_url(), settings.require_secrets()
    found = settings.find_credentials()
    async with open_calls(settings, Credentials(**secrets)) as client:
        accounts = await _ads_accounts(client)
        access = await _ask_access(client, settings)
    return Identity(
        profile=settings.profile.name,
        ads_url=ads_url,
        application=found.origins["application"],
        token=found.origins["token"],
        screen_name=found.screen_name or None,
        user_id=access.get("user_id") or found.user_id or None,
        account_id=settings.account_id,
        permissions=tuple(access["permissions"]) if "permissions" in access else None,
        accounts=tuple(account.account_id for account in accounts),
    )


async def _ask_access(client: AdsClient, settings: Settings) -> dict[str, Any]:
    if not settings.account_id:
        return {}
    return dict((await client.get_authenticated_user_access()).data)
