"""One upload with the official SDK: what its caller hears, as one JSON line. For `benchmarks.sdk_faults`.

    python -m benchmarks.sdk_upload BODY.json [OPTION=NUMBER …]

BODY.json is what is sent, the options are those of the SDK's client; addresses and credentials come from AUDIENCEKIT_*.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from twitter_ads.account import Account
from twitter_ads.audience import CustomAudience
from twitter_ads.client import Client
from twitter_ads.http import Request

from audiencekit.api.catalogue import VERSION
from benchmarks.emulator_process import AUDIENCE


def main(path: str, *options: str) -> None:
    """Print `{"counts": [success, total]}`, or `{"raised": NAME}`."""
    secrets = ("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
    given = {name: int(number) for name, _, number in (option.partition("=") for option in options)}
    client = Client(*(os.environ[f"AUDIENCEKIT_{name}"] for name in secrets), options=given)
    Request._DEFAULT_DOMAIN = os.environ["AUDIENCEKIT_ADS_URL"]
    CustomAudience.RESOURCE_USERS = f"/{VERSION}/accounts/{{account_id}}/custom_audiences/{{id}}/users"
    audience = CustomAudience(_known(Account(client), os.environ["AUDIENCEKIT_ACCOUNT_ID"]))
    try:
        heard = {"counts": _known(audience, os.environ[AUDIENCE]).users(json.loads(Path(path).read_text()))}
    except Exception as error:
        heard = {"raised": type(error).__name__}
    sys.stdout.write(f"{json.dumps(heard)}\n")


def _known(entity: Any, entity_id: str) -> Any:
    """The entity, without the request that would look it up."""
    entity._id = entity_id
    return entity


if __name__ == "__main__":
    main(*sys.argv[1:])
