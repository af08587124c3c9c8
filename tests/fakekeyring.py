"""A keyring in place of the library `keyring`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest


class NoKeyringError(Exception):
    """As the library's."""


def install_calls(monkeypatch: pytest.MonkeyPatch, **calls: Callable[..., Any]) -> None:
    """Replace the library by a module that has these functions."""
    module, errors = ModuleType("keyring"), ModuleType("keyring.errors")
    vars(module).update(calls)
    vars(errors)["NoKeyringError"] = NoKeyringError
    monkeypatch.setitem(sys.modules, "keyring", module)
    monkeypatch.setitem(sys.modules, "keyring.errors", errors)


def install_keyring(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Replace the library by a keyring that works; return its entries by name."""
    entries: dict[str, str] = {}
    install_calls(
        monkeypatch,
        get_password=lambda service, name: entries.get(name),
        set_password=lambda service, name, content: entries.update({name: content}),
        delete_password=lambda service, name: entries.pop(name),
    )
    return entries
