"""The six kinds of identifier (specification part 2, section 4.4), and the type of a value of each."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NewType, TypeAlias


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

# Types that say which rule a text has passed. Only the normalisers of this folder make them.
NormalizedEmail = NewType("NormalizedEmail", str)
NormalizedPhoneNumber = NewType("NormalizedPhoneNumber", str)
NormalizedDeviceId = NewType("NormalizedDeviceId", str)
NormalizedHandle = NewType("NormalizedHandle", str)
NormalizedPlatformId = NewType("NormalizedPlatformId", str)
NormalizedPartnerUserId = NewType("NormalizedPartnerUserId", str)

# A partner user id leaves as it is (specification part 2, section 4.4), so it is not among these.
Hashable: TypeAlias = (
    NormalizedEmail | NormalizedPhoneNumber | NormalizedDeviceId | NormalizedHandle | NormalizedPlatformId
)
Normalized: TypeAlias = Hashable | NormalizedPartnerUserId
