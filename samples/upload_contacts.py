"""Uploads a contact list: to the service that the environment names, or to an emulator when it names none.

python samples/upload_contacts.py                        # samples/contacts.csv, to an emulator
python samples/upload_contacts.py contacts.csv ID        # to audience ID, with AUDIENCEKIT_… set
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import audiencekit

CONTACTS = Path(__file__).with_name("contacts.csv")


def main(arguments: list[str]) -> int:
    """The exit code: 0 when everything was confirmed, else that of the error."""
    if len(arguments) == 2:
        return upload(Path(arguments[0]), arguments[1])
    with emulator() as audience_id:
        return upload(Path(arguments[0]) if arguments else CONTACTS, audience_id)


def upload(contacts: Path, audience_id: str) -> int:
    """Upload, and say how it went."""
    try:
        report = audiencekit.upload(contacts, audience=audience_id)
    except audiencekit.AudiencekitError as error:
        sys.stderr.write(f"{error}\n{error.hint}\n")
        return error.exit_code
    rows = report.rows
    sys.stdout.write(f"{report.state}: {rows.read} rows read, {rows.sent} sent, {rows.rejected} rejected\n")
    for reason, count in sorted(report.rejections.items()):
        sys.stdout.write(f"  {reason}: {count}\n")
    return 0


@contextmanager
def emulator() -> Iterator[str]:
    """The id of an audience on a local ads API, to which the environment leads meanwhile."""
    command = [sys.executable, "-m", "audiencekit", "emulator"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            assert process.stdout is not None  # noqa: S101
            ready = json.loads(process.stdout.readline())
            os.environ.update(ready["env"])
            yield ready["audience_id"]
        finally:
            process.terminate()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
