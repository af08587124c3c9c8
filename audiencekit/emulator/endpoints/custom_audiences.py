"""Custom audiences, and the permissions of other accounts on them (specification part 2, sections 4.2, 4.3 and 4.5)."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from audiencekit.emulator.answers import Answer, format_time, success
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.accounts import SHARING_FEATURE
from audiencekit.emulator.endpoints.audience_members import Membership, Span, split_key_set
from audiencekit.emulator.paging import Listing, read_list_query
from audiencekit.emulator.parameters import Parameters
from audiencekit.limits import MAX_QUERY_LENGTH, MIN_TARGETABLE_PEOPLE

if TYPE_CHECKING:
    from audiencekit.emulator.endpoints.accounts import Account
    from audiencekit.emulator.endpoints.flexible_audiences import Segment


# --- A custom audience, as the emulator keeps it and as the service shows it ---


@dataclass(slots=True)
class Audience:
    """One custom audience; times in epoch seconds. A flexible one has a tree of segments and no members."""

    id: str
    account_id: str
    name: str
    description: str | None
    created_at: float
    updated_at: float
    audience_type: str = "CRM"
    segments: Segment | None = None
    deleted: bool = False
    members: Membership = field(default_factory=Membership)
    permissions: dict[str, Permission] = field(default_factory=dict)
    processing: Processing = field(init=False)

    def __post_init__(self) -> None:
        self.processing = Processing(self.created_at)

    def value(self, attribute: str) -> Any:
        """Return the value to sort a list by."""
        return getattr(self, attribute)

    def permission_of(self, account_id: str) -> Permission | None:
        """Return the permission that the owner gave to another account."""
        granted = (permission for permission in self.permissions.values() if not permission.deleted)
        return next((permission for permission in granted if permission.granted_account_id == account_id), None)

    def document(self, viewer_id: str = "") -> dict[str, Any]:
        """Return the record as the service shows it to the account `viewer_id`, by default to its owner."""
        permission = self.permission_of(viewer_id)
        return {
            "targetable": self.processing.is_targetable and not self.deleted,
            "name": self.name,
            "targetable_types": [self.audience_type, f"EXCLUDED_{self.audience_type}"],
            "audience_type": self.audience_type,
            "description": self.description,
            "permission_level": permission.permission_level if permission else "READ_WRITE",
            "owner_account_id": self.account_id,
            # The specification's field for the same thing (part 2, section 2).
            "is_owner": viewer_id in ("", self.account_id),
            "id": self.id,
            "reasons_not_targetable": ["TOO_SMALL"] if self.deleted else self.processing.reasons,
            "created_at": format_time(self.created_at),
            "updated_at": format_time(self.updated_at),
            "partner_source": "OTHER",
            "deleted": self.deleted,
            "audience_size": None if self.deleted else self.processing.shown_size,
        }


# --- The people of the platform: which identifiers belong to a user who was active lately ---


class Population:
    """Decides by a seed for every key whether it belongs to a user; `match_rate` is the share of the keys that do."""

    def __init__(self, seed: int, match_rate: float) -> None:
        self.salt = zlib.crc32(str(seed).encode())
        self._threshold = match_rate * 2**32

    def matched(self, entries: Iterable[tuple[bytes, Span]]) -> Iterator[bytes]:
        """Return the key sets with at least one key of a user: more identifiers give more matches."""
        salt, threshold = self.salt, self._threshold
        for key_set, _ in entries:
            if any(zlib.crc32(key, salt) < threshold for key in split_key_set(key_set)):
                yield key_set

    def count(self, entries: Iterable[tuple[bytes, Span]]) -> int:
        """Return how many of some entries are matched."""
        return sum(1 for _ in self.matched(entries))


# --- The last count that the service made of a list: sizes lag behind membership ---
#
# The public documentation says that a count comes four to eight hours after the one before. Here it is six hours,
# unless an option says otherwise, from the creation of the list on. Each count sees the members of its moment.

PROCESSING_SECONDS: Final = 6 * 3_600.0


@dataclass(slots=True)
class Processing:
    """The last count of one list, and whether something has changed since. Times in epoch seconds."""

    started_at: float
    size: int | None = None
    has_changed: bool = True
    _counted_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._counted_at = self.started_at

    def catch_up(self, now: float, count: Callable[[float], int], every: float = PROCESSING_SECONDS) -> None:
        """Make the latest count that is due by `now`; `count` returns how many matched at a time.

        The time from one count to the next is `every` seconds.
        """
        moment = self.started_at + (now - self.started_at) // every * every
        if moment > self._counted_at:
            self.size = count(moment)
            self._counted_at = moment
            self.has_changed = False

    @property
    def is_targetable(self) -> bool:
        """Whether enough people were counted. A targetable list stays so until its next count."""
        return self.size is not None and self.size >= MIN_TARGETABLE_PEOPLE

    @property
    def shown_size(self) -> int | None:
        """The size of a targetable list; that of a smaller one would reveal too much about too few people."""
        return self.size if self.is_targetable else None

    @property
    def reasons(self) -> list[str]:
        """The `reasons_not_targetable`: none, or that the list is too small, and whether a count is pending."""
        if self.is_targetable:
            return []
        return ["PROCESSING", "TOO_SMALL"] if self.has_changed else ["TOO_SMALL"]


# --- Permissions that the owner of an audience gave to other accounts ---


@dataclass(slots=True)
class Permission:
    """One grant; times in epoch seconds."""

    id: str
    audience_id: str
    granted_account_id: str
    permission_level: str
    created_at: float
    updated_at: float
    deleted: bool = False

    def value(self, attribute: str) -> Any:
        """Return the value to sort a list by."""
        return getattr(self, attribute)

    def document(self, audience_id_name: str) -> dict[str, Any]:
        """Return the record as the service shows it, with the endpoint's name for the audience's id."""
        return {
            audience_id_name: self.audience_id,
            "permission_level": self.permission_level,
            "id": self.id,
            "created_at": format_time(self.created_at),
            "granted_account_id": self.granted_account_id,
            "updated_at": format_time(self.updated_at),
            "deleted": self.deleted,
        }


# --- Custom audiences: created, listed, shown, changed, deleted (specification part 2, section 4.3) ---

_LISTING: Final = Listing(sortable=("name", "created_at", "updated_at", "deleted"))
_SCOPES: Final = ("OWNER", "SHARED")


def find_audience(
    call: Call, *, audience_id: str | None = None, with_deleted: bool = False, to_write: bool = False
) -> Audience:
    """Return the audience of the path, or with `audience_id`, owned by the account or shared with it.

    Raises RefusalError: 404 when there is none, or it was deleted; 403 for writing to one that was shared for reading.
    """
    parameter = "tailored_audience_id" if "tailored_audience_id" in call.ids else "custom_audience_id"
    audience_id = audience_id or call.ids[parameter]
    audience = call.store.find_audience(audience_id)
    permission = audience.permission_of(call.account.id) if audience else None
    is_ours = audience is not None and audience.account_id == call.account.id
    if audience is None or (audience.deleted and not with_deleted) or not (is_ours or permission):
        message = f"Custom Audience {audience_id} was not found for Account {call.account.id}"
        raise call.refuse(404, "NOT_FOUND", message, parameter)
    if to_write and permission and permission.permission_level != "READ_WRITE":
        raise call.refuse(403, "ACTION_NOT_ALLOWED", "The audience is shared with this account for reading only")
    call.store.catch_up(call.store.accounts[audience.account_id], call.now)
    return audience


def find_own_audience(call: Call) -> Audience:
    """Return the audience of the path. Raises RefusalError: 404 as above; 403 for another account's audience."""
    audience = find_audience(call)
    if audience.account_id != call.account.id:
        raise call.refuse(403, "ACTION_NOT_ALLOWED", "Only the account that owns the audience may do this")
    return audience


def create_audience(call: Call) -> Answer:
    """Answer `POST …/custom_audiences`: an empty audience."""
    parameters = Parameters(call)
    name = parameters.required_text("name")
    description = parameters.text("description", empty=True)
    parameters.finish()
    _check_name(call.account, parameters, name)
    audience = call.store.make_audience(call.account, name, description or None, call.now)
    return success(parameters.echo, audience.document())


def list_audiences(call: Call) -> Answer:
    """Answer `GET …/custom_audiences`: a page of the account's own audiences, or of those shared with it."""
    parameters = Parameters(call)
    query = read_list_query(parameters, _LISTING)
    shared = parameters.choice("permission_scope", _SCOPES, "OWNER") == "SHARED"
    prefix = (parameters.text("q", longest=MAX_QUERY_LENGTH) or "").casefold()
    ids = parameters.words("custom_audience_ids")
    parameters.finish()

    def wanted(audience: Audience) -> bool:
        named = audience.name.casefold().startswith(prefix)
        return named and (ids is None or audience.id in ids)

    audiences = list(call.store.shared_with(call.account) if shared else call.account.audiences.values())
    for owner_id in {call.account.id, *(audience.account_id for audience in audiences)}:
        call.store.catch_up(call.store.accounts[owner_id], call.now)
    page = query.page(parameters, audiences, wanted)
    return success(parameters.echo, [audience.document(call.account.id) for audience in page.records], **page.members())


def show_audience(call: Call) -> Answer:
    """Answer `GET …/custom_audiences/:custom_audience_id`."""
    parameters = Parameters(call)
    with_deleted = parameters.boolean("with_deleted")
    parameters.finish()
    return success(parameters.echo, find_audience(call, with_deleted=with_deleted).document(call.account.id))


def change_audience(call: Call) -> Answer:
    """Answer `PUT …/custom_audiences/:custom_audience_id`: an empty description removes the old one."""
    parameters = Parameters(call)
    name = parameters.text("name")
    description = parameters.text("description", empty=True)
    parameters.finish()
    audience = find_audience(call, to_write=True)
    if audience.segments is not None:
        raise call.refuse(400, "INVALID_PARAMETER", "A flexible audience cannot be changed", "custom_audience_id")
    if name is not None and name != audience.name:
        _check_name(call.store.accounts[audience.account_id], parameters, name)
        audience.name = name
    if description is not None:
        audience.description = description or None
    audience.updated_at = call.now
    return success(parameters.echo, audience.document(call.account.id))


def delete_audience(call: Call) -> Answer:
    """Answer `DELETE …/custom_audiences/:custom_audience_id`: the second time with 404."""
    parameters = Parameters(call)
    parameters.finish()
    audience = find_own_audience(call)
    audience.deleted = True
    audience.updated_at = call.now
    return success(parameters.echo, audience.document())


def _check_name(owner: Account, parameters: Parameters, name: str) -> None:
    # The public service's code for this is documented nowhere.
    if owner.has_name(name):
        raise parameters.fault("name", "A Custom Audience with this name exists, or existed, in the Account")


# --- Permissions on audiences: listed, granted, revoked by the owner (specification part 2, sections 4.2 and 4.5) ---
#
# Tailored audiences are custom audiences under their older name: the same audiences and permissions, at other paths and
# with other names of ids. A second grant to the same account changes its level, since there is no other way to do so.

_LEVELS: Final = ("READ_ONLY", "READ_WRITE")
_PERMISSION_LISTING: Final = Listing(takes_with_deleted=False)


@dataclass(frozen=True, slots=True)
class Permissions:
    """The endpoints of one of the two names of audiences: `custom_audience` or `tailored_audience`."""

    noun: str

    @property
    def audience_id(self) -> str:
        """The name of the field with the id of the audience."""
        return f"{self.noun}_id"

    @property
    def permission_id(self) -> str:
        """The name of the field with the id of a permission."""
        return f"{self.noun}_permission_id"

    def show(self, call: Call) -> Answer:
        """Answer `GET …/permissions`: a page of those that are not revoked."""
        parameters = Parameters(call)
        query = read_list_query(parameters, _PERMISSION_LISTING)
        ids = parameters.words(f"{self.permission_id}s")
        accounts = parameters.words("granted_account_ids")
        parameters.finish()

        def wanted(permission: Permission) -> bool:
            asked = ids is None or permission.id in ids
            return asked and (accounts is None or permission.granted_account_id in accounts)

        page = query.page(parameters, list(find_own_audience(call).permissions.values()), wanted)
        shown = [permission.document(self.audience_id) for permission in page.records]
        return success(parameters.echo, shown, **page.members())

    def grant(self, call: Call) -> Answer:
        """Answer `POST …/permissions`."""
        parameters = Parameters(call)
        granted_id = parameters.required_text("granted_account_id")
        level = parameters.required_choice("permission_level", _LEVELS)
        parameters.finish()
        audience = find_own_audience(call)
        _check_grantee(call, parameters, granted_id)
        permission = audience.permission_of(granted_id)
        if permission is None:
            permission = _make_permission(call, audience, granted_id, level)
        permission.permission_level, permission.updated_at = level, call.now
        return success(parameters.echo, permission.document(self.audience_id))

    def revoke(self, call: Call) -> Answer:
        """Answer `DELETE …/permissions/:…_permission_id`: running campaigns with the audience go on."""
        parameters = Parameters(call)
        parameters.finish()
        permission_id = call.ids[self.permission_id]
        permission = find_own_audience(call).permissions.get(permission_id)
        if permission is None or permission.deleted:
            message = f"Permission {permission_id} was not found for Account {call.account.id}"
            raise call.refuse(404, "NOT_FOUND", message, self.permission_id)
        permission.deleted, permission.updated_at = True, call.now
        return success(parameters.echo, permission.document(self.audience_id))


def _make_permission(call: Call, audience: Audience, granted_id: str, level: str) -> Permission:
    permission = Permission(call.store.make_id(), audience.id, granted_id, level, call.now, call.now)
    audience.permissions[permission.id] = permission
    return permission


def _check_grantee(call: Call, parameters: Parameters, granted_id: str) -> None:
    granted = call.store.accounts.get(granted_id)
    if granted is None or granted.deleted:
        raise parameters.fault("granted_account_id", f"Account {granted_id} was not found")
    if granted is call.account:
        raise parameters.fault("granted_account_id", "The account owns the audience")
    if granted.business_id != call.account.business_id and SHARING_FEATURE not in call.account.features:
        message = f"Sharing outside of the business needs the feature {SHARING_FEATURE}"
        raise parameters.fault("granted_account_id", message, "FEATURE_NOT_AVAILABLE")


CUSTOM: Final = Permissions("custom_audience")
TAILORED: Final = Permissions("tailored_audience")
