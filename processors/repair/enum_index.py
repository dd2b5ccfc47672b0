"""The members of an enum → looked up by spelling and meaning in constant time, however many there are."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from processors.repair.words import WORDS, fold
from schemas.jsonvalue import Json


@dataclass(slots=True, eq=False)
class EnumIndex:
    """What each spelling of a member stands for. Built once with its schema, never changed afterwards."""

    texts: list[str] = field(default_factory=list)
    """Members that are text, in order."""
    folded: list[str] = field(default_factory=list)
    """The same, folded."""
    exact: dict[tuple[bool, Json], Json] = field(default_factory=dict)
    """Whether it is a boolean, value → member; `1` is not `true`."""
    typed: dict[str, Json] = field(default_factory=dict)
    """A member that is no text, as it is written."""
    by_case: dict[str, list[str]] = field(default_factory=dict)
    by_fold: dict[str, list[str]] = field(default_factory=dict)
    by_truth: dict[bool, list[str]] = field(default_factory=dict)
    """Members that are words for yes, and for no."""
    by_group: dict[int, list[int]] = field(default_factory=dict)
    """Group of synonyms → places of its members in `texts`."""

    def find(self, value: Json) -> tuple[Json, ...]:
        """The member equal to a scalar, alone; empty if there is none."""
        key = (isinstance(value, bool), value)
        return (self.exact[key],) if key in self.exact else ()

    def number(self, value: object) -> Json:
        """The int or float that equals this number; None if there is none."""
        return self.exact.get((False, value))

    def of_group(self, groups: Iterable[int]) -> list[str]:
        """The members of any of these groups, in order."""
        places = {place for group in groups for place in self.by_group.get(group, ())}
        return [self.texts[place] for place in sorted(places)]


def index_of(members: tuple[Json, ...]) -> EnumIndex:
    """Index the members of an enum."""
    index = EnumIndex()
    for member in members:
        if isinstance(member, dict | list):
            continue
        index.exact.setdefault((isinstance(member, bool), member), member)
        if isinstance(member, str):
            _add(index, member)
        else:
            index.typed.setdefault(str(member).casefold(), member)
    return index


def _add(index: EnumIndex, member: str) -> None:
    folded = fold(member)
    for group in WORDS.value_groups.get(folded or member, ()):
        index.by_group.setdefault(group, []).append(len(index.texts))
    index.texts.append(member)
    index.folded.append(folded)
    index.by_case.setdefault(member.casefold(), []).append(member)
    if folded:
        index.by_fold.setdefault(folded, []).append(member)
    truth = WORDS.booleans.get(folded)
    if truth is not None:
        index.by_truth.setdefault(truth, []).append(member)
