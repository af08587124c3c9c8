"""Numbers whose codes are in columns of their own, against phonenumbers."""

from __future__ import annotations

import phonenumbers
import pyarrow as pa
from hypothesis import given, strategies as st

from audiencekit.identifiers.countries import find_country
from audiencekit.identifiers.definition import normalize_identifier
from audiencekit.identifiers.kinds import Kind, Reason
from audiencekit.records.area_codes import calling_code_of, calling_codes_of, with_area, with_areas
from tests.cases import each_case

REGIONS = ["AT", "AU", "BR", "CN", "DE", "ES", "FI", "FR", "GB", "ID", "IE", "IT", "JP", "MX", "NZ", "SE", "US", "ZA"]


def _cut(region: str) -> tuple[str, str, str, str]:
    """The trunk prefix of a region; area code and local number of one of its numbers; and the whole."""
    number = phonenumbers.example_number_for_type(region, phonenumbers.PhoneNumberType.FIXED_LINE)
    assert number is not None
    number.national_number = number.national_number // 1000 * 1000 + 735  # the digits in order are a placeholder
    assert phonenumbers.is_valid_number(number)
    national = phonenumbers.national_significant_number(number)
    size = phonenumbers.length_of_geographical_area_code(number) or 3
    whole = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    trunk = phonenumbers.PhoneMetadata.metadata_for_region(region).national_prefix
    return trunk if trunk == "0" else "", national[:size], national[size:], whole


@each_case("region", REGIONS)
@each_case("has_trunk", [True, False])
@each_case("form", ["{}", "({})", "{}/"])
def test_a_joined_number_is_the_one_that_was_cut(region: str, has_trunk: bool, form: str) -> None:
    """With the trunk digit before its area code and without it."""
    trunk, area, local, whole = _cut(region)
    joined = with_area(form.format(trunk + area if has_trunk else area), local)
    assert normalize_identifier(Kind.PHONE_NUMBER, joined, country=region) == whole


@each_case("region", REGIONS)
def test_whole_numbers_stay(region: str) -> None:
    """In international form, and with a trunk digit."""
    trunk, area, _, whole = _cut(region)
    assert with_area(trunk + area, whole) == whole
    assert with_area(area, "00" + whole[1:]) == "00" + whole[1:]
    assert with_area(area, "0" + area + "2345600") == "0" + area + "2345600"


@given(
    area=st.sampled_from(["30", "030", "0 30", "(030)", "212", "", "x"]),
    number=st.sampled_from(["3023456", "30 12345", "0302345600", "2345600", "2123456", "x", "", "3023456000"]),
    regions=st.sampled_from(REGIONS),
)
def test_no_number_is_another_ones(area: str, number: str, regions: str) -> None:
    """A number that may have its area code, and a short one without any, are rejected."""
    joined = with_area(area, number)
    digits, code = (("".join(filter(str.isdecimal, text))) for text in (number, area))
    short = bool(digits) and len(digits) < 10 and not digits.startswith("0")
    if short and (not code or digits.startswith(code.lstrip("0"))):
        assert normalize_identifier(Kind.PHONE_NUMBER, joined, country=regions) is Reason.INVALID_SYNTAX


def test_lists_and_missing_cells_keep_their_rows() -> None:
    """Each value has the area code of its row."""
    areas = pa.array(["030", None, "089", "040"])
    numbers = pa.array([["2345600", "2345601"], ["1"], None, []], pa.list_(pa.string()))
    expected = [["030 2345600", "030 2345601"], ["? 1"], None, []]
    assert with_areas(areas, numbers).to_pylist() == expected
    assert with_areas(areas.slice(2), numbers.slice(2)).to_pylist() == expected[2:]
    assert with_areas(areas, pa.array(["2345600", "", None, "0401"])).to_pylist() == ["030 2345600", "", None, "0401"]


def test_every_calling_code_is_read() -> None:
    """In each of its usual writings."""
    codes = [code for code, regions in phonenumbers.COUNTRY_CODE_TO_REGION_CODE.items() if regions != ("001",)]
    for code in codes:
        for form in ("{}", "+{}", "00{}", "(+{})", "+{} (DE)", "Germany (+{})", "{}.0", " {} "):
            found = calling_code_of(form.format(code))
            assert found == f"+{code}"
            assert find_country(found) is not None
    assert [calling_code_of(cell) for cell in ("+1-684", "1 684", "1684")] == ["+1"] * 3
    wrong = ("", "DE", "1234567", "0", "049", "+49 30", "12345")
    assert [calling_code_of(cell) for cell in wrong] == [None] * len(wrong)
    assert calling_codes_of(pa.array(["49", None, "DE", "49"])).to_pylist() == ["+49", None, "DE", "+49"]
