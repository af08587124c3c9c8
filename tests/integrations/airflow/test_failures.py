"""Messages of the library in the log of a task: nothing of a command line is left in them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audiencekit.audiences.sync.sync import expiry
from audiencekit.destinations.known_audiences import AUDIENCES_HINT
from audiencekit.errors import AudiencekitError, Refused
from audiencekit.runs.journal.facts import repeat_command
from audiencekit.settings import load_settings
from audiencekit.text import option

pytestmark = [pytest.mark.integrations, pytest.mark.filterwarnings("ignore")]


def _raised(call: Callable[[], object]) -> AudiencekitError:
    with pytest.raises(AudiencekitError) as caught:
        call()
    return caught.value


SETTINGS = load_settings({}, directory=None, user_file=False)
WORDS: dict[str, tuple[Callable[[Path], AudiencekitError], str]] = {
    "an option": (lambda _: Refused(f"give {option('rebuild', True)}"), "give `options={'rebuild': True}`"),
    "an option without a value": (lambda _: Refused("give `plan_time=`"), "give `options={'plan_time': …}`"),
    "an argument": (lambda _: Refused("x", hint="say `rejections='a.csv'`"), "x; say `rejections='a.csv'`"),
    "a setting": (
        lambda _: Refused("x", hint=f"say {option('account_id', 'abc')}"),
        "x; say the field 'Ads account' of the connection",
    ),
    "a repetition": (
        lambda _: Refused("x", hint=f"{repeat_command('sync', 'abc')} sends the rest"),
        "x; another try of this task sends the rest",
    ),
    "a resumption": (
        lambda _: Refused("x", hint="`audiencekit resume 20261121-000000-12345678` sends the rest"),
        "x; another try of this task (it continues 20261121-000000-12345678) sends the rest",
    ),
    "no account": (
        lambda _: _raised(SETTINGS.require_account),
        "no ads account was given; fill in the fields of the connection; or set AUDIENCEKIT_ACCOUNT_ID",
    ),
    "no address": (
        lambda _: _raised(SETTINGS.require_ads_url),
        "the address of the ads API is not known; fill in the fields of the connection; or set AUDIENCEKIT_ADS_URL",
    ),
    "no credentials": (
        lambda _: _raised(SETTINGS.require_secrets),
        "fill in the fields of the connection, or set them in the environment of the workers",
    ),
    "no such audience": (
        lambda _: Refused("no audience is called 'Spring'", hint=AUDIENCES_HINT),
        "called 'Spring'; a task of CreateAudienceOperator makes an audience",
    ),
    "no sync": (
        lambda home: _raised(lambda: expiry(audience="abc", settings=load_settings(
            {"AUDIENCEKIT_STATE_DIR": str(home), "AUDIENCEKIT_ACCOUNT_ID": "abc"}, directory=None, user_file=False
        ))),
        "the audience is not under sync; a task of AudienceSyncOperator begins it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WORDS)
def test_a_remedy_is_in_words_of_a_dag(provider: Any, tmp_path: Path, case: str) -> None:
    """An argument of the operator, a key of its options, a field of its connection; never a flag."""
    raised, expected = WORDS[case]
    message = provider.describe_failure(raised(tmp_path))
    assert expected in message
    assert not re.search(r"(?<!\w)--\w|audiencekit (audiences|init|login|resume)", message)
