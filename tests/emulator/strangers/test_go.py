"""Clients of Go: one that runs, as Debian packages it, and one whose bytes are sent again as it sends them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import secrets
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pytest

from audiencekit.emulator import EmulatorOptions
from audiencekit.testing import RunningEmulator, run_emulator
from tests.emulator.strangers.leading import OPTIONS, environment_of
from tests.moments import PATIENCE_SECONDS

pytestmark = pytest.mark.integrations
PROGRAM = Path(__file__).parent / "go" / "call.go"
PACKAGES = Path("/usr/share/gocode")


@pytest.mark.skipif(
    shutil.which("go") is None or not (PACKAGES / "src/github.com/gomodule/oauth1").is_dir(),
    reason="go, or its package gomodule/oauth1, is missing",
)
def test_gomodule_oauth1_makes_changes_and_deletes(tmp_path: Path) -> None:
    """Writes send a form, signed with the query; the call to delete has neither."""
    with run_emulator(OPTIONS) as emulator:
        paths = {"GOPATH": str(PACKAGES), "GO111MODULE": "off", "GOCACHE": str(tmp_path), "CGO_ENABLED": "0"}
        done = subprocess.run(
            ["go", "run", PROGRAM],
            env={**os.environ, **environment_of(emulator), **paths},
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [True, "Spring & more: a+b 100%", "ünïcode", 1, True]


class Dghubble:
    """The bytes of dghubble/oauth1 0.7, whose module cannot be had where this was written.

    Its source says: attributes in the order of their names, with a comma and a blank between them; a nonce of 32 bytes
    in base64, with plus signs and slashes; a form is signed, other bodies are not. Go writes a blank as a plus sign.
    """

    def __init__(self, emulator: RunningEmulator) -> None:
        self.env, self.host = emulator.env, urlsplit(emulator.ads_url).netloc

    def send(
        self, method: str, path: str, query: dict[str, str] | None = None, form: dict[str, str] | None = None
    ) -> Any:
        """The document of the answer, which must be good."""
        line = f"{path}?{urlencode(query)}" if query else path
        body = urlencode(form) if form else ""
        lines = [f"{method} {line} HTTP/1.1", f"Host: {self.host}", "User-Agent: Go-http-client/1.1"]
        if method != "GET" or body:
            lines.append(f"Content-Length: {len(body)}")
        lines.append(f"Authorization: {self._authorize(method, path, query or {}, body)}")
        if body:
            lines.append("Content-Type: application/x-www-form-urlencoded")
        lines += ["Accept-Encoding: gzip", "Connection: close", "", body]
        host, _, port = self.host.partition(":")
        with socket.create_connection((host, int(port)), 10) as connection, connection.makefile("rb") as answer:
            connection.sendall("\r\n".join(lines).encode())
            head, _, content = answer.read().partition(b"\r\n\r\n")
        assert b" 200 " in head.split(b"\r\n")[0], content
        return json.loads(content)["data"]

    def _authorize(self, method: str, path: str, query: dict[str, str], body: str) -> str:
        attributes = {
            "oauth_consumer_key": self.env["AUDIENCEKIT_CONSUMER_KEY"],
            "oauth_nonce": base64.b64encode(secrets.token_bytes(32)).decode(),
            "oauth_signature_method": "HMAC-SHA1",
            "oauth_timestamp": str(int(time.time())),
            "oauth_token": self.env["AUDIENCEKIT_ACCESS_TOKEN"],
            "oauth_version": "1.0",
        }
        pairs = {**query, **dict(parse_qsl(body)), **attributes}
        signed = "&".join(sorted(f"{_escape(name)}={_escape(text)}" for name, text in pairs.items()))
        base = "&".join(map(_escape, (method, f"http://{self.host}{path}", signed)))
        key = "&".join(self.env[f"AUDIENCEKIT_{name}"] for name in ("CONSUMER_SECRET", "ACCESS_TOKEN_SECRET"))
        digest = hmac.new(key.encode(), base.encode(), hashlib.sha1).digest()
        attributes["oauth_signature"] = base64.b64encode(digest).decode()
        return "OAuth " + ", ".join(f'{name}="{_escape(text)}"' for name, text in sorted(attributes.items()))


def _escape(text: str) -> str:
    return quote(text, safe="-._~")


def test_requests_of_dghubble_oauth1_are_taken() -> None:
    """Both ways in which its users write, and a blank in a query."""
    with run_emulator(EmulatorOptions(profile="x")) as emulator:
        client, audiences = Dghubble(emulator), f"/12/accounts/{emulator.account_id}/custom_audiences"
        by_form = client.send("POST", audiences, form={"name": "Spring & more: a+b 100%"})
        by_query = client.send("POST", audiences, query={"name": "Summer, too", "description": "ünïcode ~*"})
        changed = client.send("PUT", f"{audiences}/{by_query['id']}", form={"name": "Autumn"})
        found = client.send("GET", audiences, query={"q": "spring &"})
        gone = client.send("DELETE", f"{audiences}/{by_form['id']}")
    assert (by_form["name"], by_query["description"]) == ("Spring & more: a+b 100%", "ünïcode ~*")
    assert (changed["name"], [each["id"] for each in found], gone["deleted"]) == ("Autumn", [by_form["id"]], True)
