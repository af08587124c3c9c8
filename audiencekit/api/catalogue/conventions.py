"""Questions that the specification leaves open for all of its endpoints, and our answers."""

from __future__ import annotations

from typing import Final

# Of an endpoint that the specification only names.
NAMED: Final = "named in the specification and not shown: the form is that of the public service"
AMBIGUITIES: Final = (
    "Bodies of answers are not shown: the result stands in `data`, one object also as a list of one.",
    "The member with the token of the next page is not shown: `next_cursor`, which is null on the last page.",
    "How calls of the ads API are signed is not shown: by OAuth 1.0a with the token of a person, as in part 0.",
    "Statuses and codes of most refusals are not stated: what the service answers is passed on, status and codes.",
    "Whether the sandbox serves more than what is for the sandbox only is not stated: the rest goes elsewhere.",
    "Part 2 does not repeat that single writes take their parameters in the query: they do, as in part 1.",
    "Only recommendations are said to have version 5 in the path, and tailored permissions have it too: both do.",
    "How times with an offset are taken is not stated: every time is sent in UTC and whole seconds.",
)
