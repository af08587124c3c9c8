"""Addresses of invented people: a few providers hold most of them, and tens of thousands of domains the rest.

Every domain ends in `.example`, which is reserved (RFC 2606): no address can exist.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.draws import Draws

DOMAINS: Final = 20_000
PROVIDERS: Final = 10  # domains at the head, each with four times what its place would give it
INTERNATIONALISED_ONE_IN: Final = 100


def _words(text: str) -> list[str]:
    return text.split()


_FIRST: Final = _words(
    "ada bo cem dita eero fay gus hana ivo jun kaya lev mira noa olga piet quinn rosa sami tove uma vera wim xenia "
    "yara zeno alma bela cora dario elif finn greta hugo inga jonas klara lars maja nils"
)
_LAST: Final = _words(
    "arden birk colt dahl esser finch grove holm iven jarl keel lund marsh nord oaks pell quist rowan stane thorn "
    "ulvik voss wells yarrow zander ashby brook crane drake elm"
)
_MATERIALS: Final = _words(
    "amber basalt cedar copper delta ember fjord granite harbor indigo juniper kelp larch maple nickel onyx pebble "
    "quartz ridge sable tundra umber velvet willow zephyr"
)
_TRADES: Final = _words(
    "bank clinic depot energy foods garden hotel industry jet kitchen labs mail market news office post quarry rail "
    "school travel union valley works yard zone"
)
_FOREIGN_NAMES: Final = ("jörg", "zoë", "søren", "łukasz", "andré", "иван", "μαρία", "花子", "nuño", "çelik")
_FOREIGN_DOMAINS: Final = ("bücher", "münchen", "café", "smörgås", "почта", "例え", "señal", "façade", "łódź", "ελιά")

PLACEHOLDERS: Final = ("n/a", "null", "-", "none", "unknown", "test@test.com", "noemail@noemail.com", "")


class Emails:
    """Makes columns of addresses. The tables are built once."""

    def __init__(self) -> None:
        self._first, self._last = pa.array(_FIRST), pa.array(_LAST)
        self._domains = pa.array([_domain(rank) for rank in range(DOMAINS)])
        # Whole numbers: floating point could round another way on another machine.
        weights = 1_000_000_000 // np.arange(1, DOMAINS + 1, dtype=np.int64)
        weights[:PROVIDERS] *= 4
        self._shares = np.cumsum(weights)

    def clean(self, draws: Draws) -> Any:
        """Lower-case addresses, one a row, one in a hundred internationalised in its name or in its domain."""
        ranks = np.searchsorted(self._shares, draws.below(int(self._shares[-1])), side="right")
        domain = self._domains.take(pa.array(ranks))
        first, last = draws.words(self._first), draws.words(self._last)
        local = _local_parts(draws, first, last)
        foreign = draws.chance(INTERNATIONALISED_ONE_IN)
        in_name = draws.chance(2)
        foreign_local = pc.binary_join_element_wise(draws.words(pa.array(_FOREIGN_NAMES)), draws.numbers(10_000), ".")
        stem = pc.binary_join_element_wise(draws.words(pa.array(_FOREIGN_DOMAINS)), draws.numbers(100), "")
        foreign_domain = pc.binary_join_element_wise(stem, "example", ".")
        local = pc.if_else(pc.and_(foreign, in_name), foreign_local, local)
        domain = pc.if_else(pc.and_(foreign, pc.invert(in_name)), foreign_domain, domain)
        return pc.binary_join_element_wise(local, domain, "@")


def _domain(rank: int) -> str:
    material, rest = _MATERIALS[rank % len(_MATERIALS)], rank // len(_MATERIALS)
    trade, number = _TRADES[rest % len(_TRADES)], rest // len(_TRADES)
    return f"{material}{'-' if rank % 5 == 4 else ''}{trade}{number or ''}.example"


def _local_parts(draws: Draws, first: Any, last: Any) -> Any:
    """first.last12, alast3456, first_last78, first1987: the ways people write themselves.

    The numbers are long enough that two of 100 million people hardly ever have one address.
    """
    form = draws.below(4)
    dotted = pc.binary_join_element_wise(pc.binary_join_element_wise(first, last, "."), draws.numbers(1_000_000), "")
    short = pc.binary_join_element_wise(pc.utf8_slice_codeunits(first, 0, 1), last, draws.numbers(10_000_000), "")
    plain = pc.binary_join_element_wise(pc.binary_join_element_wise(first, last, "_"), draws.numbers(1_000_000), "")
    year = pc.binary_join_element_wise(first, draws.numbers(10_000_000), "")
    return pc.choose(pa.array(form), dotted, short, plain, year)
