"""Registry entries of kind `reasoning` → how the reason stage labels and what makes a record reusable.

An entry's definition has a `type`: `cues` adds cue phrases for one label (in the shape of the shipped files),
`feedback` is what labelled sentences added to the weights (feedback.py), `settings` has the prior and the rule of
reuse.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from processors.reasoning.classify import Model, shipped_model, with_prior
from processors.reasoning.cues import CueFile, compile_cues, shipped_cues
from processors.reasoning.feedback import Delta, with_delta
from processors.reasoning.record import Reuse
from schemas.jsonvalue import JsonObject
from schemas.reasoning import Label


@dataclass(frozen=True, slots=True, kw_only=True)
class CueEntry:
    """Cue phrases that were learned or written by a person."""

    type: Literal["cues"] = "cues"
    label: Label
    weight: float = 1.0
    en: tuple[str, ...] = ()
    zh: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackEntry:
    """A delta of the weights."""

    type: Literal["feedback"] = "feedback"
    delta: Delta


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsEntry:
    """What a person chose."""

    type: Literal["settings"] = "settings"
    reuse: Reuse = field(default_factory=Reuse)
    prior: Mapping[Label, float] | None = None
    """Shares of the labels in this deployment's text; None: all equal."""
    prior_strength: float = 0.5


Entry = Annotated[CueEntry | FeedbackEntry | SettingsEntry, Field(discriminator="type")]
_ENTRY: TypeAdapter[CueEntry | FeedbackEntry | SettingsEntry] = TypeAdapter(Entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonOptions:
    """How one stream's reasoning is read."""

    model: Model = field(default_factory=shipped_model)
    reuse: Reuse = field(default_factory=Reuse)


def entries_of(definitions: Iterable[JsonObject]) -> list[CueEntry | FeedbackEntry | SettingsEntry]:
    """Definitions as entries; raises pydantic's ValidationError, which is a ValueError."""
    return [_ENTRY.validate_python(definition) for definition in definitions]


def options_of(definitions: Iterable[JsonObject]) -> ReasonOptions:
    """Definitions of the active entries, most important first; raises pydantic's ValidationError, a ValueError."""
    entries = entries_of(definitions)
    model, reuse = shipped_model(), Reuse()
    if cues := tuple(_file(entry) for entry in entries if isinstance(entry, CueEntry)):
        model = replace(model, cues=compile_cues((*shipped_cues().files, *cues)))
    for entry in reversed(entries):
        if isinstance(entry, FeedbackEntry):
            model = with_delta(model, entry.delta)
        elif isinstance(entry, SettingsEntry):
            reuse = entry.reuse
            if entry.prior:
                model = with_prior(model, entry.prior, entry.prior_strength)
    return ReasonOptions(model=model, reuse=reuse)


def _file(entry: CueEntry) -> CueFile:
    return CueFile(label=entry.label, weight=entry.weight, cues=(*entry.en, *entry.zh), match=(), reject=())
