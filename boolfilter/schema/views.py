"""Event schemas and views: which attributes events of some types have, and how many values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any


class Annotation(StrEnum):
    """Whether events of a type must have an attribute, and whether with one value only.

    >>> Annotation("optional multiple").mandatory, Annotation("mandatory").multiple
    (False, False)
    """

    MANDATORY_UNIQUE = "mandatory unique"
    MANDATORY_MULTIPLE = "mandatory multiple"
    OPTIONAL_UNIQUE = "optional unique"
    OPTIONAL_MULTIPLE = "optional multiple"

    @property
    def mandatory(self) -> bool:
        return self.value.startswith("mandatory")

    @property
    def multiple(self) -> bool:
        return self.value.endswith("multiple")

    @classmethod
    def of(cls, mandatory: bool, multiple: bool) -> Annotation:
        words = ("mandatory" if mandatory else "optional", "multiple" if multiple else "unique")
        return cls(" ".join(words))

    @classmethod
    def _missing_(cls, value: object) -> Any:
        return {"mandatory": cls.MANDATORY_UNIQUE, "optional": cls.OPTIONAL_UNIQUE}.get(str(value))


EventSchema = Mapping[str, Annotation]


@dataclass(frozen=True, slots=True)
class View:
    """What events that are of all of these types look like."""

    types: frozenset[str]
    attributes: EventSchema
    mandatory: tuple[str, ...]

    @staticmethod
    def over(types: Iterable[str], event_types: Mapping[str, EventSchema]) -> View:
        """The view over types of events: mandatory has priority over optional, multiple over
        unique.

        >>> car = {"price": Annotation("mandatory"), "colour": Annotation("optional multiple")}
        >>> toy = {"price": Annotation("optional multiple"), "colour": Annotation("mandatory")}
        >>> view = View.over(["car", "toy"], {"car": car, "toy": toy})
        >>> {name: str(annotation) for name, annotation in view.attributes.items()}
        {'price': 'mandatory multiple', 'colour': 'mandatory multiple'}
        """
        chosen = list(dict.fromkeys(types))
        merged: dict[str, Annotation] = {}
        for name in chosen:
            for attribute, annotation in event_types[name].items():
                known = merged.get(attribute, annotation)
                merged[attribute] = Annotation.of(
                    known.mandatory or annotation.mandatory, known.multiple or annotation.multiple
                )
        mandatory = tuple(name for name, annotation in merged.items() if annotation.mandatory)
        return View(frozenset(chosen), MappingProxyType(merged), mandatory)
