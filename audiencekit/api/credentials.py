"""Answers that carry credentials or are not a single object: bytes -> an Answer whose secrets are not shown. Pure."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import parse_qsl

from audiencekit.api.answers import Answer, Document, read_document, read_refusal, read_success
from audiencekit.api.exchange import ApiResponse
from audiencekit.errors import MalformedAnswer
from audiencekit.personal import Secret

_SECRETS: Final = frozenset({"oauth_token", "oauth_token_secret", "access_token"})
_TOKEN: Final = re.compile(r"[!-~]+")  # visible ASCII: it goes into a header
_MAX_PAIRS: Final = 20


def read_pairs(response: ApiResponse) -> Answer:
    """Return `name=value` pairs as `data` (specification part 0, section 2.1).

    Raises the ExchangeError of other answers.
    """
    if not 200 <= response.status <= 299:
        raise read_refusal(response)
    return _answer(response, _parse_pairs(response.body))


def read_credential(response: ApiResponse) -> Answer:
    """A JSON object with a token as `data`."""
    return _answer(response, read_success(response))


def read_stream(response: ApiResponse) -> Answer:
    """Return one JSON object a line, as a list in `data`; empty lines only keep a stream alive."""
    if not 200 <= response.status <= 299:
        raise read_refusal(response)
    events = [read_document(line) for line in response.body.splitlines() if line.strip()]
    if not all(event is not None for event in events):
        raise MalformedAnswer("a line of the stream is not one JSON object", status=response.status)
    return Answer(status=response.status, data=events)


def _answer(response: ApiResponse, document: Document) -> Answer:
    if not all(isinstance(document.get(name, ""), str) for name in _SECRETS) or not _SECRETS & set(document):
        raise MalformedAnswer("the answer carries no token", status=response.status)
    if not all(_TOKEN.fullmatch(document.get(name, "-")) for name in _SECRETS):
        raise MalformedAnswer("the answer carries a token that no header can", status=response.status)
    data = {name: Secret(value) if name in _SECRETS else value for name, value in document.items()}
    return Answer(status=response.status, data=data)


def _parse_pairs(body: bytes) -> Document:
    try:
        pairs = parse_qsl(body.decode("ascii"), strict_parsing=True, max_num_fields=_MAX_PAIRS)
    except ValueError:
        # The exception quotes the body and ends here.
        return {}
    return dict(pairs) if len(dict(pairs)) == len(pairs) else {}
