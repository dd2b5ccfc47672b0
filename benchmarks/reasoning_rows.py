"""Own labelled sentences: template files → rows, the same rows every time.

A file has slot lines (`= name: a|b`), headings (`# label domain`) and template lines, in which `{a|b|}` stands for one of
its parts and a part that is a slot's name for one of the slot's words. In the domain `science` a bare slot name stands
for a word too. A template gives at most `VARIANTS_MAX` different sentences.
"""

import random
import re
from dataclasses import dataclass
from pathlib import Path

VARIANTS_MAX = 10
DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    text: str
    label: str
    lang: str
    domain: str
    weight: float = 1.0


def own_rows(variants_max: int = VARIANTS_MAX) -> list[Row]:
    """Every row of both languages, in the order of the files."""
    return [row for lang in ("en", "zh") for row in rows_of(DATA / f"reasoning_{lang}.txt", lang, variants_max)]


def rows_of(path: Path, lang: str, variants_max: int) -> list[Row]:
    slots: dict[str, list[str]] = {}
    label = domain = ""
    rows: list[Row] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            name, _, words = line[2:].partition(": ")
            slots[name] = words.split("|")
        elif found := re.fullmatch(
            r"# (planning|self_correction|evaluation|memory_retrieval|uncertainty|other) (\S+)", line
        ):
            label, domain = found[1], found[2]
        elif line:
            texts = variants(line, slots, domain == "science", variants_max)
            rows += [Row(text=text, label=label, lang=lang, domain=domain) for text in texts]
    return rows


def variants(template: str, slots: dict[str, list[str]], has_bare: bool, most: int) -> list[str]:
    """Different sentences of one template, drawn by a generator that the template itself seeds."""
    draw = random.Random(template)
    found: dict[str, None] = {}
    for _ in range(most * 3):
        found.setdefault(_one(template, slots, has_bare, draw))
        if len(found) == most:
            break
    return list(found)


def _one(template: str, slots: dict[str, list[str]], has_bare: bool, draw: random.Random) -> str:
    def choose(match: re.Match[str]) -> str:
        part = draw.choice(match[1].split("|"))
        return draw.choice(slots[part]) if part in slots else part

    text = re.sub(r"\{([^{}]*)\}", choose, template)
    if has_bare:
        text = re.sub(r"\b(quantity|thing|number)(s?)\b", lambda m: draw.choice(slots[m[1]]) + m[2], text)
    text = re.sub(r" +([.?,!;:])", r"\1", re.sub(r"  +", " ", text)).strip()
    return text[0].upper() + text[1:] if draw.random() < 0.9 else text
