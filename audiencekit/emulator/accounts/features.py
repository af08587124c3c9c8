"""Features of an account: shown, and given or taken away in the sandbox (specification part 1, section 4.12)."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import Parameters
from audiencekit.servicewords import SANDBOX_FEATURES

_READABLE: Final = ("REACH_AND_FREQUENCY_ANALYTICS", "REACH_FREQUENCY_CAP", "WEBSITE_CLICKS_CPM_BILLING")


def list_features(call: Call) -> Answer:
    """Answer `GET …/features`: the keys that the account has, of those asked for."""
    parameters = Parameters(call)
    asked = parameters.words("feature_keys", choices=_READABLE)
    parameters.finish()
    keys = sorted(key for key in call.account.features if asked is None or key in asked)
    return success(parameters.echo, keys, next_cursor=None)


def add_features(call: Call) -> Answer:
    """Answer `POST …/features`, in the sandbox: all keys that the account has then."""
    parameters = Parameters(call)
    keys = _read_keys(parameters)
    call.account.features |= keys
    return success(parameters.echo, sorted(call.account.features), next_cursor=None)


def remove_features(call: Call) -> Answer:
    """Answer `DELETE …/features`, in the sandbox: all keys that the account has then."""
    parameters = Parameters(call)
    keys = _read_keys(parameters)
    call.account.features -= keys
    return success(parameters.echo, sorted(call.account.features), next_cursor=None)


def _read_keys(parameters: Parameters) -> set[str]:
    keys = parameters.required_words("feature_keys", choices=SANDBOX_FEATURES)
    parameters.finish()
    return set(keys)
