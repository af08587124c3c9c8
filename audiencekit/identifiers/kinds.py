"""The six kinds of identifier (specification part 2, section 4.4)."""

from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """One field of a user entry, named as the specification names it."""

    EMAIL = "email"
    PHONE_NUMBER = "phone_number"
    DEVICE_ID = "device_id"
    HANDLE = "handle"
    PLATFORM_ID = "platform_id"
    PARTNER_USER_ID = "partner_user_id"

    @property
    def is_hashed(self) -> bool:
        """Whether values leave as SHA-256; `partner_user_id` is the only one that does not (part 2, section 4.4)."""
        return self is not Kind.PARTNER_USER_ID


# Files that outlive their process hold these without names, in this order: never changed, and never longer. A kind that
# comes to `Kind` is named in them where records have it, so that files without it stay as they were.
FIRST_KINDS: Final[tuple[Kind, ...]] = (
    *(Kind.EMAIL, Kind.PHONE_NUMBER, Kind.DEVICE_ID, Kind.HANDLE, Kind.PLATFORM_ID),
    Kind.PARTNER_USER_ID,
)
