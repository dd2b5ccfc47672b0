"""An error → signs in its text, code and kind. Signs are data (signs.toml), each with errors that bear it or do not.

Words are looked for as they begin: `unreach` is in "host unreachable", not in "nonreach". In scripts without spaces
they may stand anywhere.
"""

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from processors.dispatching.errors import TEXT_CHARS_MAX, Example, Fault


class Sign(BaseModel):
    """One sign: borne if any of its words stands in the text, or code and kind are among its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: str
    words: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    """Words that are taken out of the text before it is read: they hold one of `words` and mean something else."""
    kinds: tuple[str, ...] = ()
    codes: tuple[tuple[int, int], ...] = ()
    """Ranges of HTTP status, both ends included; of faults of the kind `http`."""
    positives: tuple[Example, ...]
    negatives: tuple[Example, ...]

    @cached_property
    def _words(self) -> re.Pattern[str] | None:
        return _pattern(self.words)

    @cached_property
    def _unless(self) -> re.Pattern[str] | None:
        return _pattern(self.unless)

    def found(self, fault: Fault, text: str) -> str | None:
        """What of the error bears the sign; None: nothing. `text`: the fault's, as `normal` gives it."""
        if fault.kind in self.kinds:
            return fault.kind
        if (
            fault.kind == "http"
            and fault.code is not None
            and any(low <= fault.code <= high for low, high in self.codes)
        ):
            return f"http {fault.code}"
        if self._words is None:
            return None
        read = self._unless.sub(" ", text) if self._unless else text
        match = self._words.search(read)
        return match[0] if match else None


@dataclass(frozen=True, slots=True)
class Borne:
    """A sign that an incident bears, and what of it says so."""

    sign: str
    because: str


def normal(text: str) -> str:
    """Text as signs read it: bounded, one form of width, lower case."""
    return unicodedata.normalize("NFKC", text[:TEXT_CHARS_MAX]).lower()


def borne(fault: Fault) -> list[Borne]:
    """The signs that an error bears by itself."""
    text = normal(fault.text)
    return [Borne(sign.id, because) for sign in shipped_signs() if (because := sign.found(fault, text))]


def read_signs(text: str) -> tuple[Sign, ...]:
    """Signs of a TOML text; raises ValueError for one without examples, or that fails one of its own."""
    signs = tuple(Sign.model_validate(entry) for entry in tomllib.loads(text).get("sign", []))
    for sign in signs:
        wrong = [one for one in sign.positives if not sign.found(one.fault(), normal(one.text))]
        wrong += [one for one in sign.negatives if sign.found(one.fault(), normal(one.text))]
        if wrong or not sign.positives or not sign.negatives:
            raise ValueError(f"{sign.id}: fails its example {wrong[:1]}")
    return signs


@cache
def shipped_signs() -> tuple[Sign, ...]:
    """The signs in signs.toml."""
    return read_signs(files("processors.attribution").joinpath("signs.toml").read_text(encoding="utf-8"))


def _pattern(words: tuple[str, ...]) -> re.Pattern[str] | None:
    if not words:
        return None
    ordered = sorted(words, key=len, reverse=True)
    return re.compile("|".join(("(?<![a-z])" if word[0].isascii() else "") + re.escape(word) for word in ordered))
