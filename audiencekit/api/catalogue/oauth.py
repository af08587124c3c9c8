"""Authorization (specification part 0)."""

from __future__ import annotations

from typing import Final

from .endpoint import Endpoint
from .parameters import flag, one_of, text

ENDPOINTS: Final = (
    Endpoint(
        name="oauth_request_token",
        group="oauth",
        method="POST",
        path="/oauth/request_token",
        part=0,
        section="4.1",
        parameters=(
            text(
                "oauth_callback",
                place="query_or_header",
                required=True,
                note="URL to return the user to, or oob for PIN mode; always sent, even when a callback is registered; must be configured in the settings of the application",
            ),
            one_of(
                "platform_auth_access_type",
                "read",
                "write",
                place="query_or_header",
                note="lowers the requested access level below the registered level",
            ),
        ),
        base="base_url",
        params_in="query_or_header",
        auth="oauth1_app",
        notes=(
            "listed as requiring no authentication; the example is still signed with the consumer key of the application",
            "oauth_nonce accepts ASCII only",
            "HTTPS is mandatory",
        ),
    ),
    Endpoint(
        name="oauth_authorize",
        group="oauth",
        method="GET",
        path="/oauth/authorize",
        part=0,
        section="4.2",
        parameters=(
            text("oauth_token", required=True),
            flag("force_login", note="forces entry of credentials"),
            text("screen_name", note="prefills the login input"),
        ),
        base="base_url",
        params_in="redirect",
        auth="oauth1_required",
    ),
    Endpoint(
        name="oauth_authenticate",
        group="oauth",
        method="GET",
        path="/oauth/authenticate",
        part=0,
        section="4.3",
        parameters=(
            text("oauth_token", required=True),
            flag("force_login", note="when true, the currently logged-in user is not used"),
            text("screen_name", note="optional"),
        ),
        base="base_url",
        params_in="redirect",
        auth="oauth1_required",
    ),
    Endpoint(
        name="oauth_access_token",
        group="oauth",
        method="POST",
        path="/oauth/access_token",
        part=0,
        section="4.4",
        parameters=(
            text("oauth_token", place="unstated", required=True, note="the same as the request_token step returned"),
            text(
                "oauth_verifier",
                place="unstated",
                required=True,
                note="the verifier from the callback URL, or the PIN in the out-of-band flow",
            ),
        ),
        base="base_url",
        params_in="unstated",
        auth="oauth1_required",
        notes=("OAuth 1.0a is strictly enforced: without the verifier the flow fails",),
    ),
    Endpoint(
        name="oauth_invalidate_token",
        group="oauth",
        method="POST",
        path="/1.1/oauth/invalidate_token",
        part=0,
        section="4.5",
        base="base_url",
        params_in=None,
        auth="oauth1_user_token",
    ),
    Endpoint(
        name="oauth2_token",
        group="oauth",
        method="POST",
        path="/oauth2/token",
        part=0,
        section="4.6",
        parameters=(
            one_of("Content-Type", "application/x-www-form-urlencoded", place="header", required=True),
            one_of("grant_type", "client_credentials", place="form", required=True),
        ),
        base="base_url",
        params_in="form",
        auth="basic_app",
    ),
    Endpoint(
        name="oauth2_invalidate_token",
        group="oauth",
        method="POST",
        path="/oauth2/invalidate_token",
        part=0,
        section="4.7",
        parameters=(
            text(
                "access_token",
                required=True,
                note="the bearer token value to revoke; sent in the query in the stated usage",
            ),
        ),
        base="base_url",
        auth="oauth1_owner",
    ),
)
