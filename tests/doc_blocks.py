"""Fenced blocks of the documentation, each with its page, its number there, and why it is not run if it says so."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("docs/how-to/*.md")),
    *sorted(ROOT.glob("docs/adr/*.md")),
)
_BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^>]+) -->\n\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Block:
    """One block."""

    page: str
    number: int
    """Of its language, on its page, from 0."""
    language: str
    text: str
    why_not_run: str | None

    @property
    def name(self) -> str:
        """For people, and for the tables of tests."""
        return f"{self.page}-{self.language}-{self.number}"


def doc_blocks(*languages: str) -> list[Block]:
    """All blocks in these languages."""
    found = []
    for page in PAGES:
        counts: dict[str, int] = {}
        for match in _BLOCK.finditer(page.read_text(encoding="utf-8")):
            language = match["language"]
            number = counts[language] = counts.get(language, -1) + 1
            if language in languages:
                found.append(Block(page.stem, number, language, match["text"], match["reason"]))
    return found
