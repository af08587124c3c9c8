"""The pages of a run and of a machine in a real browser: what is shown, what is asked for, and who can read it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from audiencekit.conformance.verifying import verify_function
from audiencekit.reporting.page.machine_page import machine_page
from audiencekit.reporting.page.page import report_page
from audiencekit.reporting.page.page_parts import View
from audiencekit.reporting.page.verification_page import verification_page
from tests.browser import MISSING, Browser
from tests.reporting.badday import BadDay, bad_day, machine
from tests.reporting.webpages import PageNumbers, number_at

AXE = os.environ.get("AXE_CORE", "")  # the script of axe-core, of npm
WIDTHS = (360, 1_280)
SMALLEST = 12  # px of a letter
PAGES = {"run": "When members expire", "shared": "When members expire", "machine": "What to do next",
         "verification": "What is wrong, and what mends it"}  # fmt: skip
pages = pytest.mark.parametrize("page", PAGES, indirect=True)
needs_browser = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {' and '.join(MISSING)}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium with an empty profile."""
    with Browser() as running:
        yield running


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> BadDay:
    """A sync with losses, while the service refuses, is away and asks to wait."""
    return asyncio.run(bad_day(tmp_path_factory.mktemp("day"), sizes=(("2026-08-01T06:00:00Z", 900),)))


@pytest.fixture(scope="module")
def written(day: BadDay, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the pages, which have every part."""
    directory = tmp_path_factory.mktemp("pages")
    document, _ = asyncio.run(machine(tmp_path_factory.mktemp("machine")))
    found = {
        "run": report_page(day.document, expiry=day.expiry, last=day.last),
        "shared": report_page(day.document, View(is_floored=True), expiry=day.expiry, last=day.last),
        "machine": machine_page(document, View(is_floored=True)),
        "verification": verification_page(verify_function(_trimmed, kind="email").to_json(), View()),
    }
    for name, text in found.items():
        (directory / f"{name}.html").write_text(text, encoding="utf-8")
    return directory


def _trimmed(text: str, _: str | None) -> str:
    """A pipeline that only trims."""
    return hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()


@pytest.fixture
def page(written: Path, request: pytest.FixtureRequest) -> tuple[str, str]:
    """The address of a page, and words of it."""
    return (written / f"{request.param}.html").as_uri(), PAGES[request.param]


@pytest.mark.slow
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


@pages
@needs_browser
@pytest.mark.services
@pytest.mark.parametrize("width", WIDTHS)
def test_it_is_shown_whole_and_asks_for_nothing(browser: Browser, page: tuple[str, str], width: int) -> None:
    """No line on the console, no request but the file itself; also in the window of a phone only tables scroll."""
    address, words = page
    browser.said()
    browser.requests()
    browser.open(address)
    browser.resize(width, 1_000)
    picture = browser.picture(width, 1_000)
    assert struct.unpack(">II", picture[16:24])[0] == width
    assert browser.shows(words)
    browser.run("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert browser.run("return document.documentElement.scrollWidth <= window.innerWidth")
    edge = "one => Math.ceil(one.getBoundingClientRect().right)"
    legends = (
        f"[...document.querySelectorAll('.ak-legend')].map(one => [one, ...one.querySelectorAll('*')].map({edge}))"
    )
    assert [edges for edges in browser.run(f"return {legends}") if max(edges) > edges[0]] == []
    assert browser.run("return document.querySelectorAll('svg, .ak-bar').length") > 0
    sizes = "[...document.querySelectorAll('body *')].map(one => parseFloat(getComputedStyle(one).fontSize))"
    assert browser.run(f"return Math.min(...{sizes})") >= SMALLEST
    assert browser.said() == []
    assert {asked for asked in browser.requests() if not asked.startswith("data:")} == {address}


@pages
@needs_browser
@pytest.mark.services
@pytest.mark.skipif(not AXE, reason="AXE_CORE names no script of axe-core")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_is_accessible(browser: Browser, page: tuple[str, str], scheme: str, width: int) -> None:
    """By axe-core: contrasts, names and order, by day and by night, folded and unfolded."""
    browser.open(page[0])
    browser.prefer(scheme)
    browser.resize(width, 1_000)
    browser.run(Path(AXE).read_text(encoding="utf-8"))
    for unfolded in ("false", "true"):
        browser.run(f"document.querySelectorAll('details').forEach(one => {{ one.open = {unfolded} }})")
        found = browser.run("return axe.run(document).then(found => found.violations)")
        assert [f"{one['id']}: {json.dumps([node['target'] for node in one['nodes']])}" for one in found] == []
