"""Funding instruments: made in the sandbox, at no cost (specification part 1, section 4.5)."""

from __future__ import annotations

from typing import Any

from audiencekit.emulator.accounts.records import Account
from audiencekit.emulator.calls import Call
from audiencekit.emulator.campaigns.kinds import FUNDING_INSTRUMENTS, show_funding_instrument
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.times import format_time
from audiencekit.servicewords import FUNDING_TYPES


def create_funding_instrument(call: Call) -> Answer:
    """Answer `POST …/funding_instruments`, in the sandbox.

    The specification shows the first two parameters; the others are the public documentation's.
    """
    parameters = Parameters(call)
    currency = parameters.required_currency("currency")
    start_time = parameters.required_time("start_time")
    kind = parameters.choice("type", FUNDING_TYPES, "CREDIT_CARD")
    parameters.finish()
    fields = _make_fields(call.account.id, currency, start_time, kind)
    return success(parameters.echo, show_funding_instrument(FUNDING_INSTRUMENTS.make(call, fields)))


def seed_funding_instrument(account: Account) -> None:
    """Give `account` a first funding instrument, as accounts of the public service have: profile `x`."""
    made = account.created_at
    record = Record(f"fi{account.id}", made, made, _make_fields(account.id, "USD", int(made), "CREDIT_CARD"))
    account.records[FUNDING_INSTRUMENTS.kind] = {record.id: record}


def _make_fields(account_id: str, currency: str, start_time: int, kind: str) -> dict[str, Any]:
    return {
        "account_id": account_id,
        "currency": currency,
        "start_time": format_time(start_time),
        "end_time": None,
        "type": kind,
        "description": "(no payment method has been set up yet)",
        "entity_status": "ACTIVE",
        "credit_limit_local_micro": None,
        "credit_remaining_local_micro": None,
        "funded_amount_local_micro": None,
        "io_header": None,
    }
