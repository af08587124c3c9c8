"""Where a user's own things are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import platformdirs
import pytest

from audiencekit.machine.caches import Cache
from audiencekit.machine.userdirectories import user_directory


def test_each_kind_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the environment says."""
    for kind in ("state", "cache", "data"):
        monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", f"/srv/{kind}")
        assert user_directory(kind) == Path(f"/srv/{kind}/audiencekit")  # type: ignore[arg-type]


def _no_home(*_: Any, **__: Any) -> Path:
    raise RuntimeError("could not determine the home directory")


@pytest.mark.parametrize("find", [_no_home, lambda *_, **__: Path("~/.cache"), lambda *_, **__: Path("cache")])
def test_a_path_below_the_working_directory_is_none(find: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Another user may have filled it; nothing is kept there either."""
    monkeypatch.chdir(tmp_path)
    for kind in ("state", "cache", "data"):
        monkeypatch.setattr(platformdirs, f"user_{kind}_path", find)
        assert user_directory(kind) is None  # type: ignore[arg-type]
    Cache.of_user().write("name", b"content")
    assert Cache.of_user().read("name") is None
    assert list(tmp_path.iterdir()) == []
