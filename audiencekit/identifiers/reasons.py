"""Why a value or a row does not qualify: a closed list of stable codes."""

from enum import StrEnum


class Reason(StrEnum):
    """One code a reason. The texts for people stand in `docs/reasons.md`, and a test compares the two."""

    EMPTY = "empty"
    PLACEHOLDER = "placeholder"
    INVALID_SYNTAX = "invalid_syntax"
    SPECIAL_USE_DOMAIN = "special_use_domain"
    TOO_LONG = "too_long"
    DISPLAY_NAME = "display_name"
    NO_COUNTRY = "no_country"
    NOT_POSSIBLE = "not_possible"
    NOT_VALID = "not_valid"
    EXTENSION = "extension"
    EXCEL_MANGLED = "excel_mangled"
    ZEROED = "zeroed"
    ALREADY_HASHED = "already_hashed"
    WRONG_HASH = "wrong_hash"
    HASH_OF_PLACEHOLDER = "hash_of_placeholder"
    NOT_INTEGER = "not_integer"
    INVISIBLE_CHARACTER = "invisible_character"
    RAGGED = "ragged"
    ENCODING = "encoding"
    TOO_LARGE = "too_large"
    UNKNOWN_OPERATION = "unknown_operation"
    NO_IDENTIFIER = "no_identifier"
    LOOKS_PERSONAL = "looks_personal"
    SHARED = "shared"
    REFUSED_BY_SERVICE = "refused_by_service"
