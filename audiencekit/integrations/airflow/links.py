"""The link from a task to the page of its run."""

from __future__ import annotations

from typing import Any, Final

from audiencekit.integrations.airflow.versions import BaseOperatorLink, XCom

PAGE_URL: Final = "page_url"  # the XCom that has it: the web server does not know how a template was rendered


class ReportLink(BaseOperatorLink):
    """The button of a task whose operator has a `page_url`."""

    name = "Report"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """The address of the page; empty for a task that has none."""
        return str(XCom.get_value(ti_key=ti_key, key=PAGE_URL) or "")
