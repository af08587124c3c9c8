"""Tweet volume of keywords (specification part 2, section 4.1)."""

from __future__ import annotations

from typing import Final

from .endpoint import Endpoint
from .parameters import DaysBetween, ItemsTogether, one_of, text, texts, time

ENDPOINTS: Final = (
    Endpoint(
        name="search_keyword_insights",
        group="keyword_insights",
        method="GET",
        path="/12/insights/keywords/search",
        part=2,
        section="4.1",
        parameters=(
            one_of(
                "granularity",
                "DAY",
                "HOUR",
                required=True,
                note="one data point per unit between start_time and end_time",
            ),
            texts("keywords", required=True, note="comma-separated, OR-ed"),
            time("start_time", required=True),
            time("end_time", default="now"),
            text("location", note="a targeting value from the locations targeting endpoint; country level only"),
            texts("negative_keywords", note="comma-separated, OR-ed"),
        ),
        rules=(
            ItemsTogether(("keywords", "negative_keywords"), 10),
            DaysBetween("start_time", "end_time", 7),
        ),
        auth="ads_user",
    ),
)
