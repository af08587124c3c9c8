"""The page in the browser that asks the user whether an application may act for them (specification part 0, sections
4.2 and 4.3). Its form posts to the same path; that POST is not an endpoint of the specification."""

from __future__ import annotations

import html
from typing import Final
from urllib.parse import urlencode

from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer
from audiencekit.emulator.oauth.tokens import OUT_OF_BAND, RequestToken
from audiencekit.emulator.people.users import User

_HTML: Final = "text/html; charset=utf-8"
_STYLE: Final = (
    "body{font:16px/1.5 sans-serif;background:#eef1f4}main{max-width:28em;margin:3em auto;padding:1.5em 2em;"
    "background:#fff;border:1px solid #ccd;border-radius:6px}label{display:block;margin:1em 0}button{font:inherit;"
    "padding:.3em 1em;margin-right:1em}code{font-size:1.6em}"
)
# A page of this kind must not be shown inside of another.
_HEADERS: Final = {"Cache-Control": "no-store", "X-Frame-Options": "DENY"}


def ask(call: Call) -> Answer:
    """Answer `GET /oauth/authorize`: the question, whatever was approved before."""
    pending = _find(call)
    return _page("The request token is not valid.", 401) if pending is None else _question(call, pending)


def authenticate(call: Call) -> Answer:
    """`GET /oauth/authenticate`: straight back to a known application, unless `force_login` is true, or its setting for
    sign-in is off."""
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
    """The form of the question: back to the application with a verifier, or with the news that the user said no."""
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
