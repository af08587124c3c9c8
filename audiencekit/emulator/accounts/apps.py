"""Mobile apps of an account (specification part 1, section 4.1): those that it has from the start."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.accounts.initialrecords import APP_KIND
from audiencekit.emulator.resources.resource import Resource

ACCOUNT_APPS: Final = Resource(kind=APP_KIND, noun="Account App", id_name="account_app_id", has_ids=False)
