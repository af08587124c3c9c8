"""Bidding rules: the least and the most that an engagement may cost (specification part 1, section 4.2)."""

from __future__ import annotations

from typing import Any, Final

from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import Parameters

# Micro units of the currency. The smallest amount is a cent, or a whole unit where there are no cents.
_CENT, _UNIT = 10_000, 1_000_000
_SMALLEST: Final = {
    "AUD": _CENT,
    "BRL": _CENT,
    "CAD": _CENT,
    "EUR": _CENT,
    "GBP": _CENT,
    "JPY": _UNIT,
    "KRW": _UNIT,
    "USD": _CENT,
}


def list_bidding_rules(call: Call) -> Answer:
    """`GET /bidding_rules`: those of all currencies or of one, and always how many; none for a currency without."""
    parameters = Parameters(call)
    asked = parameters.currency("currency")
    parameters.finish()
    rules = [_rule(currency) for currency in _SMALLEST if asked in (None, currency)]
    return success(parameters.echo, rules, next_cursor=None, total_count=len(rules))


def _rule(currency: str) -> dict[str, Any]:
    smallest = _SMALLEST[currency]
    return {
        "currency": currency,
        "minimum_cpe_bid_local_micro": smallest,
        "maximum_cpe_bid_local_micro": 100_000 * smallest,
        "minimum_denomination": smallest,
    }
