"""A keyring of gpg with a key of its own, for tests that encrypt lists. No keyring of the machine is touched."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_KEY = """\
%no-protection
Key-Type: EDDSA
Key-Curve: ed25519
Subkey-Type: ECDH
Subkey-Curve: cv25519
Name-Email: {name}@example.com
Expire-Date: 0
%commit
"""


class Keyring:
    """The directory that GNUPGHOME names. It has a short path: sockets of the agent lie in it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def make_key(self, name: str) -> None:
        """A key of `name`@example.com that signs, with one that decrypts, and no passphrase."""
        self.gpg("--generate-key", data=_KEY.format(name=name).encode())

    def gpg(self, *arguments: str, data: bytes = b"") -> bytes:
        """Return the output of gpg."""
        command = ["gpg", "--homedir", str(self.directory), "--batch", "--yes", "--quiet", "--trust-model", "always"]
        return subprocess.run([*command, *arguments], input=data, capture_output=True, check=True).stdout

    def encrypt(self, data: bytes, *arguments: str, to: str = "lists") -> bytes:
        """`data` for the key of `to`."""
        return self.gpg("--encrypt", "--recipient", f"{to}@example.com", *arguments, data=data)


@contextmanager
def new_keyring() -> Iterator[Keyring]:
    """An empty keyring, without its agent in the end. Skips the test where gpg is missing."""
    if shutil.which("gpg") is None:
        pytest.skip("gpg is not installed")
    directory = Path(tempfile.mkdtemp(prefix="gpg"))
    try:
        yield Keyring(directory)
    finally:
        kill = ["gpgconf", "--homedir", str(directory), "--kill", "all"]
        subprocess.run(kill, check=False, capture_output=True)
        shutil.rmtree(directory, ignore_errors=True)
