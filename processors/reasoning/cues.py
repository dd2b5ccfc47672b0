"""Sentence → the cue phrases in it, from the catalogue's files: one RE2 set over every cue of every label.

A file says one label, its weight in a block, its cues in English and Chinese, and examples of both outcomes. RE2
reads a sentence once, whatever the number of cues, so the cost is linear in its length.
"""

import tomllib
import zlib
from dataclasses import dataclass
from functools import cache
from importlib import resources

import re2

from schemas.reasoning import Label

CUE_BUCKETS = 1 << 12
SENTENCE_CHARS_MAX = 400
"""Characters of a sentence that are read for its label; what a sentence does is said near its start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CueFile:
    """One label's entry of the catalogue."""

    label: Label
    weight: float
    """How much one sentence of this label counts for the type of its block."""
    cues: tuple[str, ...]
    match: tuple[str, ...]
    reject: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cues:
    """Every cue, compiled: `labels[i]` is the label of the set's pattern i."""

    files: tuple[CueFile, ...]
    labels: tuple[Label, ...]
    buckets: tuple[int, ...]
    """Hash of each cue, by which a model knows it; a cue that is changed loses its weight, the others keep theirs."""
    label_buckets: tuple[int, ...]
    matcher: re2.Set

    def hits(self, sentence: str) -> list[int]:
        """Indexes of the cues that stand in a sentence, ascending."""
        return sorted(self.matched(sentence[:SENTENCE_CHARS_MAX].lower()))

    def matched(self, lowered: str) -> list[int]:
        """Indexes of the cues in a bounded lower-case text, in no order."""
        found: list[int] | None = self.matcher.Match(lowered.encode("utf-8", "replace"))
        return found or []


def read_cues(text: str) -> CueFile:
    """One catalogue file; raises ValueError where a key is missing or an example list is empty."""
    data = tomllib.loads(text)
    missing = {"id", "weight", "en", "zh", "match", "reject"} - set(data)
    if missing or not data["match"] or not data["reject"]:
        raise ValueError(f"{data.get('id')}: needs {sorted(missing) or 'examples of both outcomes'}")
    return CueFile(
        label=Label(data["id"]),
        weight=float(data["weight"]),
        cues=(*data["en"], *data["zh"]),
        match=tuple(data["match"]),
        reject=tuple(data["reject"]),
    )


def compile_cues(files: tuple[CueFile, ...]) -> Cues:
    """Files → one matcher; raises ValueError for a cue that RE2 does not read."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 64 << 20  # the automaton of all cues fits, so it is never built twice
    matcher = re2.Set.SearchSet(options)
    labels: list[Label] = []
    for file in files:
        for cue in file.cues:
            try:
                matcher.Add(cue)
            except re2.error as error:
                raise ValueError(f"{file.label}: {cue}: {error}") from None
            labels.append(file.label)
    matcher.Compile()
    return Cues(
        files=files,
        labels=tuple(labels),
        buckets=tuple(_bucket(cue) for file in files for cue in file.cues),
        label_buckets=tuple(_bucket(label) for label in labels),
        matcher=matcher,
    )


def _bucket(text: str) -> int:
    return zlib.crc32(text.encode()) % CUE_BUCKETS


@cache
def shipped_cues() -> Cues:
    """The cues that come with the package, in order of label name."""
    folder = resources.files("processors.reasoning")
    paths = sorted((path for path in folder.iterdir() if path.name.endswith(".toml")), key=lambda path: path.name)
    return compile_cues(tuple(read_cues(path.read_text(encoding="utf-8")) for path in paths))
