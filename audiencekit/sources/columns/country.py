"""Which column holds the country of each row: the given one, else one that is named so and holds countries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from audiencekit.identifiers.countries import find_countries, find_country, is_calling_code
from audiencekit.records.area_codes import calling_code_of, digits_of
from audiencekit.sources.columns.codes_apart import MOST_CALLING_DIGITS, Codes, names_calling_codes, sort_of
from audiencekit.sources.columns.header import Header, names_country, names_country_in_short, names_part_of_country
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.sampling import Sample
from audiencekit.text import option

MIN_COUNTRY_SHARE: Final = 0.5  # of the filled cells are countries
MIN_CODE_SHARE: Final = 0.95  # of the filled cells are codes of countries, where the name says little or nothing
MIN_CODES: Final = 3  # fewer may be codes of anything
_CODE_LETTERS: Final = (2, 3)


@dataclass(slots=True)
class CountryColumn:
    """Finds the country among the columns at `places`.

    `notes` are for people, and hold no cell. `why` says how it was found, and `why_left` why a column is not used.
    `are_calling_codes` says that its cells are calling codes, which may be without a plus; `hint` is a column that may
    be the country, and is not used.
    """

    header: Header
    sample: Sample
    options: SourceOptions
    places: Sequence[int]
    notes: list[str] = field(default_factory=list)
    why_left: dict[int, str] = field(default_factory=dict)
    why: str = "as given"
    are_calling_codes: bool = False
    hint: int | None = None

    def find(self) -> int | None:
        """The column of countries: the given one, else of those that are named so and hold some the one with most.

        Most cells, not the largest share: a shop may know where to deliver of a few people, and of all where they live.
        Raises MappingRefused when the given one is missing.
        """
        if self.options.country_code_column is not None:
            return self._by_codes(self.header.find(self.options.country_code_column), "as `country_code_column=` says")
        if self.options.country_column is not None:
            found = self.header.find(self.options.country_column)
            self._note_unknown(found, self._countries(found))
            return found
        named = [place for place in self.places if self._is_named_so(place)]
        countries = {place: self._countries(place) for place in named if not self._are_bare_codes(place)}
        for place, number in list(countries.items()):
            if number == 0 or number < MIN_COUNTRY_SHARE * len(self.sample.filled(place)):
                self._leave(place, number)
                del countries[place]
        best = max(countries, key=lambda place: countries[place], default=None)
        self.why = "by name and content"
        if best is None and (best := self._calling_codes()) is not None:
            countries[best], self.why = self._countries(best), "by the calling codes in its cells"
        bare = [place for place in self.places if self._are_bare_codes(place)]
        if best is None and len(bare) == 1:
            return self._by_codes(bare[0], "by its name and the calling codes in its cells")
        if best is not None:
            self._note_unknown(best, countries[best])
        return best

    def _by_codes(self, place: int, why: str) -> int:
        """The column of calling codes at `place`."""
        self.are_calling_codes, self.why = True, why
        filled = self.sample.filled(place)
        self._note_unknown(place, sum(find_country(calling_code_of(cell) or cell) is not None for cell in filled))
        return place

    def _are_bare_codes(self, place: int) -> bool:
        """Whether cells are calling codes without a plus, beyond doubt.

        Three digits are codes of countries in ISO 3166, too: so they must be named calling codes and nothing else.
        """
        name, filled = self._name(place), self.sample.filled(place)
        if not filled or sort_of(name, filled) is not Codes.CALLING:
            return False
        are_certain = names_calling_codes(name) or all(len(digits_of(cell)) <= MOST_CALLING_DIGITS for cell in filled)
        codes = [calling_code_of(cell) for cell in filled]
        found = sum(code is not None and find_country(code) is not None for code in codes)
        return are_certain and found >= MIN_CODE_SHARE * len(filled)

    def note_codes(self, mapped: set[int | None]) -> None:
        """Note columns, but those that are `mapped`, whose cells are codes of countries while no name says so.

        They are not used: codes of states and of languages are codes of countries, too.
        """
        for place in self.places:
            if place not in mapped and not names_part_of_country(self._name(place)) and self._holds_codes(place):
                shown = self.header.shown(place)
                given = option("country_column", shown)
                self.hint = place
                self.why_left[place] = "looks like the country of each row"
                self.notes.append(f"{shown}: {self.why_left[place]}; not used, say {given} if it is")

    def _calling_codes(self) -> int | None:
        """The column whose cells are calling codes with a plus, whatever it is called: nothing else is written so."""
        for place in self.places:
            filled = [cell.strip() for cell in self.sample.filled(place)]
            if filled and sum(is_calling_code(cell) for cell in filled) >= MIN_CODE_SHARE * len(filled):
                return place
        return None

    def _is_named_so(self, place: int) -> bool:
        name = self._name(place)
        return names_country(name) or (names_country_in_short(name) and self._holds_codes(place, least=1))

    def _name(self, place: int) -> str:
        names = self.header.names
        return names[place] if names is not None and place < len(names) else ""

    def _holds_codes(self, place: int, *, least: int = MIN_CODES) -> bool:
        filled = self.sample.filled(place)
        if len(filled) < least:
            return False
        texts = [cell.strip() for cell in filled]
        found = find_countries(
            text for text in texts if len(text) in _CODE_LETTERS and text.isalpha() and text.isupper()
        )
        return sum(found.get(text) is not None for text in texts) >= MIN_CODE_SHARE * len(texts)

    def _countries(self, place: int) -> int:
        """How many sampled cells of a column are countries."""
        filled = self.sample.filled(place)
        found = find_countries(filled)
        return sum(found[cell] is not None for cell in filled)

    def _leave(self, place: int, countries: int) -> None:
        if not self.sample.filled(place):
            return
        shown = self.header.shown(place)
        if countries:
            self.hint = place
        none = "most of its cells are none that is known" if countries else "its cells are none"
        given = f"; say {option('country_column', shown)} if it is one" if countries else ""
        # The number of a person elsewhere may be that of another at home.
        elsewhere = ", and numbers without a plus are read as those of `country=`" if self.options.country else ""
        self.why_left[place] = f"named like a country, but {none}"
        self.notes.append(f"{shown}: {self.why_left[place]}; not used{elsewhere}{given}")

    def _note_unknown(self, place: int, countries: int) -> None:
        """People who say that the rest is of one country should know who is of the rest."""
        filled = len(self.sample.filled(place))
        if countries == filled:
            return
        self.notes.append(
            f"{self.header.shown(place)}: unknown country in {filled - countries} of the first {filled} cells"
            f" (known are codes of two or three letters, signs of vehicles, and names in large languages); such rows"
            " have none, so that no number is read as one of another country"
        )
