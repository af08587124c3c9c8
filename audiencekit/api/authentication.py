"""The `Authorization` header of one attempt, by the credential that the endpoint asks for. Pure.

Source: specification part 0, section 5.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace

from audiencekit.api.exchange import ApiRequest
from audiencekit.api.oauth import Credentials, authorization_header, percent_encode
from audiencekit.errors import CredentialsRefused
from audiencekit.personal import Secret, guarded

_NO_TOKEN = Secret("")


@guarded
def authorization(request: ApiRequest, credentials: Credentials, *, url: str, nonce: str, timestamp: int) -> Secret:
    """The value of the header. `url` is that of the request, without its query.

    Raises CredentialsRefused for a request with a bearer token that it does not carry.
    """
    if request.auth == "basic":
        return basic_header(credentials)
    if request.auth == "bearer":
        if request.bearer is None:
            raise CredentialsRefused("the request needs a bearer token and has none")
        return Secret(f"Bearer {request.bearer.unwrap()}")
    if request.auth == "app":
        credentials = replace(credentials, access_token=_NO_TOKEN, access_token_secret=_NO_TOKEN)
    return authorization_header(
        credentials,
        method=request.method,
        url=url,
        parameters=(*request.query, *request.form),
        nonce=nonce,
        timestamp=timestamp,
        extra=request.oauth,
    )


@guarded
def basic_header(credentials: Credentials) -> Secret:
    """The key pair of the application, both encoded as the public service asks for before they are joined."""
    pair = ":".join(percent_encode(part.unwrap()) for part in (credentials.consumer_key, credentials.consumer_secret))
    return Secret(f"Basic {b64encode(pair.encode()).decode()}")
