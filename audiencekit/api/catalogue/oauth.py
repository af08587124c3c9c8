"""Authorization (specification part 0)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Section
from audiencekit.api.catalogue.parameters import flag, one_of, text

_IN_THE_HEADER: Final = "stands in the Authorization header, which the client makes"

ENDPOINTS: Final = (
    Section("oauth", part=0, section="4.1").post(
        "oauth_request_token",
        "/oauth/request_token",
        text(
            "oauth_callback",
            place="oauth",
            required=True,
            note="an address that the application is registered with, or oob for a PIN",
        ),
        one_of("platform_auth_access_type", "read", "write", note="asks for less than the application may do"),
        base="base_url",
        auth="app",
        answer="pairs",
        ambiguities=(
            "said to need no authentication and shown signed: it is signed with the keys of the application",
            "the callback may stand in the query or the header: it is sent in the header, where the signature is",
            "platform_auth_access_type stands for x_auth_access_type, the name of the public service",
        ),
    ),
    Section("oauth", part=0, section="4.2").get(
        "oauth_authorize",
        "/oauth/authorize",
        text("oauth_token", required=True, note="the request token"),
        flag("force_login", note="the person types name and password even when logged in"),
        text("screen_name", note="stands in the form of the login already"),
        base="base_url",
        auth="app",
        answer="page",
        ambiguities=("said to need authentication, which a browser does by its login: nothing is signed",),
        notes=("the one for programs on a desktop", "never takes the callback, which belongs to oauth_request_token"),
    ),
    Section("oauth", part=0, section="4.3").get(
        "oauth_authenticate",
        "/oauth/authenticate",
        text("oauth_token", required=True, note="the request token"),
        flag("force_login", note="true: a user who is logged in is asked all the same"),
        text("screen_name", note="stands in the form of the login already"),
        base="base_url",
        auth="app",
        answer="page",
        ambiguities=("said to need authentication, which a browser does by its login: nothing is signed",),
    ),
    Section("oauth", part=0, section="4.4").post(
        "oauth_access_token",
        "/oauth/access_token",
        text("oauth_token", place="header", required=True, secret=True, note=_IN_THE_HEADER),
        text(
            "oauth_verifier",
            place="form",
            required=True,
            min_length=1,
            secret=True,
            note="from the address of the callback, or the PIN",
        ),
        base="base_url",
        answer="pairs",
        ambiguities=(
            "the places of both parameters are not stated: the token goes in the header, the verifier in a form",
        ),
        notes=("signed with the request token as the token of the person",),
    ),
    Section("oauth", part=0, section="4.5").post(
        "oauth_invalidate_token",
        "/1.1/oauth/invalidate_token",
        base="base_url",
        answer="credential",
        ambiguities=("a second form of the path ends in .json: the one without it is called",),
        notes=("revokes the token that signs the call",),
        ends_token=True,
    ),
    Section("oauth", part=0, section="4.6").post(
        "oauth2_token",
        "/oauth2/token",
        one_of("Content-Type", "application/x-www-form-urlencoded", place="header", required=True),
        one_of("grant_type", "client_credentials", place="form", required=True),
        base="base_url",
        auth="basic",
        answer="credential",
        notes=("gives the same token until it is revoked; asked too often, it refuses with code 99",),
    ),
    Section("oauth", part=0, section="4.7").post(
        "oauth2_invalidate_token",
        "/oauth2/invalidate_token",
        text("access_token", required=True, secret=True, note="the bearer token to revoke"),
        base="base_url",
        answer="credential",
        ambiguities=("whether a form is taken too is not stated: the token goes in the query, as in the example",),
        notes=("signed with the token of the owner of the application",),
        ends_token=True,
    ),
)
