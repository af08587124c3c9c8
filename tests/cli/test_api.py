"""`audiencekit api` in this process, against a listener on loopback that echoes what came."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from audiencekit import cli
from audiencekit.api.catalogue import ENDPOINTS
from audiencekit.cli import main
from audiencekit.cli.endpoints import explain_endpoint, write_reference
from tests.cases import each_case

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., tuple[int, str, str]]


class _Echo(BaseHTTPRequestHandler):
    """Answers with what came; lists have two pages; an account called `gone` is not found, `closed` is down."""

    def _answer(self) -> None:
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        echo = {"method": self.command, "path": parts.path, "query": query, "body": body.decode()}
        self.server.seen.append(echo)  # type: ignore[attr-defined]
        status = (
            404 if "/gone" in parts.path else 503 if "/closed" in parts.path else 401 if "/other" in parts.path else 200
        )
        document: dict[str, Any] = {"data": echo, "request": {"params": query}}
        if parts.path.endswith("/custom_audiences") and self.command == "GET":
            more = "cursor" not in query
            total = {"total_count": 2} if "with_total_count" in query else {}
            document = total | {
                "data": [{"id": "a" if more else "b", "n": 2**70}],
                "next_cursor": "c-2" if more else None,
            }
        elif parts.path == "/oauth2/token":
            document = {"token_type": "bearer", "access_token": "bearer-canary"}
        elif parts.path == "/2/tweets":
            detail = "Could not find tweet with ids: [404]."
            problem = {"title": "Not Found Error", "type": "about:blank", "detail": detail, "status": 404}
            document = {
                "data": [{"id": each} for each in query["ids"].split(",") if each != "404"],
                "errors": [problem],
            }
        said = "The Custom Audience is not targetable \x1b[2J" + "!" * 900
        personal = "person@example.com is not valid"
        errors = [{"code": "SOME_CODE", "message": text} for text in (personal, said)]
        answer = json.dumps(document if status == 200 else {"errors": errors}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    """The listener; `seen` are the requests in order."""
    listener = ThreadingHTTPServer(("127.0.0.1", 0), _Echo)
    listener.seen = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield listener
    listener.shutdown()
    thread.join()
    listener.server_close()


@pytest.fixture
def run(
    server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Run:
    """Runs `audiencekit api` with these arguments: exit code, stdout, stderr."""
    url = f"http://127.0.0.1:{server.server_port}"
    names = ("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
    values = {"ADS_URL": url, "ADS_SANDBOX_URL": url, "BASE_URL": url, "ACCOUNT_ID": "abc1"} | dict.fromkeys(names, "x")
    monkeypatch.chdir(tmp_path)
    for change in ("set_up_own_process", "end_own_process"):  # this one is pytest's
        monkeypatch.setattr(cli, change, lambda *_: None)
    for name, value in values.items():
        monkeypatch.setenv(f"AUDIENCEKIT_{name}", value)

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["audiencekit", "api", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        printed = capsys.readouterr()
        return int(left.value.code or 0), printed.out, printed.err

    return call


def test_without_a_name_all_endpoints_are_listed(run: Run) -> None:
    """By group, with method and path; as JSON too."""
    code, out, _ = run()
    assert code == 0
    assert all(f"{row.method:<6} {row.path}" in out and row.name in out for row in ENDPOINTS)
    assert [each["name"] for each in json.loads(run("--json")[1])] == [row.name for row in ENDPOINTS]


def test_parameters_go_where_the_catalogue_says(run: Run, server: Any) -> None:
    """Into path and query, with the account of the settings; stdout has the data, or the whole answer."""
    code, out, err = run("get_campaign", "campaign_id=8wku2", "with_deleted=true")
    sent = {"method": "GET", "path": "/12/accounts/abc1/campaigns/8wku2", "query": {"with_deleted": "true"}, "body": ""}
    assert (code, json.loads(out), err) == (0, sent, "")
    whole = json.loads(run("get_campaign", "campaign_id=8wku2", "account_id=other2", "--json")[1] or "{}")
    assert whole["error"]["type"] == "Unauthorized"
    whole = json.loads(run("get_campaign", "campaign_id=8wku2", "--json")[1])
    assert (whole["status"], whole["request"], whole["next_cursor"]) == (200, {"params": {}}, None)


def test_bodies_come_from_a_file_and_are_sent_byte_for_byte(run: Run, server: Any, tmp_path: Path) -> None:
    """After they were checked."""
    body = '[ {"operation_type":"Delete", "params":{"campaign_id":"8wku2"}} ]'
    (tmp_path / "batch.json").write_text(body)
    assert run("batch_campaigns", "--body", "batch.json", "--yes")[0] == 0
    assert server.seen[-1]["body"] == body
    (tmp_path / "batch.json").write_text("[]")
    assert run("batch_campaigns", "--body", "batch.json")[0] == 2
    assert run("batch_campaigns", "--body", "no-such-file")[0] == 74
    assert run("estimate_audience", 'targeting_criteria=[{"targeting_type":"AGE"}]')[0] == 0
    assert json.loads(server.seen[-1]["body"]) == {"targeting_criteria": [{"targeting_type": "AGE"}]}
    assert run("estimate_audience", "targeting_criteria=[")[0] == 2


def test_pages_are_followed(run: Run, server: Any) -> None:
    """One page without --all; every entry with it; whole numbers keep all their digits."""
    assert [each["id"] for each in json.loads(run("list_custom_audiences")[1])] == ["a"]
    assert json.loads(run("list_custom_audiences", "count=1", "--all")[1])[1] == {"id": "b", "n": 2**70}
    assert server.seen[-1]["query"] == {"count": "1", "cursor": "c-2"}
    assert run("get_account", "--all")[0] == 2


@pytest.mark.parametrize(("arguments", "exit_code", "words"), [
    (("no_such_endpoint",), 2, "no endpoint of that name"),
    (("list_campaign",), 2, "perhaps list_campaigns"),
    (("list_campaigns", "count=zebra"), 2, "count must be a whole number from 1 to 1000"),
    (("list_campaigns", "cursor=a", "with_total_count=true"), 2, "do not go together"),
    (("list_campaigns", "zebra@example.com"), 2, "parameter 1 is not KEY=VALUE"),
    (("list_campaigns", "q=a", "q=b"), 2, "parameter 2"),
    (("list_campaigns", "zebra@example.com=1"), 2, "has no parameter of a given name"),
    (("oauth2_invalidate_token", "access_token=zebra"), 2, "secret"),
    (("get_account", "account_id=gone"), 3, "not found: "),
    (("get_account", "account_id=other"), 77, "credentials"),
    (("get_account", "account_id=closed"), 69, "not available"),
])  # fmt: skip
def test_failures_leave_with_their_codes(
    run: Run, server: Any, arguments: tuple[str, ...], exit_code: int, words: str
) -> None:
    """And no value is shown; what breaks a rule is never sent."""
    code, _, err = run(*arguments)
    assert code == exit_code
    assert words in err
    assert "zebra" not in err
    assert bool(server.seen) == (exit_code != 2)
    assert json.loads(run(*arguments, "--json")[1])["error"]["message"]


def test_no_credential_is_printed(run: Run, server: Any) -> None:
    """A token that is answered is hidden; a bearer token is fetched once and sent."""
    code, out, err = run("oauth2_token", "grant_type=client_credentials")
    assert code == 0
    assert json.loads(out) == {"token_type": "bearer", "access_token": "<Secret: not shown>"}
    assert run("get_posts", "ids=756201191646691328")[0] == 0
    assert [each["path"] for each in server.seen] == ["/oauth2/token", "/oauth2/token", "/2/tweets"]
    assert "canary" not in out + err


def test_pages_for_a_browser_are_printed(run: Run, server: Any) -> None:
    """As an address, and nothing is called."""
    code, out, _ = run("oauth_authorize", "oauth_token=abc", "force_login=true")
    assert code == 0
    assert json.loads(out)["url"].endswith("/oauth/authorize?oauth_token=abc&force_login=true")
    assert server.seen == []


@pytest.mark.parametrize("answer", [True, False])
def test_a_call_that_deletes_asks_on_a_terminal(
    run: Run, server: Any, monkeypatch: pytest.MonkeyPatch, answer: bool
) -> None:
    """Elsewhere nothing is sent without `--yes`, which answers."""

    asked: list[str] = []
    monkeypatch.setattr("click.confirm", lambda question, err: asked.append(question) or (answer and err))
    code, _, err = run("delete_campaign", "campaign_id=8")
    assert (code, "give --yes" in err, server.seen) == (2, True, [])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    code, _, err = run("delete_campaign", "campaign_id=8")
    assert (code, "nothing was changed" in err) == (0, not answer)
    assert run("delete_campaign", "campaign_id=8", "--yes")[0] == 0
    assert [call["method"] for call in server.seen] == ["GET", *["DELETE"] * (2 if answer else 1)]
    assert len(asked) == 1
    assert asked[0].startswith("delete_campaign: delete campaign_id=8")


DESTROYING = [row for row in ENDPOINTS if row.method == "DELETE" or "invalidate" in row.name]


def _needed(row: Any) -> list[str]:
    """A value for every parameter that a call needs."""
    given = {parameter.name: "8" for parameter in row.parameters if parameter.required and not parameter.secret}
    return [f"{name}={text}" for name, text in given.items() if name != "account_id"]


@pytest.mark.parametrize("row", DESTROYING, ids=[row.name for row in DESTROYING])
def test_nothing_is_destroyed_without_a_terminal_to_ask_at(run: Run, server: Any, row: Any) -> None:
    """Neither what a DELETE deletes nor a token: exit code 2, and nothing is sent."""
    assert row.destroys
    code, _, err = run(row.name, *_needed(row))
    assert (code, "give --yes" in err, server.seen) == (2, True, [])


@pytest.mark.parametrize("name", ["batch_campaigns", "batch_flexible_audiences"])
@pytest.mark.parametrize("verb", ["Delete", "delete", "DELETE"])
def test_a_body_that_deletes_is_no_way_around(run: Run, server: Any, tmp_path: Path, name: str, verb: str) -> None:
    """One operation among others is enough; a body without one is not asked about."""
    (tmp_path / "body").write_text(json.dumps([{"operation_type": "Update"}, {"operation_type": verb}]))
    code, _, err = run(name, "--body", "body")
    assert (code, "give --yes" in err, server.seen) == (2, True, [])
    (tmp_path / "body").write_text(json.dumps([{"operation_type": "Update", "params": {"name": verb}}]))
    assert "give --yes" not in run(name, "--body", "body")[2]


def test_people_are_taken_out_as_upload_does_it(run: Run, server: Any, tmp_path: Path) -> None:
    """Without a question: what a list says of its people is no audience deleted."""
    users = [{"email": ["a1" * 32]}]
    (tmp_path / "body").write_text(json.dumps([{"operation_type": "Delete", "params": {"users": users}}]))
    assert run("add_custom_audience_users", "custom_audience_id=8", "--body", "body")[0] == 0
    assert len(server.seen) == 1


@each_case("row", ENDPOINTS)
def test_help_names_everything(row: Any) -> None:
    """Each parameter, rule, note and open point of an endpoint."""
    text = "\n".join(explain_endpoint(row))
    assert all(f"{name} (" in text for name in row.parameter_names)
    assert all(words in text for words in (*row.notes, *row.ambiguities, *(rule.words for rule in row.rules)))


def test_help_of_an_endpoint_and_of_the_command(run: Run) -> None:
    """`--help` is about the endpoint that is named."""
    assert run("list_campaigns", "--help")[1].startswith("list_campaigns: GET /12/")
    assert "--markdown" in run("--help")[1]


def test_the_reference_page_is_up_to_date(run: Run) -> None:
    """docs/api-reference.md is what `audiencekit api --markdown` prints."""
    page = (ROOT / "docs" / "api-reference.md").read_text(encoding="utf-8")
    assert page == write_reference() == run("--markdown")[1], "make it again: audiencekit api --markdown"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "batch_campaigns needs a body: a JSON array of operations"),
        ("[\n {\n]", "the body is not JSON: it breaks in line 3, column 1"),
        ("", "the body is not JSON: it breaks in line 1, column 1"),
        ('[{"a": 1, "a": 2}]', "the body is not JSON: a key is repeated"),
        ("[]", "the body is a JSON array of 1 to 40 operations"),
    ],
)
def test_a_body_that_is_missing_or_broken_is_told_apart(run: Run, tmp_path: Path, text: str | None, words: str) -> None:
    """From one of the wrong length; the message names the place."""
    (tmp_path / "body").write_text(text or "")
    code, _, err = run("batch_campaigns", *(() if text is None else ("--body", "body")))
    assert (code, words in err) == (2, True), err


def test_problems_beside_data_are_told(run: Run) -> None:
    """On stderr, so that stdout has data alone; with `--json` they stand in the answer."""
    code, out, err = run("get_posts", "ids=7,404")
    assert (code, json.loads(out)) == (0, [{"id": "7"}])
    assert err == "problem: Not Found Error: Could not find tweet with ids: [404].\n"
    code, out, err = run("get_posts", "ids=404", "--json")
    assert (code, json.loads(out)["problems"][0]["status"], err) == (0, 404, "")


def test_rules_of_the_stream_are_not_deleted_unasked(run: Run, server: Any, tmp_path: Path) -> None:
    """By a parameter or in a body; to add some is not asked about."""
    (tmp_path / "body").write_text('{"delete": {"ids": ["1", "2"]}}')
    for arguments in (('delete={"ids": ["1", "2"]}',), ("--body", "body")):
        code, _, err = run("change_stream_rules", *arguments)
        assert (code, "give --yes" in err, server.seen) == (2, True, [])
    assert run("change_stream_rules", 'add=[{"value": "spring"}]')[0] == 0


def test_a_list_says_that_pages_are_left(run: Run) -> None:
    """On stderr, with how to go on; the last page says nothing."""
    code, out, told = run("list_custom_audiences", "account_id=a", "with_total_count=true")
    assert (code, [each["id"] for each in json.loads(out)]) == (0, ["a"])
    assert "total: 2" in told
    assert "`--all`" in told
    assert "cursor=c-2" in told
    code, out, told = run("list_custom_audiences", "account_id=a", "cursor=c-2")
    assert (code, told) == (0, "")


def test_the_service_has_its_say_where_no_people_are_named(run: Run, tmp_path: Path) -> None:
    """Escaped, bounded, and without a message that may hold an identifier; of endpoints with people nothing."""
    code, _, told = run("list_campaigns", "account_id=gone")
    assert code == 3
    assert "the service says: The Custom Audience is not targetable \\x1b[2J!!!" in told
    assert "person@" not in told
    assert len(told) < 600
    code, out, _ = run("list_campaigns", "account_id=gone", "--json")
    assert "is not targetable" in json.loads(out)["error"]["hint"]
    body = tmp_path / "body.json"
    entry = {"email": ["a1" * 32]}
    body.write_text(json.dumps([{"operation_type": "Update", "params": {"users": [entry]}}]))
    for name, more in (
        ("add_custom_audience_users", ["custom_audience_id=x"]),
        ("batch_do_not_reach_users", ["do_not_reach_list_id=x"]),
    ):
        code, out, told = run(name, "account_id=gone", *more, "--body", str(body))
        assert code == 3
        assert "targetable" not in out + told
    code, out, told = run("list_do_not_reach_lists", "account_id=gone")
    assert "targetable" not in out + told
