"""Files for one person, whole or not there."""

from __future__ import annotations

import errno
import math
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audiencekit.errors import InputOutputFailed
from audiencekit.state import files as largefiles
from audiencekit.state.files import (
    BLOCK_BYTES,
    create_file,
    decode_checked,
    encode_checked,
    explained,
    make_private_directory,
    make_room,
    open_new,
    overwrite_file,
    read_file,
    read_json,
    replace_file,
    write_file,
    write_json,
)
from tests.cases import each_case


def test_a_file_is_made_only_once(tmp_path: Path) -> None:
    """A later process leaves it as it is, and nothing beside it."""
    path = tmp_path / "file"
    assert create_file(path, b"first")
    assert not create_file(path, b"second")
    assert path.read_bytes() == b"first"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    """By a new one: who reads the old one reads on."""
    path = tmp_path / "file"
    replace_file(path, b"old")
    with path.open("rb") as reader:
        replace_file(path, b"new one")
        assert reader.read() == b"old"
    assert path.read_bytes() == b"new one"


@pytest.mark.parametrize("call", ["open", "fsync", "link", "replace"])
@pytest.mark.parametrize("write", [create_file, replace_file])
def test_a_failure_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, write: Any
) -> None:
    """Neither half a file nor what was written aside."""

    def failing(*args: Any, **options: Any) -> Any:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    if (call, write) in (("link", replace_file), ("replace", create_file)):
        pytest.skip("it is not called")
    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing)
        with pytest.raises(OSError, match="Input/output error"):
            write(tmp_path / "file", b"content")
    assert list(tmp_path.iterdir()) == []


def test_no_link_is_followed_when_reading(tmp_path: Path) -> None:
    """And a pipe delays no reader."""
    (tmp_path / "other").write_bytes(b"secret")
    (tmp_path / "link").symlink_to(tmp_path / "other")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="symbolic links"):
        read_file(tmp_path / "link", 10)
    assert read_file(tmp_path / "pipe", 10) == b""
    assert read_file(tmp_path / "other", 3) == b"sec"


def test_a_directory_is_taken_from_others(tmp_path: Path) -> None:
    """A link in its place is refused."""
    (tmp_path / "open").mkdir(mode=0o755)
    make_private_directory(tmp_path / "open")
    make_private_directory(tmp_path / "new")
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o700}
    (tmp_path / "link").symlink_to(tmp_path / "new")
    with pytest.raises(InputOutputFailed, match="is a link") as caught:
        make_private_directory(tmp_path / "link")
    assert "`chown -R`" in caught.value.hint


def test_a_refusal_of_the_system_is_said(tmp_path: Path) -> None:
    """The message says the file, the fault, the place and the remedy."""
    with (
        pytest.raises(InputOutputFailed, match=r"the key cannot be read: .*nowhere.*No such file") as caught,
        explained("the key cannot be read", tmp_path / "nowhere"),
    ):
        read_file(tmp_path / "nowhere", 1)
    assert "AUDIENCEKIT_STATE_DIR" in caught.value.hint
    assert caught.value.__cause__ is None


def test_a_full_disk_is_said_to_be_full(tmp_path: Path) -> None:
    """Whatever the file is."""
    with pytest.raises(InputOutputFailed) as caught, explained("it cannot be written", tmp_path, hint="look at it"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.hint == "the disk is full: free some space on it"


def test_a_new_file_takes_the_place_of_none(tmp_path: Path) -> None:
    """Nor of what a link points at; its owner alone may read it."""
    (tmp_path / "target").write_bytes(b"before")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    for there in ("target", "link"):
        with pytest.raises(FileExistsError):
            open_new(tmp_path / there)
    with open_new(tmp_path / "new") as file:
        file.write(b"after")
    assert (tmp_path / "target").read_bytes() == b"before"
    assert (tmp_path / "new").read_bytes() == b"after"
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("make", "hint"),
    [
        (lambda path: path.mkdir(), "there is a directory in place of a file"),
        (lambda path: path.symlink_to("other"), "this is a link"),
    ],
    ids=["directory", "link"],
)
def test_the_hint_fits_what_stands_in_the_way(tmp_path: Path, make: Callable[[Path], None], hint: str) -> None:
    """Neither a full disk nor another state directory is the matter."""
    make(tmp_path / "key")
    with pytest.raises(InputOutputFailed) as caught, explained("the key cannot be read", tmp_path / "key"):
        read_file(tmp_path / "key", 10)
    assert caught.value.hint.startswith(hint)


@pytest.mark.parametrize("size", [0, 1, 1_000, (1 << 20) + 3])
def test_a_file_is_overwritten_in_its_place(tmp_path: Path, size: int) -> None:
    """With as many zeros: another name of it reads them, too; no link is followed."""
    (tmp_path / "file").write_bytes(b"x" * size)
    os.link(tmp_path / "file", tmp_path / "other")
    overwrite_file(tmp_path / "file")
    assert (tmp_path / "other").read_bytes() == bytes(size)
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with pytest.raises(OSError, match="symbolic links"):
        overwrite_file(tmp_path / "link")


FORM, PATH = "audiencekit-trial/1", Path("place.json")
HALF = "K\udcfcnden.csv"  # the byte FC of a name of a file that is not UTF-8


@each_case("text", ["Kunden", "Künden", HALF, "\\ud83d", 'K"\udcff\n'])
def test_a_document_is_read_as_it_was_written(text: str) -> None:
    document = {"b": [text, 1, None, True], "a": {text: 1.5}}
    assert read_json(write_json(document)) == document
    assert decode_checked(encode_checked(document, FORM), FORM, PATH) == (document, True)


def test_another_half_of_a_character_is_noticed() -> None:
    content = encode_checked({"path": HALF}, FORM)
    changed = content.replace(b"dcfc", b"dcfb")
    assert decode_checked(changed, FORM, PATH) == ({"path": HALF.replace("\udcfc", "\udcfb")}, False)


@each_case("content", [b"", b"{", b'{"a": "\\udcff"', b'"\\udcff" x', b'{"a": \xff}'])
def test_content_that_is_no_json_is_no_document(content: bytes) -> None:
    assert decode_checked(content, FORM, PATH) == (None, False)


@each_case("document", [{1: 2}, {"a": object()}, {"a": HALF, "b": object()}])
def test_objects_that_json_does_not_have_are_not_written(document: dict[Any, Any]) -> None:
    with pytest.raises(TypeError):
        encode_checked(document, FORM)


@pytest.mark.parametrize("form", ["audiencekit-trial/2", "audiencekit-other/1"])
def test_another_format_is_named_with_the_one_that_is_read(form: str) -> None:
    told = f"'place.json' is in format {form}, and this version of audiencekit reads {FORM} only"
    with pytest.raises(InputOutputFailed, match=told):
        decode_checked(encode_checked({"a": 1}, form), FORM, PATH)


@each_case("form", ["", "audiencekit-trial/2\x1b[2J", "another-program/1"])
def test_words_that_are_no_format_of_ours_are_not_shown(form: str) -> None:
    assert decode_checked(encode_checked({"a": 1}, form), FORM, PATH) == ({"a": 1}, False)


def test_a_number_of_a_format_that_was_changed_is_damage() -> None:
    content = encode_checked({"a": 1}, FORM).replace(b"trial/1", b"trial/3")
    assert decode_checked(content, FORM, PATH) == ({"a": 1}, False)


def test_numbers_are_written_as_before() -> None:
    assert write_json({"a": math.nan}) == b'{"a":null}'


SIZES = [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES, 5_000_000]
only_past = pytest.mark.skipif(not hasattr(os, "O_DIRECT"), reason="the system always has its cache between")


def _filled(size: int) -> Any:
    room = make_room(size)
    room[:] = memoryview(os.urandom(size))
    return room


@pytest.mark.parametrize("past_cache", [True, False])
@pytest.mark.parametrize("size", SIZES)
def test_files_hold_what_they_are_given(tmp_path: Path, size: int, past_cache: bool) -> None:
    """To the byte, and readable by their owner only."""
    content = _filled(size)
    write_file(tmp_path / "file", content.data.toreadonly(), past_cache=past_cache)
    assert (tmp_path / "file").read_bytes() == content.tobytes()
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600


def test_content_from_anywhere(tmp_path: Path) -> None:
    """Content that is not aligned to a block goes through the cache."""
    content = _filled(3 * BLOCK_BYTES + 1)[1:]
    write_file(tmp_path / "file", content.data, past_cache=True)
    assert (tmp_path / "file").read_bytes() == content.tobytes()


def _record(monkeypatch: pytest.MonkeyPatch, fail: Callable[[bool], bool] = lambda past: False) -> list[bool]:
    """Of each write whether it goes past the cache; those for which `fail` is true are refused."""
    seen: list[bool] = []
    write = os.write
    import fcntl

    def record(file: int, content: Any) -> int:
        seen.append(bool(fcntl.fcntl(file, fcntl.F_GETFL) & os.O_DIRECT))
        if fail(seen[-1]):
            raise OSError(errno.EINVAL, "Invalid argument")
        return write(file, content)

    monkeypatch.setattr(largefiles.os, "write", record)
    return seen


@only_past
def test_whole_blocks_go_past_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what is less than a block through it."""
    seen = _record(monkeypatch)
    write_file(tmp_path / "file", _filled(2 * BLOCK_BYTES + 1).data, past_cache=True)
    assert seen == [True, False]


@only_past
def test_file_systems_that_refuse_to_write_past_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are given everything through it."""
    seen, content = _record(monkeypatch, fail=lambda past: past), _filled(3 * BLOCK_BYTES)
    write_file(tmp_path / "file", content.data, past_cache=True)
    assert seen == [True, False]
    assert (tmp_path / "file").read_bytes() == content.tobytes()


@only_past
def test_file_systems_that_refuse_to_open_past_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As memory did for long. Linux has made the file when it says so."""
    import fcntl

    opened, control = os.open, fcntl.fcntl

    def refuse(path: Path, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        file = opened(path, flags & ~os.O_DIRECT, mode, dir_fd=dir_fd)
        if flags & os.O_DIRECT:
            os.close(file)
            raise OSError(errno.EINVAL, "Invalid argument")
        return file

    def refuse_later(file: int, command: int, argument: int = 0) -> int:
        if command == fcntl.F_SETFL and argument & os.O_DIRECT:
            raise OSError(errno.EINVAL, "Invalid argument")
        return control(file, command, argument)

    monkeypatch.setattr(largefiles.os, "open", refuse)
    monkeypatch.setattr(fcntl, "fcntl", refuse_later)
    content = _filled(3 * BLOCK_BYTES)
    write_file(tmp_path / "one", content.data, past_cache=True)
    assert (tmp_path / "one").read_bytes() == content.tobytes()


@only_past
def test_a_part_of_a_block_may_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest follows it."""
    write, sizes = os.write, iter([BLOCK_BYTES, 100])
    monkeypatch.setattr(largefiles.os, "write", lambda file, content: write(file, _shortened(file, content, sizes)))
    content = _filled(5 * BLOCK_BYTES)
    write_file(tmp_path / "file", content.data, past_cache=True)
    assert (tmp_path / "file").read_bytes() == content.tobytes()


def _shortened(file: int, content: Any, sizes: Any) -> Any:
    import fcntl

    size = next(sizes, len(content))
    if size % BLOCK_BYTES:  # no real disk takes a part of a block past the cache
        fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) & ~os.O_DIRECT)
    return content[:size]


@pytest.mark.parametrize("there", ["file", "link"])
def test_nothing_is_written_over(tmp_path: Path, there: str) -> None:
    """Neither a file nor what a link points at."""
    target = tmp_path / "target"
    target.write_bytes(b"before")
    path = target if there == "file" else tmp_path / "link"
    if there == "link":
        path.symlink_to(target)
    with pytest.raises(FileExistsError):
        write_file(path, b"after", past_cache=True)
    assert target.read_bytes() == b"before"


def test_other_failures_are_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is none that refuses."""

    def fail(file: int, content: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(largefiles.os, "write", fail)
    with pytest.raises(OSError, match="No space left"):
        write_file(tmp_path / "one", _filled(BLOCK_BYTES).data, past_cache=True)


def test_a_closed_file_is_written_no_more(tmp_path: Path) -> None:
    """Its number may be that of another file."""
    with largefiles._NewFile(tmp_path / "file", past_cache=False) as file:
        pass
    with (tmp_path / "other").open("wb"), pytest.raises(OSError, match="Bad file"):
        file.write(memoryview(b"x"))
    assert (tmp_path / "other").read_bytes() == b""
