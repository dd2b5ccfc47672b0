"""The data folders → frozen values, read once; a processor keeps its catalogue for the life of its stream."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from processors.segmenting.automaton import Automaton, automaton_of
from processors.segmenting.format import Format


@dataclass(frozen=True)
class Catalog:
    """What is known at one time."""

    formats: dict[str, Format]
    automaton: Automaton
    version: int = 0
    """Version of the registry snapshot; 0 for what was shipped."""

    def hint(self, format_id: str | None, model: str | None) -> str | None:
        """A format that the producer names, or whose models' name the producer's model bears."""
        if format_id in self.formats:
            return format_id
        wanted = _plain(model or "")
        if not wanted:
            return None
        known = [(len(_plain(name)), entry.id) for entry in self.formats.values() for name in entry.models]
        fitting = [(size, name) for size, name in known if size > 3 and any(
            _plain(alias) in wanted for alias in self.formats[name].models if len(_plain(alias)) == size
        )]  # fmt: skip
        return max(fitting)[1] if fitting else None

    def may_be_implied(self, format_id: str | None) -> bool:
        """Whether a stream may begin inside reasoning that the prompt opened."""
        if format_id is None:
            return True
        reasoning = self.formats[format_id].reasoning
        return reasoning is not None and reasoning.implied


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
