"""Values of a column, decided by kernels; those that kernels leave open, by the definition."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from audiencekit.identifiers.kinds import Kind, Rules
from audiencekit.records.batches import MappedColumn
from audiencekit.records.by_definition import Decided, decide_by_rules, decide_one_by_one
from audiencekit.records.columns.arrays import PENDING, VALID, arrow_array, hash_array, hash_matrix
from audiencekit.records.columns.certain_values import decide_emails, decide_phone_numbers
from audiencekit.records.columns.text_kernels import TextKernels


class CompiledValues:
    """Emails and phone numbers are decided and hashed at once by a kernel: most of most lists."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._kernels = TextKernels(library)

    def decide(self, texts: Any, column: MappedColumn, countries: Any | None, rules: Rules) -> Decided:
        """Decide each of `texts` (pa.StringArray).

        `countries` (see `resolve_countries`, or None) are those of the values. Holds raw values: to be called from a
        guarded function only.
        """
        match column.kind:
            case Kind.EMAIL if not column.hashed:
                codes, hashes = decide_emails(texts, self._kernels)
            case Kind.PHONE_NUMBER if not column.hashed:
                codes, hashes = decide_phone_numbers(texts, countries, rules, self._kernels)
            case _:
                return decide_by_rules(texts, column, countries, rules)
        left = np.flatnonzero(codes == PENDING)
        if len(left):
            places = arrow_array(left)
            where = countries.take(places) if countries is not None else None
            rest = decide_one_by_one(texts.take(places), column, where, rules)
            codes[left] = rest.codes
            hashes[left[rest.codes == VALID]] = hash_matrix(rest.values)
        return Decided(codes, hash_array(self._kernels.keep_valid(codes, hashes)), len(left))
