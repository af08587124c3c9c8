"""Values of a column without kernels, decided by rules for whole columns; those that the rules leave open, by the
definition."""

from __future__ import annotations

from typing import Any

from audiencekit.identifiers.kinds import Kind, Rules
from audiencekit.records.batches import MappedColumn
from audiencekit.records.by_definition import Decided, complete, decide_by_rules
from audiencekit.records.columns.plain_emails import decide_emails
from audiencekit.records.phones.plain_numbers import decide_phone_numbers


class PlainValues:
    """The function of `CompiledValues`, which describes it, with the same results."""

    def decide(self, texts: Any, column: MappedColumn, countries: Any | None, rules: Rules) -> Decided:
        match column.kind:
            case Kind.EMAIL if not column.hashed:
                decisions = decide_emails(texts)
            case Kind.PHONE_NUMBER if not column.hashed:
                decisions = decide_phone_numbers(texts, countries, rules)
            case _:
                return decide_by_rules(texts, column, countries, rules)
        return complete(decisions, texts, column, countries, rules)
