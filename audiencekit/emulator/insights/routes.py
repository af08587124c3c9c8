"""The endpoint of keyword insights, which belongs to no account."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.insights.keywords import search_keywords
from audiencekit.emulator.rate_limits import KEYWORD_READS
from audiencekit.emulator.routing import Route

ROUTES: Final = (Route("GET", "/insights/keywords/search", search_keywords, KEYWORD_READS),)
