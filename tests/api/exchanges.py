"""The requests of tests that speak over real sockets, and the answer that they hope for."""

from __future__ import annotations

import asyncio
from typing import TypeAlias

from audiencekit.api.exchange import ApiRequest, Body

NOW = 1_790_000_000.25
PATH = "/12/accounts/abc1/custom_audiences"
GET = ApiRequest(method="GET", path=PATH)
GOOD = b'{"data": {"success_count": 4, "total_count": 4}}'
CANARY = b"canary-of-the-body"
POST = ApiRequest(method="POST", path=PATH + "/1nmth/users", body=Body([b'[{"', CANARY, b'":1}]']))

Reader: TypeAlias = asyncio.StreamReader
Writer: TypeAlias = asyncio.StreamWriter
