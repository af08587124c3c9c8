"""The login of a user and its tokens (specification part 0, sections 4.2 and 4.3).

The page in the browser asks the user whether an application may act for them. Its form posts to the same path; that
POST is not an endpoint of the specification.
"""

from __future__ import annotations

import base64
import hmac
import html
import re
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import unquote, urlencode, urlsplit

import orjson

from audiencekit.emulator.answers import Answer, RefusalError, refuse_legacy, refuse_problem
from audiencekit.emulator.authentication import Credentials, Signatures, SignedCall
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.users import OUT_OF_BAND, RequestToken, Tokens, User
from audiencekit.emulator.routing import Credential

# --- The page in the browser ---

_HTML: Final = "text/html; charset=utf-8"
_STYLE: Final = (
    "body{font:16px/1.5 sans-serif;background:#eef1f4}main{max-width:28em;margin:3em auto;padding:1.5em 2em;"
    "background:#fff;border:1px solid #ccd;border-radius:6px}label{display:block;margin:1em 0}button{font:inherit;"
    "padding:.3em 1em;margin-right:1em}code{font-size:1.6em}"
)
# A page of this kind must not be shown inside of another.
_HEADERS: Final = {"Cache-Control": "no-store", "X-Frame-Options": "DENY"}


def ask(call: Call) -> Answer:
    """Answer `GET /oauth/authorize`: the question, also after an earlier approval."""
    pending = _find(call)
    return _page("The request token is not valid.", 401) if pending is None else _question(call, pending)


def authenticate(call: Call) -> Answer:
    """Answer `GET /oauth/authenticate`: redirect to a known application at once, or ask.

    It asks if `force_login` is true, or the application's setting for sign-in is off.
    """
    pending = _find(call)
    if pending is None:
        return _page("The request token is not valid.", 401)
    if pending.callback == OUT_OF_BAND:
        return _page("An application without a callback must use /oauth/authorize.", 403)
    user = call.store.tokens.logged_in
    if call.options.sign_in and user is not None and call.attribute("force_login") != "true":
        return _approve(call, pending, user)
    return _question(call, pending)


def decide(call: Call) -> Answer:
    """Answer the form of the question: redirect to the application with a verifier, or with the refusal."""
    pending = _find(call)
    if pending is None:
        return _page("The request token is not valid.", 401)
    if call.attribute("decision") == "approve":
        return _approve(call, pending, call.store.users.named(call.attribute("screen_name") or ""))
    del call.store.tokens.requests[pending.token]
    if pending.callback == OUT_OF_BAND:
        return _page("The application was not given access.", 200)
    return _redirect(pending.callback, denied=pending.token)


def _find(call: Call) -> RequestToken | None:
    pending = call.store.tokens.requests.get(call.attribute("oauth_token") or "")
    return None if pending is None or pending.verifier is not None else pending


def _approve(call: Call, pending: RequestToken, user: User) -> Answer:
    call.store.tokens.approve(pending, user)
    if pending.callback == OUT_OF_BAND:
        return _page(f"Enter this PIN in the application: <code>{pending.verifier}</code>", 200)
    return _redirect(pending.callback, oauth_token=pending.token, oauth_verifier=pending.verifier or "")


def _question(call: Call, pending: RequestToken) -> Answer:
    name = html.escape(call.attribute("screen_name") or "")
    users = "".join(f'<option value="{user.screen_name}">' for user in call.store.users.all())
    what = "use" if pending.may_write else "look at"
    return _page(
        f"<p>May the local application {what} this account?</p>"
        '<form method="post" action="/oauth/authorize">'
        f'<input type="hidden" name="oauth_token" value="{html.escape(pending.token)}">'
        f'<label>User name <input name="screen_name" value="{name}" list="users"></label>'
        f'<datalist id="users">{users}</datalist>'
        '<button name="decision" value="approve">Authorize</button>'
        '<button name="decision" value="deny">Cancel</button></form>',
        200,
    )


def _page(content: str, status: int) -> Answer:
    head = f'<meta charset="utf-8"><title>Local emulator</title><style>{_STYLE}</style>'
    page = f'<!doctype html><html lang="en"><head>{head}</head><body><main>{content}</main></body></html>'
    return Answer(status, page.encode(), _HEADERS, _HTML)


def _redirect(callback: str, **pairs: str) -> Answer:
    address = f"{callback}{'&' if '?' in callback else '?'}{urlencode(pairs)}"
    return Answer(302, b"", {**_HEADERS, "Location": address}, _HTML)


# --- The application's own token (specification part 0, sections 4.6 and 4.7) ---


def give_bearer(call: Call) -> Answer:
    """Answer `POST /oauth2/token`: one token, the same until it is invalidated."""
    if call.media_type.partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise refuse_legacy(403, 170, "Missing required parameter: grant_type")
    if call.attribute("grant_type") != "client_credentials":
        raise refuse_legacy(403, 170, "Missing required parameter: grant_type")
    return Answer(200, orjson.dumps({"token_type": "bearer", "access_token": call.store.tokens.give_bearer()}))


def invalidate_bearer(call: Call) -> Answer:
    """Answer `POST /oauth2/invalidate_token`, by the owner of the application: the next token is another one."""
    if call.user_id != call.store.users.first.id:
        raise refuse_legacy(403, 220, "Your credentials do not allow access to this resource.")
    given, tokens = call.attribute("access_token"), call.store.tokens
    if given is None or tokens.bearer is None or not hmac.compare_digest(given.encode(), tokens.bearer.encode()):
        raise refuse_legacy(401, 89, "Invalid or expired token.")
    tokens.bearer = None
    return Answer(200, orjson.dumps({"access_token": given}))


# --- The steps of the three-legged flow that an application takes, and the end of a token (specification part 0,
# sections 4.1, 4.4 and 4.5) ---

# The captured type of these answers, which are no HTML.
_PAIRS: Final = "text/html; charset=utf-8"
# The callbacks that are in the settings of the one application: a program that listens on this host.
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
# It is sent to browsers as a header: characters of an address, and no line end among them.
_ADDRESS: Final = re.compile(r"[!-~]+")
_ACCESS_TYPES: Final = ("platform_auth_access_type", "x_auth_access_type")


def give_request_token(call: Call) -> Answer:
    """Answer `POST /oauth/request_token`: a pending authorization, for a registered callback of the application."""
    callback = call.attribute("oauth_callback")
    if callback is None:
        raise refuse_legacy(400, 38, "oauth_callback parameter is missing.")
    if not _ADDRESS.fullmatch(callback):
        raise refuse_legacy(400, 44, "oauth_callback parameter is invalid.")
    if callback != OUT_OF_BAND and not _is_registered(callback):
        raise refuse_legacy(403, 415, "Callback URL not approved for this client application.")
    asked = {name: call.attribute(name) for name in _ACCESS_TYPES}
    for name, access in asked.items():
        if access not in (None, "read", "write"):
            raise refuse_legacy(400, 44, f"{name} parameter is invalid.")
    made = call.store.tokens.make_request_token(callback, may_write="read" not in asked.values())
    return _pairs(oauth_token=made.token, oauth_token_secret=made.secret, oauth_callback_confirmed="true")


def give_access_token(call: Call) -> Answer:
    """Answer `POST /oauth/access_token`: exchange the request token, once, for the approved token."""
    tokens = call.store.tokens
    pending = tokens.requests[call.attributes["oauth_token"]]
    user = pending.user
    if user is None or call.attribute("oauth_verifier") != pending.verifier:
        raise refuse_legacy(401, 32, "Could not authenticate you.")
    token, secret = tokens.exchange(pending, user)
    return _pairs(oauth_token=token, oauth_token_secret=secret, user_id=user.id, screen_name=user.screen_name)


def invalidate_token(call: Call) -> Answer:
    """Answer `POST /1.1/oauth/invalidate_token`: the token that signed the call is invalid from now on."""
    token = call.attributes["oauth_token"]
    del call.store.tokens.access[token]
    call.store.tokens.readers.discard(token)
    return Answer(200, orjson.dumps({"access_token": token}))


def _is_registered(callback: str) -> bool:
    try:
        address = urlsplit(callback)
        return address.scheme in ("http", "https") and address.hostname in _LOOPBACK
    except ValueError:
        return False


def _pairs(**pairs: str) -> Answer:
    return Answer(200, urlencode(pairs).encode(), content_type=_PAIRS)


# --- The gate: the credential that each endpoint asks for (specification part 0, section 5) ---

# Parts of the header that a handler sees: never the signature or the nonce.
_SHOWN: Final = ("oauth_token", "oauth_callback", "oauth_verifier", "platform_auth_access_type", "x_auth_access_type")


class Gate:
    """Authorizes calls by their credential."""

    def __init__(self, credentials: Credentials, tokens: Tokens) -> None:
        self._credentials, self._tokens = credentials, tokens
        self._signatures = Signatures(credentials)
        self._ways: Mapping[Credential, Callable[[SignedCall, float], dict[str, str]]] = {
            Credential.USER: lambda call, now: self._signatures.verify(call, now, tokens.access),
            Credential.PENDING: lambda call, now: self._signatures.verify(call, now, self._pending()),
            Credential.APPLICATION: lambda call, now: self._signatures.verify(call, now, None),
            Credential.BASIC: self._check_basic,
            Credential.BEARER: self._check_bearer,
            Credential.NONE: lambda call, now: {},
        }

    def admit(self, credential: Credential, call: SignedCall, now: float) -> dict[str, str]:
        """Return the `oauth_…` attributes for the handler. Raises RefusalError: 401, or 403 for a wrong client."""
        attributes = self._ways[credential](call, now)
        return {name: text for name, text in attributes.items() if name in _SHOWN}

    def _pending(self) -> dict[str, str]:
        return {token: pending.secret for token, pending in self._tokens.requests.items()}

    def _check_basic(self, call: SignedCall, now: float) -> dict[str, str]:
        known = (self._credentials.consumer_key, self._credentials.consumer_secret)
        scheme, _, encoded = (call.authorization or "").partition(" ")
        try:
            given = base64.b64decode(encoded, validate=True).decode().partition(":")
        except ValueError:
            raise _unverified() from None
        pairs = zip(known, (unquote(given[0]), unquote(given[2])), strict=True)
        if scheme.lower() != "basic" or not all(hmac.compare_digest(*map(str.encode, pair)) for pair in pairs):
            raise _unverified()
        return {}

    def _check_bearer(self, call: SignedCall, now: float) -> dict[str, str]:
        scheme, _, given = (call.authorization or "").partition(" ")
        known = self._tokens.bearer
        if scheme.lower() != "bearer" or known is None or not hmac.compare_digest(given.encode(), known.encode()):
            raise refuse_problem(401, "Unauthorized", "Unauthorized")
        return {}


def _unverified() -> RefusalError:
    return refuse_legacy(403, 99, "Unable to verify your credentials")
