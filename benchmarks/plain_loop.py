"""The loop that people write today: csv, email-validator, phonenumbers, hashlib, json; 2,500 users a body.

python -m benchmarks.plain_loop contacts.csv
"""

from __future__ import annotations

import csv
import hashlib
import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import phonenumbers
from email_validator import EmailNotValidError, validate_email

from benchmarks.trials import Figures, trial_arguments

USERS_PER_BODY: Final = 2_500  # how the tools of others read the limit
EXPIRES_AT: Final = "2027-12-21T00:00:00Z"

User = dict[str, list[str]]


def hash_email(text: str) -> str | None:
    """Lower-case hex SHA-256 of a valid address, else None."""
    try:
        address = validate_email(text.strip(), check_deliverability=False).normalized.lower()
    except EmailNotValidError:
        return None
    return hashlib.sha256(address.encode()).hexdigest()


def hash_phone(text: str, country: str) -> str | None:
    """Lower-case hex SHA-256 of the E.164 form of a valid number, else None."""
    try:
        number = phonenumbers.parse(text, country)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_valid_number(number):
        return None
    e164 = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return hashlib.sha256(e164.encode()).hexdigest()


def read_users(path: Path) -> Iterator[User]:
    """One user a row of the CSV file (email, phone, country); one that has neither is empty."""
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            user: User = {}
            if (email := hash_email(row["email"])) is not None:
                user["email"] = [email]
            if (phone := hash_phone(row["phone"], row["country"])) is not None:
                user["phone_number"] = [phone]
            yield user


def make_body(users: list[User]) -> bytes:
    """The JSON of one request: one operation with all of `users`."""
    operation = {"operation_type": "Update", "params": {"expires_at": EXPIRES_AT, "users": users}}
    return json.dumps([operation], separators=(",", ":")).encode()


def run_loop(path: Path) -> Figures:
    """From the file to finished bodies, which are counted and dropped."""
    return measure_bodies(read_users(path))


def measure_bodies(users: Iterable[User]) -> Figures:
    """Measure drawing all `users`, one a row, and making bodies of those that are not empty."""
    rows = records = requests = body_bytes = 0
    waiting: list[User] = []
    started = time.perf_counter()
    for user in users:
        rows += 1
        if user:
            waiting.append(user)
        if len(waiting) == USERS_PER_BODY:
            records, requests, body_bytes = records + len(waiting), requests + 1, body_bytes + len(make_body(waiting))
            waiting = []
    if waiting:
        records, requests, body_bytes = records + len(waiting), requests + 1, body_bytes + len(make_body(waiting))
    seconds = time.perf_counter() - started
    return {
        "rows": rows,
        "records": records,
        "requests": requests,
        "body_bytes": body_bytes,
        "seconds": seconds,
        "rows_per_second": rows / seconds,
        "megabytes_per_second": body_bytes / seconds / 1e6,
    }


if __name__ == "__main__":
    trial_arguments(run_loop)
