"""Tweet volume of keywords (specification part 2, section 4.1)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Section
from audiencekit.api.catalogue.parameters import one_of, text, texts, time
from audiencekit.api.catalogue.rules import DaysBetween, ItemsTogether

ENDPOINTS: Final = (
    Section("keyword_insights", part=2, section="4.1").get(
        "search_keyword_insights",
        "/12/insights/keywords/search",
        one_of("granularity", "DAY", "HOUR", required=True, note="of the volumes that come back"),
        texts("keywords", required=True, note="any of them"),
        time("start_time", required=True),
        time("end_time", default="now"),
        text("location", note="the targeting value of a country"),
        texts("negative_keywords", note="none of them"),
        rules=(
            ItemsTogether(("keywords", "negative_keywords"), 10),
            DaysBetween("start_time", "end_time", 7),
        ),
        notes=("the answer is about one country",),
    ),
)
