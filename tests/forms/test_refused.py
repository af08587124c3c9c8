"""A list that is damaged, cut, changed while it is read, of another key, or two lists: refused, and nothing is sent."""

from __future__ import annotations

import gzip
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import audiencekit
from audiencekit.errors import AudiencekitError, InputOutputFailed, SourceRefused
from audiencekit.reporting.progress import NoProgress
from audiencekit.testing import RunningEmulator
from tests.forms import people
from tests.forms.table import FORMS, Form, Place, each
from tests.gpgkeyring import new_keyring
from tests.postgresserver import execute

COUNT = 3_000
Upload = Callable[..., audiencekit.Report]
Sent = Callable[[], int]
DAMAGES = [case for form in FORMS for name in form.damages for case in each([form], name)]
ELSEWHERE = [form for form in FORMS if form.server]
FILES = [form for form in FORMS if form.in_a_file]


@pytest.fixture
def upload(ads: RunningEmulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Upload:
    """Uploads a source to the audience of the emulator."""
    for name, value in {**ads.env, "AUDIENCEKIT_STATE_DIR": str(tmp_path / "state")}.items():
        monkeypatch.setenv(name, value)
    return lambda source, **keywords: audiencekit.upload(source, audience=ads.audience_id, **keywords)


def _refusal(upload: Upload, source: Any, sent: Sent, **keywords: Any) -> AudiencekitError:
    """Return the error of an upload that must send nothing; it says a reason and what to do, and no cell."""
    with pytest.raises((SourceRefused, InputOutputFailed)) as caught:
        upload(source, **keywords)
    error = caught.value
    assert sent() == 0
    assert error.hint
    assert "canary" not in f"{error} {error.hint}"
    return error


@pytest.mark.parametrize(("form", "name"), DAMAGES)
def test_a_damaged_list_is_refused(place: Place, form: Form, name: str, upload: Upload, sent: Sent) -> None:
    """Wherever the damage is: whole and unchanged it would have been sent."""
    (path,) = map(Path, form.write(place, COUNT))
    path.write_bytes(form.damages[name](path.read_bytes()))
    _refusal(upload, path, sent)


class _Swapping(NoProgress):
    """Puts another file in the place of the list once reading has begun, and `rows` rows were read."""

    def __init__(self, swap: Callable[[], object], *, rows: int = 0) -> None:
        self._swap, self._rows, self.is_done = swap, rows, False

    def step(self, stage: str, done: int, total: int, **_: Any) -> None:
        if stage == "reading" and done >= self._rows and not self.is_done:
            self.is_done = True
            self._swap()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["another file", "the same file, longer", "the same file, other bytes"])
@pytest.mark.parametrize("form", each(FILES))
def test_a_list_that_is_swapped_while_it_is_read_is_refused(
    place: Place, form: Form, how: str, upload: Upload, sent: Sent
) -> None:
    """Another file under its name, and other bytes in the file."""
    (path,) = map(Path, form.write(place, COUNT))
    whole = path.read_bytes()

    def swap() -> None:
        if how == "another file":
            other = path.with_name("other")
            other.write_bytes(whole)
            other.replace(path)
        elif how == "the same file, longer":
            path.write_bytes(whole + whole)
        else:
            with path.open("r+b") as file:
                file.write(whole)
            os.utime(path, ns=(0, 0))

    progress = _Swapping(swap)
    refusal = _refusal(upload, path, sent, progress=progress)
    assert progress.is_done
    assert "changed while it was read" in str(refusal)


@pytest.mark.parametrize("form", each(ELSEWHERE))
def test_a_list_elsewhere_that_is_swapped_while_it_is_read_is_refused(
    place: Place, form: Form, upload: Upload, sent: Sent
) -> None:
    """By its version, or its size and time of change."""
    (address,) = form.write(place, COUNT)
    progress = _Swapping(lambda: place.ask(form.server).put("people.csv", people.as_csv(COUNT + 1)))
    assert "changed" in str(_refusal(upload, address, sent, progress=progress))
    assert progress.is_done


@contextmanager
def _credentials_of_another(place: Place, form: Form) -> Iterator[None]:
    if form.name == "s3":
        with place.ask(form.server).locked():
            yield
        return
    if form.name == "az":
        os.environ["AZURE_STORAGE_ACCOUNT_KEY"] = "aW52ZW50ZWQ="
    else:
        (place.directory / ".ssh").mkdir()
        key = pytest.importorskip("asyncssh").generate_private_key("ssh-ed25519")
        key.write_private_key(str(place.directory / ".ssh" / "id_ed25519"))
        os.environ["HOME"] = str(place.directory)
        os.environ.pop("SSH_AUTH_SOCK", None)
    yield


@pytest.mark.parametrize("form", each(ELSEWHERE))
def test_a_list_elsewhere_with_credentials_of_another_is_refused(
    place: Place, form: Form, upload: Upload, sent: Sent
) -> None:
    """The place is reached, and does not let us in."""
    (address,) = form.write(place, COUNT)
    with _credentials_of_another(place, form):
        refusal = _refusal(upload, address, sent)
    assert re.search("does not allow it|takes none of your keys", str(refusal))


@pytest.mark.parametrize("form", each(form for form in FILES if form.is_secret))
def test_a_list_of_another_key_is_refused(
    place: Place, form: Form, upload: Upload, sent: Sent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither key is quoted."""
    (path,) = map(Path, form.write(place, COUNT))
    if form.name == "age":
        pyrage = pytest.importorskip("pyrage")
        other = tmp_path / "other"
        other.write_text(f"{pyrage.x25519.Identity.generate()}\n")
        other.chmod(0o600)
        monkeypatch.setenv("AUDIENCEKIT_AGE_IDENTITY", str(other))
        assert "other keys" in str(_refusal(upload, path, sent))
        return
    with new_keyring() as keyring:
        monkeypatch.setenv("GNUPGHOME", str(keyring.directory))
        assert "other keys" in str(_refusal(upload, path, sent))


def test_two_lists_in_one_are_refused(place: Place, upload: Upload, sent: Sent) -> None:
    """Members of a zip are named. Of gz and its like several members are one list, and read as one."""
    text = people.as_csv(COUNT)
    path = place.directory / "two.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("march.csv", "april.csv"):
            archive.writestr(name, text)
    assert "march.csv, april.csv" in str(_refusal(upload, path, sent))
    path = place.directory / "two.gz"
    path.write_bytes(gzip.compress(text[:1_000]) + gzip.compress(text[1_000:]))
    assert upload(path).records_sent == COUNT


@pytest.mark.parametrize("form", each(form for form in FILES if form.is_secret))
def test_two_lists_under_a_seal_are_refused(place: Place, form: Form, upload: Upload, sent: Sent) -> None:
    """One behind the other: the second is not part of what was sealed."""
    (path,) = map(Path, form.write(place, COUNT))
    path.write_bytes(path.read_bytes() * 2)
    _refusal(upload, path, sent)


@pytest.mark.services
def test_a_database_that_goes_away_is_refused(place: Place, upload: Upload, sent: Sent) -> None:
    """In the middle of the rows; and when it does not let us in."""
    pytest.importorskip("adbc_driver_postgresql", reason="the extra postgresql is not installed")
    server = place.ask("server")
    sql = "SELECT 'canary' || i || '@example.com' AS email FROM generate_series(1, 2000000) AS i"
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY%'"
    progress = _Swapping(lambda: execute(server, end), rows=1)  # before the first row the server may not have begun
    assert "lost" in str(_refusal(upload, audiencekit.from_sql(server, sql), sent, progress=progress))
    assert progress.is_done
    late = "SELECT 'canary' || (i / (500000 - i)) || '@example.com' AS email FROM generate_series(1, 600000) AS i"
    assert "22012" in str(_refusal(upload, audiencekit.from_sql(server, late), sent))
    nowhere = server.rpartition("/")[0] + "/nowhere"
    assert "cannot be reached" in str(_refusal(upload, audiencekit.from_sql(nowhere, sql), sent))
