"""The status lines that gpg prints about a message (`--status-fd`, doc/DETAILS of GnuPG), as one verdict.

gpg prints the plain text before it has checked it. So a message is sound by these lines alone, and only at its end: it
was decrypted once, it is whole and unchanged, and no signature of it is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from audiencekit.errors import SourceRefused

PREFIX: Final = "[GNUPG:] "
ASKS_A_PERSON: Final = "NEED_PASSPHRASE_SYM"
# Each of them once: of none it is unknown whether the message is whole, and of two it is not one message.
_ONCE: Final = ("BEGIN_DECRYPTION", "PLAINTEXT", "DECRYPTION_OKAY", "GOODMDC", "END_DECRYPTION")
_NEVER: Final = ("DECRYPTION_FAILED", "BADMDC", "NODATA", "UNEXPECTED", "BADARMOR", "FAILURE")
_WRONG_SIGNATURES: Final = ("BADSIG", "REVKEYSIG")
_UNKNOWN_SIGNER: Final = "ERRSIG"  # gpg then ends with the code of an error, whatever else it found


class GpgStatus:
    """The lines of one message so far."""

    def __init__(self) -> None:
        self._words: Counter[str] = Counter()
        self._is_protected = False

    def hear(self, line: str) -> str:
        """Take in a line; its word, or nothing for one that is not of the status."""
        if not line.startswith(PREFIX):
            return ""
        word, *facts = line.removeprefix(PREFIX).split()
        self._words[word] += 1
        if word == "DECRYPTION_INFO":
            self._is_protected = any(fact != "0" for fact in (facts[0], *facts[2:3]))  # MDC, or AEAD
        return word

    def refusal(self, exit_code: int) -> SourceRefused | None:
        """Why nothing of the message may be used; None when all of it may."""
        if self._words[ASKS_A_PERSON]:  # behind a message that a key has opened, it is a damage that looks like another
            return damaged_message() if self._words["DECRYPTION_INFO"] else by_passphrase()
        if exit_code < 0:
            return SourceRefused(f"gpg was ended from outside, by signal {-exit_code}", hint="run the same again")
        if not self._words["DECRYPTION_INFO"]:
            return self._undecrypted()
        if not self._is_protected:
            return SourceRefused(
                "the PGP message is of an old form that does not tell a change from the original",
                hint="have it encrypted anew, with GnuPG 2.1 or later",
            )
        if self._any(_WRONG_SIGNATURES):
            return SourceRefused(
                "the signature of the PGP message is wrong, or of a key that was revoked",
                hint="ask its sender; nothing of it can be trusted",
            )
        is_ended_well = exit_code == 0 or bool(self._words[_UNKNOWN_SIGNER])
        is_whole = all(self._words[word] == 1 for word in _ONCE)
        return None if is_whole and is_ended_well and not self._any(_NEVER) else damaged_message()

    def _undecrypted(self) -> SourceRefused:
        # `DECRYPTION_KEY` says that a key has opened it: a short file that was cut fails before anything else.
        if not self._words["ENC_TO"] or self._words["DECRYPTION_KEY"]:
            return damaged_message()
        if self._words["KEY_CONSIDERED"]:
            return SourceRefused(
                "gpg has a key for the PGP message that does not open it: it is locked, or the header is damaged",
                hint="unlock it: decrypt the file once with gpg, and its agent keeps the passphrase for a while",
            )
        return SourceRefused(
            "it is encrypted for other keys than the keyring of gpg has, or its header is damaged",
            hint="gpg --list-secret-keys shows them; GNUPGHOME names the directory of another keyring",
        )

    def _any(self, words: Iterable[str]) -> bool:
        return any(self._words[word] for word in words)


def by_passphrase() -> SourceRefused:
    """The refusal of a message that no key opens."""
    return SourceRefused(
        "it is encrypted with a passphrase, which is not asked for", hint="have it encrypted for a key of yours"
    )


def damaged_message() -> SourceRefused:
    """The refusal of a message that is not whole, or not alone."""
    return SourceRefused(
        "the PGP message is damaged or truncated, or something follows it",
        hint="get the file again; nothing of it can be trusted",
    )
