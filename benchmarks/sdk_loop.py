"""The loop around an SDK's normaliser: csv, facebook-business, hashlib, json; 2,500 users a body.

    python -m benchmarks.sdk_loop contacts.csv

It checks far less than is needed: any text with an at sign and a dot is an address, any run of digits is a number, and
national numbers are hashed without their country.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator
from pathlib import Path

from facebook_business.adobjects.serverside.normalize import Normalize

from benchmarks.plain_loop import User, measure_bodies
from benchmarks.trials import Figures, trial_arguments


def hash_field(field: str, text: str) -> str | None:
    """Lower-case hex SHA-256 of what the SDK makes of an `em` or a `ph`; None for what it refuses."""
    try:
        normal = Normalize.normalize(field, text, False)
    except (TypeError, ValueError):
        return None
    return hashlib.sha256(normal.encode()).hexdigest() if normal else None


def read_users(path: Path) -> Iterator[User]:
    """One user a row of the CSV file (email, phone, country); one that has neither is empty."""
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            user: User = {}
            if (email := hash_field("em", row["email"])) is not None:
                user["email"] = [email]
            if (phone := hash_field("ph", row["phone"])) is not None:
                user["phone_number"] = [phone]
            yield user


def run_loop(path: Path) -> Figures:
    """From the file to finished bodies, which are counted and dropped."""
    return measure_bodies(read_users(path))


if __name__ == "__main__":
    trial_arguments(run_loop)
