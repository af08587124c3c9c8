"""The documentation site: it is whole, asks no other host for anything, and its pictures show what is printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.moments import PATIENCE_SECONDS
from tests.terminal_pictures import COMMANDS, picture

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site: a warning is an error, and a broken link is a warning."""
    pytest.importorskip("furo", reason="the extra docs is not installed")
    built = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", str(DOCS), str(ROOT), str(built)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    return built


def _pages(site: Path) -> list[Path]:
    return [page for page in site.rglob("*.html") if "_static" not in page.parts]


@pytest.mark.slow
def test_each_page_of_docs_is_in_the_site(site: Path) -> None:
    """None is forgotten in the table of contents, or the build would have failed."""
    built = {page.relative_to(site / "docs").with_suffix("") for page in (site / "docs").rglob("*.html")}
    assert built == {page.relative_to(DOCS).with_suffix("") for page in DOCS.rglob("*.md")}


@pytest.mark.slow
def test_the_site_needs_no_other_host(site: Path) -> None:
    """No script, style, font or picture comes from elsewhere, so that it can be read and searched offline."""
    fetched = re.compile(r"<(?:script|img|link|iframe)\b[^>]*?\b(?:src|href)=\"((?:https?:)?//[^\"]+)\"")
    pages = _pages(site)
    assert len(pages) > 30
    assert {address for page in pages for address in fetched.findall(page.read_text(encoding="utf-8"))} == set()
    styles = [style.read_text(encoding="utf-8") for style in (site / "_static").rglob("*.css")]
    assert not [style for style in styles if re.search(r"url\(\s*[\"']?(?:https?:)?//", style)]


@pytest.mark.slow
def test_the_top_of_the_site_leads_to_its_pages(site: Path) -> None:
    """`index.html` leads to the first page, `404.html` too, and each link of `llms.txt` to a page."""
    for name in ("index.html", "404.html"):
        assert "index.html" in (site / name).read_text(encoding="utf-8")
    (first,) = re.findall(r'content="0; url=([^"]+)"', (site / "index.html").read_text(encoding="utf-8"))
    linked = re.findall(r"\]\((\S+)\)", (site / "llms.txt").read_text(encoding="utf-8"))
    assert [link for link in (first, *linked) if not (site / link).is_file()] == []
    assert len(linked) > 20


@pytest.mark.slow
def test_the_copyright_of_the_site_names_its_owner(site: Path) -> None:
    """In the foot of each page."""
    pages = [page.read_text(encoding="utf-8") for page in (site / "docs").rglob("*.html")]
    assert all(re.search(r"Copyright &#169; 20\d\d, the authors of audiencekit", page) for page in pages)


@pytest.mark.slow
def test_the_search_has_an_index(site: Path) -> None:
    """It is a file of the site, and knows the words of the pages."""
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert '"docs/tutorial"' in index
    assert "excel_mangl" in index


def _words(svg: str) -> list[str]:
    """Return the words of a picture, without times and ids, which differ from run to run."""
    shown = "\n".join(text for text in ElementTree.fromstring(svg).itertext()).replace("\xa0", " ")
    return re.sub(
        r"\d{4}-?\d\d-?\d\d\S*|\d+ s\b|\d\d:\d\d|\(\w{5}\)", "…", shown[shown.index("$ audiencekit") :]
    ).split()


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_picture_shows_what_the_command_prints(name: str) -> None:
    """`python -m tests.terminal_pictures docs/images` takes them again."""
    assert _words((DOCS / "images" / name).read_text(encoding="utf-8")) == _words(picture(COMMANDS[name]))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_picture_fetches_nothing(name: str) -> None:
    """No font of another host."""
    assert "url(http" not in (DOCS / "images" / name).read_text(encoding="utf-8")
