"""The page of a run in a real browser: what is shown, what is asked for, and who can read it."""

from __future__ import annotations

import asyncio
import json
import os
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import MISSING, Browser
from tests.reporting.badday import BadDay, bad_day
from tests.reporting.webpages import PageNumbers, number_at

pytest.importorskip("matplotlib", reason="the extra `html` is not installed")
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {' and '.join(MISSING)}")

from audiencekit.reporting.page.page import report_page  # noqa: E402

AXE = os.environ.get("AXE_CORE", "")  # the script of axe-core, of npm
WIDTHS = (1_200, 500)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium with an empty profile."""
    with Browser() as running:
        yield running


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> BadDay:
    """A sync with losses, while the service refuses, is away and asks to wait."""
    return asyncio.run(bad_day(tmp_path_factory.mktemp("day"), sizes=(("2026-08-01T06:00:00Z", 900),)))


@pytest.fixture
def page(day: BadDay, tmp_path: Path) -> str:
    """The address of its page, which has every part."""
    (tmp_path / "page.html").write_text(report_page(day.document, expiry=day.expiry), encoding="utf-8")
    return (tmp_path / "page.html").as_uri()


def test_all_its_numbers_are_those_of_the_documents(day: BadDay) -> None:
    """Of rows, losses, kinds and their overlap, requests, members and sizes; and nothing of the day is missing."""
    page = PageNumbers(report_page(day.document, expiry=day.expiry))
    assert page.cells == {key: number_at(day.document, key) for key in page.cells}
    assert {key.partition(".")[0] for key in page.cells} == {
        "rows", "rejections", "identifiers", "combinations", "requests", "reconciliation", "changes", "history",
    }  # fmt: skip
    assert sum(day.document["pace"]["waits"]) == 1
    assert sum(day.document["pace"]["attempts"]) > sum(day.document["pace"]["requests"])
    assert day.document["history"][-1]["match_rate"] is not None


@pytest.mark.services
@pytest.mark.parametrize("width", WIDTHS)
def test_it_is_shown_whole_and_asks_for_nothing(browser: Browser, page: str, width: int) -> None:
    """No line on the console, no request but the file itself; only tables and pictures scroll sideways."""
    browser.said()
    browser.requests()
    browser.open(page)
    picture = browser.picture(width, 1_000)
    assert struct.unpack(">II", picture[16:24])[0] > width // 2
    assert browser.shows("When members expire")
    assert browser.run("return document.documentElement.scrollWidth <= window.innerWidth")
    assert browser.run("return document.querySelectorAll('figure svg').length") == 7
    assert browser.said() == []
    assert {address for address in browser.requests() if not address.startswith("data:")} == {page}


@pytest.mark.services
@pytest.mark.skipif(not AXE, reason="AXE_CORE names no script of axe-core")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible(browser: Browser, page: str, scheme: str) -> None:
    """By axe-core: contrasts, names and order, by day and by night."""
    browser.open(page)
    browser.prefer(scheme)
    browser.run(Path(AXE).read_text(encoding="utf-8"))
    found = browser.run("return axe.run(document).then(found => found.violations)")
    assert [f"{one['id']}: {json.dumps([node['target'] for node in one['nodes']])}" for one in found] == []
