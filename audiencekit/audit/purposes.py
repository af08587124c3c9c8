"""The purpose of a run and its legal basis: texts that its caller gives, which stand in the audit log."""

from __future__ import annotations

from typing import Final

from audiencekit.destinations.audience_names import find_in_name
from audiencekit.errors import UsageError
from audiencekit.settings import PREFIX, Settings

MOST_PURPOSE_LETTERS: Final = 200


def check_purpose(settings: Settings) -> None:
    """Check that what the settings demand is given, and that the purpose names no person. Raises UsageError."""
    for name in sorted(settings.require):
        if not getattr(settings, name):
            raise UsageError(
                f"{PREFIX}REQUIRE demands a {name}: nothing was sent",
                hint=f"give `{name}=`, or set {PREFIX}{name.upper()}",
            )
    purpose = settings.purpose
    if len(purpose) > MOST_PURPOSE_LETTERS or not purpose.isprintable():
        message = f"the purpose is longer than {MOST_PURPOSE_LETTERS} letters, or has some that cannot be printed"
        raise UsageError(f"{message}: nothing was sent", hint="a few words are enough, such as 'Spring sale'")
    found = " and ".join(each.what for each in find_in_name(purpose) if each.is_refused)
    if found:
        message = f"the purpose holds {found}, and would stay in the audit log: nothing was sent"
        raise UsageError(message, hint="name what the people are put into the audience for, and no person")
