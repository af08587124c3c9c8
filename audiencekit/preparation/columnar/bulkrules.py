"""One table from kind to bulk rule: what is certain of a whole column at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa

from audiencekit.identifiers.kinds import Kind, Rules
from audiencekit.preparation.columnar.buffers import arrow_array
from audiencekit.preparation.columnar.decisions import UNDECIDED, Decisions
from audiencekit.preparation.columnar.device_ids import decide_device_ids
from audiencekit.preparation.columnar.emails import decide_emails
from audiencekit.preparation.columnar.handles import decide_handles
from audiencekit.preparation.columnar.partner_user_ids import decide_partner_user_ids
from audiencekit.preparation.columnar.phones.numbers import decide_phone_numbers
from audiencekit.preparation.columnar.platform_ids import decide_platform_ids


def decide_in_bulk(texts: Any, kind: Kind, countries: Any | None, rules: Rules) -> Decisions:
    """The decisions on `texts` that are certain; the others are left to the definition.

    Holds raw values: to be called from a guarded function only.
    """
    return _BULK_RULES.get(kind, _leave)(texts, countries, rules)


def _leave(texts: Any, countries: Any | None, rules: Rules) -> Decisions:
    """Leave every value to the definition: a kind without a rule for whole columns."""
    return Decisions(pa.nulls(len(texts), pa.string()), arrow_array(np.full(len(texts), UNDECIDED, dtype=np.int8)))


_BULK_RULES: Final[Mapping[Kind, Callable[[Any, Any | None, Rules], Decisions]]] = {
    Kind.EMAIL: lambda texts, countries, rules: decide_emails(texts),
    Kind.PHONE_NUMBER: decide_phone_numbers,
    Kind.DEVICE_ID: lambda texts, countries, rules: decide_device_ids(texts, rules),
    Kind.HANDLE: lambda texts, countries, rules: decide_handles(texts),
    Kind.PLATFORM_ID: lambda texts, countries, rules: decide_platform_ids(texts),
    Kind.PARTNER_USER_ID: lambda texts, countries, rules: decide_partner_user_ids(texts),
}
