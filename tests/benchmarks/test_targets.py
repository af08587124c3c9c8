"""Targets, and the figures reached."""

from __future__ import annotations

import pytest

from benchmarks.benchmark import CONTACTS, Benchmark
from benchmarks.cores import ALL, APART, ONE
from benchmarks.duplicates import CHECK, WITHOUT
from benchmarks.memory import PREPARE, UPLOAD
from benchmarks.prepare import DATAFUSION, DUCKDB, OURS, PLAIN_LOOP
from benchmarks.series import Run, Series, Spread
from benchmarks.steps import Sizes
from benchmarks.targets import Target, list_targets
from benchmarks.trials import Figures

SIZES = Sizes((200_000, 2_000_000, 20_000_000))


def _measured(*rounds: dict[str, Figures]) -> Benchmark:
    runs = [Run(number, name, told) for number, each in enumerate(rounds, 1) for name, told in each.items()]
    return Benchmark(name="any", settings={}, series=Series(tuple(runs)))


def _speeds(**of: float) -> dict[str, Figures]:
    names = {
        "ours": OURS,
        "all": ALL,
        "one": ONE,
        "apart": APART,
        "fusion": DATAFUSION,
        "duck": DUCKDB,
        "loop": PLAIN_LOOP,
    }
    return {names[name]: {"rows_per_second": speed} for name, speed in of.items()}


def _found(finished: dict[str, Benchmark], *words: str) -> Target:
    (target,) = (target for target in list_targets(finished, SIZES) if all(word in target.figure for word in words))
    return target


@pytest.mark.parametrize(
    ("median", "at_least", "verdict"),
    [(60, True, "yes"), (59.9, True, "no"), (60, False, "yes"), (60.1, False, "no")],
)
def test_a_bound_may_be_met_exactly(median: float, at_least: bool, verdict: str) -> None:
    """From above or from below, before rounding."""
    spread = Spread(median * 10, 0, 1_000)
    assert Target(figure="it", bound=60, at_least=at_least, reached=spread, scale=10).verdict == verdict


def test_cells_are_written_in_their_unit() -> None:
    """The bound, the median, the ends, the verdict."""
    spread = Spread(299_600_000, 280_000_000, 300_000_000)
    target = Target(figure="it", bound=300, at_least=False, reached=spread, unit=" MB", digits=0, scale=1e6)
    assert target.cells() == ["it", "≤ 300 MB", "300 MB", "280 – 300", "yes"]
    assert Target(figure="it", bound=0.3, reached=None).cells() == ["it", "≥ 0.3", "", "", "not measured"]


def test_nothing_measured_is_nothing_reached() -> None:
    """Every figure of the table is there all the same."""
    targets = list_targets({}, SIZES)
    assert len(targets) == 28
    assert {target.verdict for target in targets} == {"not measured"}


def test_speed_is_compared_round_by_round() -> None:
    """At two million rows, and at the most; the faster of the bare limits counts."""
    main, most = "2,000,000", "20,000,000"
    finished = {
        "prepare-20000000": _measured(_speeds(ours=600, loop=5)),
        "prepare-2000000": _measured(
            _speeds(ours=900, fusion=3_000, duck=1_000, loop=10),
            _speeds(ours=800, fusion=1_000, duck=1_000, loop=16),
            _speeds(ours=900, fusion=3_000, duck=1_200, loop=15),
        ),
    }
    assert _found(finished, f"{main} rows to", PLAIN_LOOP).reached == Spread(60, 50, 90)
    assert _found(finished, f"{main} rows to", "bare limit").reached == Spread(0.3, 0.3, 0.8)
    assert _found(finished, f"{main} rows", "facebook-business").verdict == "not measured"
    assert _found(finished, f"{most} rows to", PLAIN_LOOP).reached == Spread(120, 120, 120)
    assert _found(finished, f"{most} rows to", "bare limit").verdict == "not measured"


def test_cores_are_compared_beside_what_the_machine_gives() -> None:
    """That has no bound, and no verdict."""
    rounds = (_speeds(all=900, one=500, apart=950), _speeds(all=800, one=400, apart=800))
    finished = {
        "cores-2000000": _measured(*rounds),
        "cores-20000000": _measured(_speeds(all=850, one=500)),
    }
    assert _found(finished, "2,000,000 rows", "all cores / one").cells()[1:] == ["≥ 1.7", "1.90", "1.80 – 2.00", "yes"]
    assert _found(finished, "20,000,000 rows", "all cores / one").verdict == "yes"
    assert _found(finished, "2,000,000 rows", APART).cells()[1:] == ["", "1.95", "1.90 – 2.00", ""]
    assert _found(finished, "20,000,000 rows", APART).verdict == "not measured"


def test_bodies_are_a_share_of_what_the_service_allows() -> None:
    """125 MB/s."""
    sent = _measured({OURS: {"sending_megabytes_per_second": 250.0}})
    finished = {f"upload-{CONTACTS.replace(',', '-')}-2000000": sent}
    assert _found(finished, "pass two of `upload` (email, phone, country)").reached == Spread(2, 2, 2)
    assert _found(finished, "pass two of `upload` (email),").reached is None


def test_memory_may_not_grow_with_the_list() -> None:
    """The largest against two million; the furthest that it could be, as they are not neighbours."""
    finished = {
        "memory-2000000": _measured({PREPARE: {"peak_bytes": 200e6}}, {PREPARE: {"peak_bytes": 250e6}}),
        "memory-20000000": _measured({PREPARE: {"peak_bytes": 270e6}, UPLOAD: {"peak_bytes": 460e6}}),
    }
    assert _found(finished, "`prepare`: memory at the peak, 20,000,000 rows").verdict == "yes"
    assert _found(finished, "`prepare`: the same / 2,000,000 rows").reached == Spread(1.2, 1.08, 1.35)
    assert _found(finished, "`upload`, 16 in flight: memory").verdict == "no"
    assert _found(finished, "`upload`, 16 in flight: the same").verdict == "not measured"


def test_growth_needs_two_sizes() -> None:
    """A list against itself says nothing."""
    finished = {"memory-300": _measured({PREPARE: {"peak_bytes": 200e6}})}
    told = [target for target in list_targets(finished, Sizes((300,))) if target.figure.startswith("`prepare`: ")]
    assert [target.verdict for target in told] == ["yes", "not measured"]


def test_duplicates_are_what_is_added() -> None:
    """In percent of the time without."""
    finished = {"duplicates-20000000": _measured({CHECK: {"seconds": 25.0}, WITHOUT: {"seconds": 20.0}})}
    assert _found(finished, "finding duplicates").cells()[1:] == ["≤ 25 %", "25 %", "25 – 25", "yes"]
