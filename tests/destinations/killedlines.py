"""`python -m tests.destinations.killedlines JOB`: a run to a mailbox that is a file, in a process that may be killed.

It is begun, or resumed where it was begun before. JOB is a JSON object: `directory`, `source`, and `kill` as in
`tests.crashes.driver`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from audiencekit.delivery.limiter import Unlimited
from audiencekit.destinations.target import Target
from audiencekit.pipeline import resume_async
from audiencekit.runs.uploads import upload_to
from audiencekit.settings import load_settings
from tests.crashes.driver import arm
from tests.destinations.jsonlines import Mailbox, registered


async def main() -> None:
    job = json.loads(sys.argv[1])
    directory = Path(job["directory"])
    settings = load_settings(
        {"AUDIENCEKIT_ACCOUNT_ID": "18ce54d4x5t"}, directory=directory, state_dir=directory / "state", concurrency=1
    )
    (directory / "mailbox").touch()
    with (directory / "mailbox").open("r+b") as file, registered(Mailbox(file)) as destination:
        arm(job["kill"])
        if settings.state_dir.exists():
            await resume_async("last", settings=settings, limiter=Unlimited())
        else:
            target = Target(destination, "m1")
            await upload_to(target, job["source"], settings=settings, limiter=Unlimited())


if __name__ == "__main__":
    asyncio.run(main())
