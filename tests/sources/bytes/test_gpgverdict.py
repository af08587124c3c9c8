"""The lines of gpg make one verdict: sound is only what was decrypted once, whole, unchanged and alone."""

from __future__ import annotations

import pytest

from audiencekit.sources.bytes.gpgverdict import PREFIX, GpgStatus

# As doc/DETAILS of GnuPG describes them, in the order in which gpg 2.2 says them.
SOUND = (
    "ENC_TO ADCF28B99DA3A64C 1 0", "DECRYPTION_KEY FPR FPR u", "BEGIN_DECRYPTION", "DECRYPTION_INFO 2 9 0",
    "PLAINTEXT 62 1795521483 people.csv", "PLAINTEXT_LENGTH 468896", "DECRYPTION_OKAY", "GOODMDC", "END_DECRYPTION",
)  # fmt: skip
INFO = "DECRYPTION_INFO 2 9 0"


def _verdict(*lines: str, exit_code: int = 0) -> str | None:
    status = GpgStatus()
    for line in ("gpg: a line for people", "", *(PREFIX + line for line in lines)):
        status.hear(line + "\n")
    refusal = status.refusal(exit_code)
    return None if refusal is None else str(refusal)


def test_a_sound_message_is_taken() -> None:
    """Also one that is sealed by AEAD, and signed by a key that gpg knows or does not."""
    assert _verdict(*SOUND) is None
    assert _verdict(*(line.replace(INFO, "DECRYPTION_INFO 0 9 2") for line in SOUND)) is None
    assert _verdict(*SOUND, "GOODSIG ID Sender", "VALIDSIG FPR") is None
    assert _verdict(*SOUND, "ERRSIG ID 1 10 00 1 9 FPR", "NO_PUBKEY ID", exit_code=2) is None


@pytest.mark.parametrize("missing", [line for line in SOUND if line.split()[0] in (
    "BEGIN_DECRYPTION", "PLAINTEXT", "DECRYPTION_OKAY", "GOODMDC", "END_DECRYPTION")])  # fmt: skip
def test_each_status_line_is_needed_once(missing: str) -> None:
    """Each of these lines is needed, and once."""
    assert "damaged" in str(_verdict(*(line for line in SOUND if line != missing)))
    assert "damaged" in str(_verdict(*SOUND, missing))


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("BADMDC", "damaged"),
        ("DECRYPTION_FAILED", "damaged"),
        ("NODATA 3", "damaged"),
        ("UNEXPECTED 1", "damaged"),
        ("BADARMOR", "damaged"),
        ("FAILURE decrypt 1", "damaged"),
        ("BADSIG ID Sender", "signature"),
        ("REVKEYSIG ID Sender", "signature"),
        ("NEED_PASSPHRASE_SYM 9 3 2", "damaged"),
    ],
)
def test_one_wrong_line_refuses(line: str, word: str) -> None:
    """Whatever else is said."""
    assert word in str(_verdict(*SOUND, line))


def test_the_exit_code_counts() -> None:
    """An error that no line tells of; a signal is told as one."""
    assert "damaged" in str(_verdict(*SOUND, exit_code=2))
    assert "ended from outside" in str(_verdict(*SOUND, exit_code=-9))


def test_a_message_without_a_seal_is_refused() -> None:
    """gpg may be told to pass over it."""
    assert "old form" in str(_verdict(*(line.replace(INFO, "DECRYPTION_INFO 0 2 0") for line in SOUND)))


def test_a_failed_decryption_says_why() -> None:
    """Another key, a locked one, or no message at all."""
    failed = ("ENC_TO ID 1 0", "BEGIN_DECRYPTION", "DECRYPTION_FAILED", "END_DECRYPTION")
    assert "other keys" in str(_verdict(*failed, exit_code=2))
    assert "locked" in str(_verdict(*failed, "KEY_CONSIDERED FPR 0", exit_code=2))
    opened = ("ENC_TO ID 1 0", "KEY_CONSIDERED FPR 0", "DECRYPTION_KEY FPR FPR u")
    assert "truncated" in str(_verdict(*opened, exit_code=2))
    assert "truncated" in str(_verdict("NODATA 1", exit_code=2))
    assert "passphrase" in str(_verdict("ENC_TO ID 1 0", "NEED_PASSPHRASE_SYM 9 3 2", exit_code=-9))
