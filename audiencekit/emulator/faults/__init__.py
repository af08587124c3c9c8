"""Faults on demand: the catalogue, how they are ordered, and what each does to a request."""

from audiencekit.emulator.faults.fault import Fault
from audiencekit.emulator.faults.reading import (
    FaultError,
    load_faults,
    read_fault,
    read_faults,
    read_rehearsal,
    rehearsals,
)

__all__ = ["Fault", "FaultError", "load_faults", "read_fault", "read_faults", "read_rehearsal", "rehearsals"]
