"""Tax settings (specification part 1)."""

from __future__ import annotations

from typing import Final

from .endpoint import Endpoint
from .parameters import ACCOUNT_ID, one_of, text

ENDPOINTS: Final = (
    Endpoint(
        name="update_tax_settings",
        group="tax",
        method="PUT",
        path="/12/accounts/{account_id}/tax_settings",
        part=1,
        section="4.11",
        parameters=(
            ACCOUNT_ID,
            text("client_address_street1", note="set when an agency owns the account"),
            text("client_address_street2", note="set when an agency owns the account"),
            text("address_name"),
            one_of("invoice_jurisdiction", "LOI_SAPIN", "NONE", "NOT_SET"),
            one_of("tax_category", "BUSINESS_NO_VAT", "BUSINESS_WITH_VAT", "INDIVIDUAL"),
            text("tax_exemption_id"),
            text("tax_id"),
        ),
        notes=("stated in part only",),
    ),
)
