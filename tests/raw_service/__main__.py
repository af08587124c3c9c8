# ruff: noqa: T201
"""A campaign: `python -m tests.raw_service --runs N --seed S --command upload|sync|forget`."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections import Counter
from pathlib import Path

from tests.raw_service.campaign import COMMANDS, Outcome, run_seed
from tests.raw_service.preloaded import Preloaded


async def campaign(options: argparse.Namespace) -> int:
    """Run the seeds, `--at-once` at a time; returns how many runs deviated."""
    seeds = iter(range(options.seed, options.seed + options.runs))
    outcomes: list[Outcome] = []
    end = time.monotonic() + options.minutes * 60

    preloaded = Preloaded() if options.preload else None

    async def work() -> None:
        for seed in seeds:
            if time.monotonic() > end:
                return
            command = options.command or COMMANDS[seed % 3]
            outcome = await run_seed(
                command, seed, undecidable=options.undecidable, one_fault=options.fault, preloaded=preloaded
            )
            outcomes.append(outcome)
            show(outcome, Path(options.logs) if options.logs else None)

    await asyncio.gather(*(work() for _ in range(options.at_once)))
    if preloaded is not None:
        await preloaded.end()
    total(outcomes)
    return sum(1 for outcome in outcomes if outcome.deviations)


def show(outcome: Outcome, logs: Path | None) -> None:
    exits = " ".join(f"{code}x{count}" for code, count in sorted(outcome.exits.items()))
    met = outcome.met.total()
    print(
        f"{outcome.command} seed {outcome.seed}: {outcome.requests} requests, {met} faults, exits {exits}",
        *(f"  DEVIATION {text}" for text in outcome.deviations),
        *(f"  stuck: {t}" for t in outcome.stuck),
        sep="\n",
        flush=True,
    )
    if outcome.deviations or outcome.stuck:
        print("  faults:", "; ".join(sorted(outcome.met)), flush=True)
    if logs is not None:
        logs.mkdir(exist_ok=True)
        mark = "-DEVIATION" if outcome.deviations else "-stuck" if outcome.stuck else ""
        (logs / f"{outcome.command}-{outcome.seed}{mark}.log").write_text("\n".join(outcome.log) + "\n")


def total(outcomes: list[Outcome]) -> None:
    met: Counter[str] = sum((outcome.met for outcome in outcomes), Counter())
    exits: Counter[int] = sum((outcome.exits for outcome in outcomes), Counter())
    processes, requests = sum(o.processes for o in outcomes), sum(o.requests for o in outcomes)
    print(f"\n{len(outcomes)} runs, {processes} processes, {requests} requests")
    print(f"{sum(o.completed for o in outcomes)} said complete; exit codes {dict(sorted(exits.items()))}")
    print(f"{sum(o.reused for o in outcomes)} requests on a connection that had been used")
    print(f"{met.total()} faults of {len(met)} kinds")
    for name, count in sorted(met.items()):
        print(f"  {count:4d} {name}")
    print("deviations:", [f"{o.command} {o.seed}" for o in outcomes if o.deviations])
    print("stuck:", [f"{o.command} {o.seed}" for o in outcomes if o.stuck])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.raw_service", description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--command", choices=COMMANDS, help="by default all three by turns")
    parser.add_argument("--at-once", type=int, default=1, help="runs at the same time")
    parser.add_argument("--minutes", type=float, default=600.0, help="begin no run after so long")
    parser.add_argument("--fault", default="", help="only this fault")
    parser.add_argument("--undecidable", action="store_true", help="also answers that no client can tell from its own")
    parser.add_argument("--preload", action="store_true", help="load the program once, and fork it for each start")
    parser.add_argument("--logs", default="", help="a directory for what was on the wire, in words")
    return 1 if asyncio.run(campaign(parser.parse_args())) else 0


if __name__ == "__main__":
    sys.exit(main())
