"""Chromium, driven over chromedriver's HTTP (W3C WebDriver): what a person sees, types and presses."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from tests.moments import PATIENCE_SECONDS

DRIVER: Final = "chromedriver"
CHROMIUM: Final = next(filter(shutil.which, ("chromium", "chromium-browser", "google-chrome")), None)
MISSING: Final = [name for name, found in ((DRIVER, shutil.which(DRIVER)), ("chromium", CHROMIUM)) if not found]
# Nothing but what the test opens: no services of the browser, no component that looks for updates.
_ARGUMENTS: Final = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps"),
    *("--disable-breakpad", "--disable-crash-reporter"),
    *("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",),
)
_ELEMENT: Final = "element-6066-11e4-a52e-4f735466cecf"  # the key of the W3C standard


class Browser:
    """One session with a profile of its own. Neither a file nor a process of it is left when it ends."""

    def __init__(self) -> None:
        self._directory = tempfile.mkdtemp(prefix="browser-")
        self.downloads = Path(self._directory, "downloads")
        self.downloads.mkdir()
        self._session = ""
        # Files that it would write to the home directory and to that of temporary files go there, too.
        home = {"HOME": self._directory, "TMPDIR": self._directory}
        env = {name: text for name, text in os.environ.items() if not name.startswith("XDG_")} | home
        self._driver = subprocess.Popen(
            [DRIVER, "--port=0"],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        try:
            self._begin()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _begin(self) -> None:
        assert self._driver.stdout is not None
        told = (re.search(r"on port ([1-9]\d*)", line) for line in self._driver.stdout)
        port = next(found[1] for found in told if found)
        self._base = f"http://127.0.0.1:{port}"
        options = {
            "binary": shutil.which(CHROMIUM or ""),
            "args": [*_ARGUMENTS, f"--user-data-dir={self._directory}/profile"],
            "prefs": {"download.default_directory": str(self.downloads), "download.prompt_for_download": False},
        }
        logged = {"goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        wanted = {"capabilities": {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options, **logged}}}
        made = self._ask("POST", "/session", wanted)
        self._session = f"/session/{made['sessionId']}"
        milliseconds = int(PATIENCE_SECONDS * 1_000)
        self._ask(
            "POST",
            f"{self._session}/timeouts",
            {"implicit": milliseconds, "pageLoad": milliseconds, "script": milliseconds},
        )

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            if self._session:
                self._ask("DELETE", self._session)
        finally:
            self._driver.terminate()
            self._driver.communicate(timeout=PATIENCE_SECONDS)
            while left := processes_of(self._directory):
                for number in left:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(number, signal.SIGKILL)
                time.sleep(0.02)
            shutil.rmtree(self._directory, ignore_errors=True)

    def open(self, address: str) -> None:
        """Open a page, as if its address were typed."""
        self._ask("POST", f"{self._session}/url", {"url": address})

    @property
    def address(self) -> str:
        """Of the page that is shown."""
        return str(self._ask("GET", f"{self._session}/url"))

    def text(self, selector: str = "body") -> str:
        """The text that a person reads."""
        self._find(selector)
        return self._read(selector)

    def _read(self, selector: str) -> str:
        """Find and read in one step: between two, the page may lead on to the next one. Nothing while there is none."""
        script = "const found = document.querySelector(arguments[0]); return found ? found.innerText : '';"
        try:
            return str(self._ask("POST", f"{self._session}/execute/sync", {"script": script, "args": [selector]}))
        except AssertionError:  # the page went while the script ran
            return ""

    def shows(self, words: str) -> bool:
        """Whether the page, or one that it leads to at once, has these words in the end."""
        end = time.monotonic() + PATIENCE_SECONDS
        while words not in self._read("body"):
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    def type(self, selector: str, text: str) -> None:
        """Into a field."""
        self._ask("POST", f"{self._session}/element/{self._find(selector)}/value", {"text": text})

    def press(self, selector: str) -> None:
        """A button, and wait for the page behind it."""
        self._ask("POST", f"{self._session}/element/{self._find(selector)}/click", {})

    def picture(self, width: int, height: int) -> bytes:
        """The page as it is seen in a window of this size: a PNG."""
        self._ask("POST", f"{self._session}/window/rect", {"width": width, "height": height})
        return base64.b64decode(self._ask("GET", f"{self._session}/screenshot"))

    def resize(self, width: int, height: int) -> None:
        """Give the page a window of exactly this size, also one that is narrower than a window can be."""
        given = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        asked = {"cmd": "Emulation.setDeviceMetricsOverride", "params": given}
        self._ask("POST", f"{self._session}/goog/cdp/execute", asked)

    def run(self, script: str) -> Any:
        """The result of a script, which may be a promise."""
        return self._ask("POST", f"{self._session}/execute/sync", {"script": script, "args": []})

    def said(self) -> list[str]:
        """Lines of the console since the last time, all levels."""
        return [entry["message"] for entry in self._ask("POST", f"{self._session}/se/log", {"type": "browser"})]

    def requests(self) -> set[str]:
        """The addresses that were asked for since the last time."""
        entries = self._ask("POST", f"{self._session}/se/log", {"type": "performance"})
        events = (json.loads(entry["message"])["message"] for entry in entries)
        return {event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"}

    def prefer(self, scheme: str) -> None:
        """Say that the person likes it `light`, or `dark`."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        given = {"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}}
        self._ask("POST", f"{self._session}/goog/cdp/execute", given)

    def _find(self, selector: str) -> str:
        found = self._ask("POST", f"{self._session}/element", {"using": "css selector", "value": selector})
        return str(found[_ELEMENT])

    def _ask(self, method: str, path: str, given: Any = None) -> Any:
        data = None if given is None else json.dumps(given).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._base + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.read().decode()[:2000]}") from None


def processes_of(directory: str) -> list[int]:
    """Those that have it on their command lines: the browser, and what it began."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if directory.encode() in (place / "cmdline").read_bytes():
                found.append(int(place.name))
    return found
