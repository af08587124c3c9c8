"""A file of plans gives what was written, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from audiencekit.preparation.columnar.phones import planfile
from audiencekit.preparation.columnar.phones.planfile import CompiledPlan, PlanFile, written
from audiencekit.preparation.columnar.phones.states import StateRows


def _plan(calling_code: int, *readings: int) -> CompiledPlan:
    """A plan of the metadata as it is now: each of `readings` leads to the one before."""
    plan = CompiledPlan.of_now(calling_code)
    state = plan.states.intern(readings[0], ())
    for reading in readings[1:]:
        state = plan.states.intern(reading, (state,) * 10)
    plan.starts[str(calling_code)] = state
    return plan


PLANS = {49: _plan(49, 1, 2, 3), 800: _plan(800, 4)}


def test_plans_are_read_as_they_were_written() -> None:
    """Each by its calling code, whatever stands beside it."""
    file = PlanFile(written(PLANS))
    assert file.codes() == [49, 800]
    for code, plan in PLANS.items():
        read = file.read(code)
        assert read is not None
        assert (read.in_memory, read.texts, read.starts) == (plan.in_memory, plan.texts, plan.starts)
        rows, readings = read.states.arrays()
        assert [rows.tolist(), readings.tolist()] == [part.tolist() for part in plan.states.arrays()]
    assert file.read(33) is None


def _leading_away(plan: CompiledPlan) -> CompiledPlan:
    rows, readings = plan.states.arrays()
    away = rows.copy()
    away[-1, 0] = len(rows)
    return replace(plan, states=StateRows(away, readings))


def _beginning_away(plan: CompiledPlan) -> CompiledPlan:
    return replace(plan, starts={"49": len(plan.states)})


@pytest.mark.parametrize(
    "broken",
    [
        lambda _: b"",
        lambda _: b"[]" * 100,
        lambda content: content[: len(content) // 2],
        lambda content: content.replace(b'"states":3', b'"states":2'),
        lambda content: content.replace(b'"place"', b'"plaze"'),
        lambda content: content[:-30] + bytes(30),
        lambda _: written({49: _leading_away(PLANS[49])}),
        lambda _: written({49: _beginning_away(PLANS[49])}),
    ],
    ids=[
        "empty",
        "something else",
        "cut",
        "fewer states",
        "another key",
        "zeros",
        "no such state",
        "no such beginning",
    ],
)
def test_a_plan_that_makes_no_sense_is_not_read(broken: Callable[[bytes], bytes]) -> None:
    """It is then compiled."""
    content = written({49: PLANS[49]})
    assert PlanFile(content).read(49) is not None
    assert PlanFile(broken(content)).read(49) is None


def test_plans_of_other_modules_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of how plans are compiled makes each file out of date."""
    content = written(PLANS)
    monkeypatch.setattr(planfile, "compilers", lambda: "other")
    assert PlanFile(content).codes() == []
    assert PlanFile(content).read(49) is None
