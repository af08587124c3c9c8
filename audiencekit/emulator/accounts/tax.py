"""Tax settings of an account (specification part 1, section 4.11): every one of them optional, and unset when empty."""

from __future__ import annotations

from typing import Any, Final

from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import Parameters

_TEXTS: Final = (
    "client_address_street1",
    "client_address_street2",
    "address_name",
    "tax_exemption_id",
    "tax_id",
)
_CHOICES: Final = {
    "invoice_jurisdiction": ("LOI_SAPIN", "NONE", "NOT_SET"),
    "tax_category": ("BUSINESS_NO_VAT", "BUSINESS_WITH_VAT", "INDIVIDUAL"),
}


def change_tax_settings(call: Call) -> Answer:
    """Answer `PUT …/tax_settings`: all of them as they are then."""
    parameters = Parameters(call)
    changes: dict[str, Any] = {}
    for name in _TEXTS:
        if parameters.given(name) is not None:
            changes[name] = parameters.text(name, empty=True) or None
    for name, choices in _CHOICES.items():
        if parameters.given(name) is not None:
            changes[name] = parameters.choice(name, choices, "")
    parameters.finish()
    call.account.tax_settings.update(changes)
    return success(parameters.echo, {**dict.fromkeys((*_TEXTS, *_CHOICES)), **call.account.tax_settings})
