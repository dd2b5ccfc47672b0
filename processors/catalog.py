"""The data folders → frozen values, read once; a processor keeps its catalogue for the life of its stream."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

from processors.segmenting.automaton import Automaton, automaton_of
from processors.segmenting.format import Format

_ALIAS_CHARS_MIN = 4
"""Shortest model name that counts as a hint."""


@dataclass(frozen=True)
class Catalog:
    """What is known at one time."""

    formats: dict[str, Format]
    automaton: Automaton
    version: int = 0
    """Version of the registry snapshot; 0 for what was shipped."""

    def hints(self, format_id: str | None, model: str | None) -> frozenset[str]:
        """The format that the producer names, or those one of whose models' names the producer's model bears."""
        if format_id in self.formats:
            return frozenset({format_id})
        if not model:
            return frozenset()
        return frozenset(name for alias, name in self._aliases if alias in _plain(model))

    @cached_property
    def _aliases(self) -> tuple[tuple[str, str], ...]:
        names = ((_plain(model), entry.id) for entry in self.formats.values() for model in entry.models)
        return tuple((alias, name) for alias, name in names if len(alias) >= _ALIAS_CHARS_MIN)


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


@cache
def load_formats() -> tuple[Format, ...]:
    """The shipped formats, in order of their ids."""
    folder = files("processors") / "formats"
    paths = sorted((path for path in folder.iterdir() if path.name.endswith(".toml")), key=lambda path: path.name)
    return tuple(Format.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))) for path in paths)


def catalog_of(formats: Iterable[Format], version: int = 0) -> Catalog:
    """Formats → a catalogue; a later one with the same id replaces an earlier one."""
    entries = {entry.id: entry for entry in formats}
    return Catalog(entries, automaton_of(entries.values()), version)


@cache
def load_catalog() -> Catalog:
    """The shipped catalogue."""
    return catalog_of(load_formats())
