"""The three legs of OAuth 1.0a that an application takes, and the end of a token (specification part 0, sections 4.1
to 4.5). The second leg is the browser's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from audiencekit.api.calls import find_endpoint
from audiencekit.api.oauth import Credentials, encode_pairs
from audiencekit.api.opening import open_calls
from audiencekit.errors import CredentialsRefused, MalformedAnswer, Unauthorized
from audiencekit.personal import Secret, guarded
from audiencekit.settings import Settings

OUT_OF_BAND: Final = Secret("oob")  # in the place of a callback: the service shows a PIN
NO_TOKEN: Final = Secret("")
_WORTHLESS: Final = "89"  # specification part 0, section 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """An authorization that its person has not approved yet: the request token as the token of `credentials`."""

    credentials: Credentials

    @property
    def request_token(self) -> Secret:
        """The name that the answer of the browser must have."""
        return self.credentials.access_token

    @guarded
    def page(self, base_url: str) -> str:
        """The address where the person says yes. The request token stands in it, which is of no use by itself."""
        path = find_endpoint("oauth_authorize").path
        return f"{base_url}{path}?{encode_pairs([('oauth_token', self.credentials.access_token.unwrap())])}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The gift of a person: a token for `credentials`, and who they are."""

    credentials: Credentials
    user_id: str
    screen_name: str


async def begin_authorization(
    settings: Settings, application: Credentials, callback: Secret, *, may_write: bool = True
) -> Pending:
    """A pending authorization that leads back to `callback`, or to a PIN. Raises an ExchangeError.

    Unless it `may_write`, its token is one that reads.
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
    """The token of the approved authorization. Raises CredentialsRefused for a verifier that is not its own,
    and an ExchangeError."""
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
    """Whether this call ended the token; False for one that was worth nothing already. Raises an ExchangeError."""
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
