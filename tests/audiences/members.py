"""The members of an audience, as the service has them."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from typing import Any

from audiencekit.emulator import Emulator


async def members_of(emulator: Emulator, list_id: str) -> list[dict[str, Any]]:
    """Those of an audience or a do-not-reach list: `keys` by kind, and `expires_at`."""

    def ask() -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{emulator.ads_url}/__members/{list_id}") as answer:
            members: list[dict[str, Any]] = json.load(answer)["members"]
            return members

    return await asyncio.to_thread(ask)
