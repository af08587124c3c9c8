"""Types that say which rule a text has passed. Only the normalisers of this folder make them."""

from __future__ import annotations

from typing import NewType, TypeAlias

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
