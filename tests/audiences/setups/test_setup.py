"""The file of a definition: all of it, or a reason."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from audiencekit.audiences.setups.document import read_setup
from audiencekit.audiences.setups.setup import FILE, TrustedSetups, read_definition
from audiencekit.errors import DefinitionRefused, InputOutputFailed, UsageError
from audiencekit.limits import MAX_DEFINITION_BYTES
from audiencekit.state.files import encode_checked

# --- The file of a definition: all of it, or a reason ---


def test_a_file_may_be_as_large_as_the_limit(tmp_path: Path) -> None:
    """One byte more refuses it."""
    path = tmp_path / "setup.toml"
    path.write_bytes(b"#" * MAX_DEFINITION_BYTES)
    assert len(read_definition(path)) == MAX_DEFINITION_BYTES
    path.write_bytes(b"#" * (MAX_DEFINITION_BYTES + 1))
    with pytest.raises(DefinitionRefused, match="larger than 1,000,000 bytes"):
        read_definition(path)


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    """It is named, with the reason of the system."""
    with pytest.raises(InputOutputFailed, match=r"setup\.toml' cannot be read: No such file"):
        read_definition(tmp_path / "setup.toml")


def test_a_byte_order_mark_is_no_part_of_a_definition(tmp_path: Path) -> None:
    """Some editors begin a text with it."""
    (tmp_path / "setup.toml").write_bytes(b"\xef\xbb\xbf[audiences]\n")
    assert read_definition(tmp_path / "setup.toml") == b"[audiences]\n"


# --- A setup in the working directory is another person's until it was named ---


@pytest.fixture
def setup(tmp_path: Path) -> Path:
    path = tmp_path / "audiencekit.toml"
    path.write_text("")
    path.chmod(0o644)
    return path


@pytest.fixture
def trusted(tmp_path: Path) -> TrustedSetups:
    return TrustedSetups(tmp_path / "state")


def test_a_file_is_trusted_once_it_was_said(setup: Path, trusted: TrustedSetups) -> None:
    """Under its path, and no other file is."""
    with pytest.raises(UsageError, match="was not named before"):
        trusted.check(setup)
    trusted.remember(setup)
    assert trusted.check(setup) == setup
    other = setup.with_name("other.toml")
    other.write_text("")
    with pytest.raises(UsageError, match="was not named before"):
        trusted.check(other)


def test_a_directory_that_is_gone_has_no_setup(
    trusted: TrustedSetups, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither one that was named before, nor one that is named."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(UsageError, match=r"there is no audiencekit\.toml in this directory"):
        trusted.check(Path("audiencekit.toml"))
    with pytest.raises(InputOutputFailed, match="No such file"):
        read_setup(Path("audiencekit.toml"))


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are UTF-8 here")
def test_a_path_that_is_not_utf_8_is_trusted_too(trusted: TrustedSetups, tmp_path: Path) -> None:
    setup = tmp_path / os.fsdecode(b"M\xe4rz.toml")
    setup.write_text("")
    trusted.remember(setup)
    assert trusted.check(setup) == setup


def test_a_file_that_others_can_write_must_be_named_each_time(setup: Path, trusted: TrustedSetups) -> None:
    """Earlier trust in it no longer counts."""
    trusted.remember(setup)
    setup.chmod(0o666)
    with pytest.raises(UsageError, match="can be written by others"):
        trusted.check(setup)


def test_a_link_to_another_file_is_another_file(setup: Path, trusted: TrustedSetups, tmp_path: Path) -> None:
    """The path that counts is the real one."""
    trusted.remember(setup)
    (tmp_path / "elsewhere.toml").write_text("")
    setup.unlink()
    setup.symlink_to(tmp_path / "elsewhere.toml")
    with pytest.raises(UsageError, match="was not named before"):
        trusted.check(setup)


def test_a_damaged_memory_trusts_nothing(setup: Path, trusted: TrustedSetups, tmp_path: Path) -> None:
    """It is asked again."""
    trusted.remember(setup)
    (tmp_path / "state" / FILE).write_text('{"paths": 3')
    with pytest.raises(UsageError, match="was not named before"):
        trusted.check(setup)


def test_setups_remembered_in_another_format_are_refused(setup: Path, trusted: TrustedSetups, tmp_path: Path) -> None:
    """They are not forgotten, either."""
    trusted.remember(setup)
    path = tmp_path / "state" / FILE
    content = encode_checked({"paths": []}, "audiencekit-setups/2")
    path.write_bytes(content)
    for use in (trusted.check, trusted.remember):
        with pytest.raises(InputOutputFailed, match="reads audiencekit-setups/1 only"):
            use(setup)
    assert path.read_bytes() == content
