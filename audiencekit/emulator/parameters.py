"""Parameters of calls, from the query or from an item of a JSON body."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

from audiencekit.emulator.answers import RefusalError, format_time, parse_time
from audiencekit.emulator.bodies import parse_json
from audiencekit.emulator.calls import Call, is_form
from audiencekit.limits import MAX_LIST_IDS, MAX_PLATFORM_ID
from audiencekit.service_words import CURRENCIES

# --- JSON bodies of calls ---


def check_body(call: Call) -> None:
    """Refuse a query (400), and a body that is not declared as JSON in UTF-8 (415)."""
    if call.query and not is_form(call.media_type):  # of a form, the type is what is wrong
        raise call.refuse(400, "INVALID_PARAMETER", "This endpoint takes no query parameters")
    media_type, _, parameter = call.media_type.replace(" ", "").lower().partition(";")
    if media_type != "application/json" or parameter not in ("", "charset=utf-8", 'charset="utf-8"'):
        # The public service answers 415 here; its code is documented nowhere.
        raise call.refuse(415, "UNSUPPORTED_MEDIA_TYPE", "Expected Content-Type application/json")


def read_document(call: Call) -> Any:
    """Return the JSON of a call with a body and no query. Raises RefusalError: 415 for another type, else 400."""
    check_body(call)
    try:
        return parse_json(call.body)
    except ValueError:
        raise call.refuse(400, "INVALID_PARAMETER", "The body is not valid JSON, or repeats a key") from None


# --- Query parameters, read one at a time; the echo has those that were read ---

_KINDS: Final = {str: "string", int: "int", bool: "boolean"}
_WHOLE_NUMBER: Final = re.compile(r"[0-9]{1,19}", re.ASCII)


class Parameters:
    """The query of a call. `echo` grows with each parameter read. Every fault raises RefusalError (400)."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self.echo: dict[str, Any] = dict(call.ids)
        self._unread: dict[str, str] = {}
        self._kinds: dict[str, type] = {}  # of what came as JSON
        for raw_name, raw_text in call.query:
            try:
                name, text = raw_name.decode(), raw_text.decode()
            except UnicodeDecodeError:
                raise call.refuse(400, "ILLEGAL_CHARACTERS", "The query is not UTF-8") from None
            if name in self._unread:
                raise self.fault(name, f'"{name}" is given more than once')
            self._unread[name] = text

    @classmethod
    def of(cls, call: Call, params: Mapping[str, Any]) -> Parameters:
        """Return the parameters of an item of a batch, by the rules of a query. Lists and objects raise RefusalError.

        A number must be a JSON number, a text a JSON text. With profile `x` either is taken, lists of words are taken
        as in a query, and other values are ignored: the client of the public service sends whole records back.
        """
        parameters = cls(replace(call, query=[]))
        takes_records = call.options.profile == "x"
        for name, given in params.items():
            if takes_records and isinstance(given, list) and given and all(isinstance(each, str) for each in given):
                parameters._unread[name] = ",".join(given)
                continue
            if isinstance(given, (list, dict)) or given is None:
                if takes_records:
                    continue
                raise parameters.fault("params", "Expected string, number or boolean for every parameter")
            parameters._unread[name] = given if isinstance(given, str) else json.dumps(given)
            if not takes_records:
                parameters._kinds[name] = type(given)
        return parameters

    def echo_without_account(self) -> dict[str, Any]:
        """Return the echo in the form for tweets."""
        return {name: value for name, value in self.echo.items() if name != "account_id"}

    def fault(self, name: str, message: str, code: str = "INVALID_PARAMETER") -> RefusalError:
        """Return the refusal of one parameter."""
        return self._call.refuse(400, code, message, name)

    def text(self, name: str, *, longest: int | None = None, empty: bool = False) -> str | None:
        """Return a text of 1 (or, with `empty`, 0) to `longest` characters; None if it is not given."""
        given = self._take(name)
        if given is None:
            return None
        if (not given and not empty) or (longest is not None and len(given) > longest):
            raise self._expected(f"string of 1 to {longest} characters" if longest else "string", given, name)
        self.echo[name] = given
        return given

    def required_text(self, name: str, *, longest: int | None = None) -> str:
        """Return a text that must be given."""
        self._require(name)
        return self.text(name, longest=longest) or ""

    def currency(self, name: str) -> str | None:
        """Return the code of a currency (ISO 4217); None when it is not given."""
        given = self._take(name)
        if given is None:
            return None
        if given not in CURRENCIES:
            raise self._expected("ISO 4217 currency", given, name)
        self.echo[name] = given
        return given

    def required_currency(self, name: str) -> str:
        """Return the code of a currency that must be given."""
        self._require(name)
        return self.currency(name) or ""

    def number(self, name: str, *, default: int, least: int, most: int) -> int:
        """Return a whole number between two bounds."""
        given = self._take(name, int)
        if given is None:
            return default
        if not _WHOLE_NUMBER.fullmatch(given) or not least <= int(given) <= most:
            raise self._expected(f"int between {least} and {most}", given, name)
        self.echo[name] = int(given)
        return int(given)

    def boolean(self, name: str, *, default: bool = False) -> bool:
        """Return `true` or `false`; with profile `x` also as Python writes them, since its clients send that."""
        given = self._take(name, bool)
        if given is None:
            return default
        if self._call.options.profile == "x" and given in ("True", "False"):
            given = given.lower()
        if given not in ("true", "false"):
            raise self._expected("boolean", given, name)
        self.echo[name] = given == "true"
        return given == "true"

    def choice(self, name: str, choices: Collection[str], default: str) -> str:
        """Return one of several words."""
        given = self._take(name)
        if given is None:
            return default
        if given not in choices:
            raise self._expected(f"one of {', '.join(choices)}", given, name)
        self.echo[name] = given
        return given

    def required_choice(self, name: str, choices: Collection[str]) -> str:
        """Return one of several words that must be given."""
        self._require(name)
        return self.choice(name, choices, "")

    def words(self, name: str, *, most: int = MAX_LIST_IDS, choices: Collection[str] | None = None) -> list[str] | None:
        """Return a comma-separated list of at most `most` words, of `choices` if given; None if it is not given."""
        given = self._take(name)
        if given is None:
            return None
        listed = given.split(",")
        if not all(listed) or len(listed) > most:
            raise self.fault(name, f"Expected 1 to {most} comma-separated values for {name}")
        if choices is not None and not set(listed) <= set(choices):
            raise self.fault(name, f"Expected comma-separated values out of {', '.join(sorted(choices))} for {name}")
        self.echo[name] = listed
        return listed

    def required_words(
        self, name: str, *, most: int = MAX_LIST_IDS, choices: Collection[str] | None = None
    ) -> list[str]:
        """Return a comma-separated list that must be given."""
        self._require(name)
        return self.words(name, most=most, choices=choices) or []

    def long(self, name: str) -> int | None:
        """Return the number of a user or a tweet; None when it is not given."""
        given = self._take(name, int)
        if given is None:
            return None
        self.echo[name] = self._read_long(given, name)
        return int(given)

    def required_long(self, name: str) -> int:
        """Return the number of a user or a tweet, which must be given."""
        self._require(name)
        return self.long(name) or 0

    def path_long(self, name: str) -> int:
        """Return the number in the path."""
        self.echo[name] = number = self._read_long(self._call.ids[name], name)
        return number

    def required_longs(self, name: str, *, most: int = MAX_LIST_IDS) -> list[int]:
        """Return comma-separated numbers of tweets, which must be given."""
        listed = self.required_words(name, most=most)
        self.echo[name] = numbers = [self._read_long(word, name) for word in listed]
        return numbers

    def longs(self, name: str) -> list[int] | None:
        """Return comma-separated numbers of tweets; None when they are not given."""
        return self.required_longs(name) if name in self._unread else None

    def time(self, name: str) -> int | None:
        """Return epoch seconds of an ISO 8601 time; None when it is not given."""
        given = self._take(name)
        if given is None:
            return None
        moment = parse_time(given)
        if moment is None:
            raise self._expected("time", given, name)
        self.echo[name] = format_time(moment)
        return moment

    def required_time(self, name: str) -> int:
        """Return epoch seconds of a time that must be given."""
        self._require(name)
        return self.time(name) or 0

    def web_address(self, name: str, *, empty: bool = False) -> str | None:
        """Return an address of the web; None when it is not given."""
        given = self.text(name, empty=empty)
        if given and not is_web_address(given):
            raise self._expected("URL", given, name)
        return given

    def given(self, name: str) -> str | None:
        """Return a parameter as it is in the query, without reading it."""
        return self._unread.get(name)

    def exclusive(self, first: str, second: str) -> None:
        """Refuse a query with both parameters, if neither was read yet."""
        if first in self._unread and second in self._unread:
            raise self.fault(second, f"{first} and {second} are exclusive parameters", "EXCLUSIVE_PARAMETERS")

    def finish(self) -> None:
        """Refuse parameters that were not read, so that a misspelled name is noticed.

        With profile `x` they are ignored, since the client of the public service sends whole records back.
        """
        if self._call.options.profile == "x":
            return
        for name in self._unread:
            raise self.fault(name, f'"{name}" is not a parameter of this endpoint')

    def _take(self, name: str, kind: type = str) -> str | None:
        """Return a parameter and count it as read. Raises RefusalError when its JSON value is of another kind."""
        if self._kinds.get(name, kind) is not kind:
            raise self.fault(name, f"Expected {_KINDS[kind]} for {name}")
        return self._unread.pop(name, None)

    def _read_long(self, given: str, name: str) -> int:
        if not _WHOLE_NUMBER.fullmatch(given) or int(given) > MAX_PLATFORM_ID:
            raise self._expected("Long", given, name)
        return int(given)

    def _require(self, name: str) -> None:
        if name not in self._unread:
            raise self.fault(name, f'"{name}" is a required parameter', "MISSING_PARAMETER")

    def _expected(self, kind: str, given: str, name: str) -> RefusalError:
        return self.fault(name, f'Expected {kind}, got "{given}" for {name}')


def is_web_address(text: str) -> bool:
    """Return whether `text` is an http or https address with a host, and no spaces."""
    try:
        address = urlsplit(text)
        return address.scheme in ("http", "https") and bool(address.hostname) and not re.search(r"\s", text)
    except ValueError:
        return False
