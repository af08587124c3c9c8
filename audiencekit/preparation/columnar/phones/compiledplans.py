"""Compiled numbering plans between runs: those that come with this package, and those that were compiled for its user.

They are taken only for what they were compiled from (`planfile.py`). So neither another release of phonenumbers that
changes a plan, nor a change of ours, nor a program that changes the metadata is given what is not its own.
"""

from __future__ import annotations

import pkgutil
from typing import Final

from audiencekit.preparation.columnar.phones.planfile import CompiledPlan, PlanFile, compilers, written
from audiencekit.state.directory import Cache

# The file beside this module; compiled from the metadata of phonenumbers (Apache License 2.0) by `-m generators`.
SUPPLIED: Final = "numbering-plans.bin"
CACHED: Final = "numbering-plans"  # and the name in the cache of a user


class CompiledPlans:
    """Plans by calling code. `supplied` is a file that is only read; what is compiled is written to `cache`."""

    def __init__(self, cache: Cache | None, supplied: bytes | None) -> None:
        self._cache = cache if compilers() else None
        self._cached = PlanFile(self._cache.read(CACHED) if self._cache else None)
        self._supplied = PlanFile(supplied)
        self._plans: dict[int, CompiledPlan] = {}
        self._compared: set[int] = set()
        self._unwritten: set[int] = set()

    def compare_again(self) -> None:
        """The plan of each calling code that is asked for from now on is compared with its metadata, once."""
        self._compared.clear()

    def of(self, calling_code: int) -> CompiledPlan:
        """The plan of a calling code as far as it is known, perhaps with nothing compiled."""
        if calling_code not in self._compared:
            plan = self._plans.get(calling_code)
            if plan is None or not plan.is_of_now(calling_code):
                self._plans[calling_code] = self._found(calling_code) or CompiledPlan.of_now(calling_code)
            self._compared.add(calling_code)
        return self._plans[calling_code]

    def _found(self, calling_code: int) -> CompiledPlan | None:
        for file in (self._cached, self._supplied):
            plan = file.read(calling_code)
            texts = dict(plan.texts) if plan else {}
            if plan and plan.is_of_now(calling_code):
                if plan.texts != texts:
                    self._unwritten.add(calling_code)
                return plan
        return None

    def add(self, calling_code: int, name: str, start: int) -> None:
        """Note that the region or code called `name` begins with the state `start` of the plan of `calling_code`."""
        self._plans[calling_code].starts[name] = start
        self._unwritten.add(calling_code)

    def write(self) -> None:
        """Keep what no file has yet for later processes, where it can be said what it was compiled from."""
        if not self._unwritten or not self._cache:
            return
        plans = {code: plan for code in self._cached.codes() if (plan := self._cached.read(code))}
        plans |= {code: self._plans[code] for code in self._unwritten}
        self._cache.write(CACHED, content := written(plans))
        self._cached = PlanFile(content)
        self._unwritten.clear()


def supplied_plans() -> bytes | None:
    """The file of plans that comes with this package; None where it is not there."""
    try:
        return pkgutil.get_data(__package__, SUPPLIED)
    except OSError:
        return None
