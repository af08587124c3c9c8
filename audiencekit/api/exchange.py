"""The request and the answer of one HTTP exchange. No I/O, no signature."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from audiencekit.api.catalogue.endpoint import Auth
from audiencekit.errors import UsageError
from audiencekit.personal import Personal, Secret

Buffer: TypeAlias = bytes | bytearray | memoryview
Pairs: TypeAlias = tuple[tuple[str, str], ...]

BASES: Final = ("ads_url", "ads_sandbox_url", "base_url")  # specification parts 0 and 1, introductions
JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"

_PATH: Final = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+")


class Body(Personal[tuple[Buffer, ...]]):
    """The bytes of one request, in pieces that are sent one after the other and never joined. Personal data.

    `size` is in bytes over all pieces. The pieces must not change while the body exists: it may be sent again.
    """

    __slots__ = ("content_type", "size")

    def __init__(self, pieces: Iterable[Buffer], *, content_type: str = JSON) -> None:
        super().__init__(tuple(pieces))
        self.size = sum(memoryview(piece).nbytes for piece in self._hidden)
        self.content_type = content_type

    def slices(self, slice_bytes: int) -> Iterator[memoryview]:
        """Yield the body in order, as views of at most `slice_bytes` each; nothing is copied."""
        for piece in self._hidden:
            view = memoryview(piece).cast("B")
            for start in range(0, view.nbytes, slice_bytes):
                yield view[start : start + slice_bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRequest:
    """One call of the ads API, unsigned.

    `base` is one of BASES, or an address such as `https://ads.example.com`; `path` is the part after it; `query` and
    `form` hold decoded pairs, and the form is sent as the body. `oauth` are further parameters of the Authorization
    header; `bearer` is the token, where `auth` asks for one. Raises UsageError for an ambiguous path, for a repeated
    key, which the service refuses, and for two bodies.
    """

    method: str
    path: str
    base: str = "ads_url"
    query: Pairs = field(default=(), repr=False)
    form: Pairs = field(default=(), repr=False)
    oauth: Pairs = field(default=(), repr=False)
    body: Body | None = None
    auth: Auth = "user"
    bearer: Secret | None = None

    def __post_init__(self) -> None:
        if not _PATH.fullmatch(self.path):
            raise UsageError("the path of the request has characters or segments that paths of this API never have")
        if self.form and self.body is not None:
            raise UsageError("a request has a form or a body, not both")
        pairs = (*self.query, *self.form, *self.oauth)
        if len({key for key, _ in pairs}) != len(pairs):
            raise UsageError("a parameter of the request is given twice")
        if not all(_is_text(part) for pair in pairs for part in pair):
            raise UsageError("a parameter of the request holds half a character (a lone surrogate)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiResponse:
    """An answer as it arrived. Header names are lower-case; `received_at` is our clock, in epoch seconds."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    received_at: float = 0.0


def _is_text(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
