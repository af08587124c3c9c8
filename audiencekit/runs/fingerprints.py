"""Digests of what a run has read, by which a resumed run knows that its sources are the same."""

from __future__ import annotations

from audiencekit.planning.reading import OnRecords
from audiencekit.preparation.chunks import RecordChunk
from audiencekit.runs.journal.digests import SUPPRESSION, RecordsFingerprint
from audiencekit.runs.run import Run


class Fingerprints:
    """Digests of all records that were read: those of the source, and those of suppression sources.

    Of none when the run is begun again and not resumed: then nothing is compared with them.
    """

    def __init__(self, run: Run) -> None:
        self._records, self._suppressed = RecordsFingerprint(run.key), RecordsFingerprint(run.key, SUPPRESSION)
        self._is_compared = not run.facts.again

    @property
    def on_records(self) -> OnRecords | None:
        """Takes in the next batch of the source; None when nothing is to be compared with it."""
        return self._records.add if self._is_compared else None

    def add_suppressed(self, chunk: RecordChunk) -> None:
        """Take in the next batch of a suppression source."""
        if self._is_compared:
            self._suppressed.add(chunk)

    def finish(self) -> tuple[str, str]:
        """Both, in hex."""
        return self._records.finish(), self._suppressed.finish()
