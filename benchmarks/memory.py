"""Memory at its peak: `prepare --requests`, and `upload` with 16 requests in flight to the emulator.

    python -m benchmarks.memory --rows 2000000 --runs 2 --json out.json

Run it for a long and for a short list to see whether memory grows with the input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from benchmarks.benchmark import Benchmark, add_mix, benchmark_parser, contact_list, settings_of, tell
from benchmarks.emulator_process import run_with_emulator
from benchmarks.series import run_series
from benchmarks.trials import Contestant, Figures, run_trial

PREPARE: Final = "prepare"
UPLOAD: Final = "upload"
IN_FLIGHT: Final = 16


def main(arguments: Sequence[str] | None = None) -> None:
    """Run both in turn, print medians, and write the JSON that was asked for."""
    parser = benchmark_parser("memory", "Resident memory at its peak.", rows=200_000, runs=2)
    add_mix(parser)
    given = parser.parse_args(arguments)
    with contact_list(given.rows, given.seed, lists=given.lists, mix=given.mix) as path:
        in_flight = {"AUDIENCEKIT_CONCURRENCY": str(IN_FLIGHT)}
        contestants = [
            Contestant(name=PREPARE, module="benchmarks.live_prepare", is_ours=True, arguments=(str(path),)),
            Contestant(
                name=UPLOAD,
                module="benchmarks.live_upload",
                is_ours=True,
                arguments=(str(path),),
                environment=in_flight,
            ),
        ]
        series = run_series(contestants, given.runs, trial=_run, tell=tell)
    Benchmark(name="memory", settings=settings_of(given), series=series).publish(given.json)


def _run(contestant: Contestant) -> Figures:
    return run_with_emulator(contestant) if contestant.name == UPLOAD else run_trial(contestant)


if __name__ == "__main__":
    main()
