"""Raw outputs with their tools → samples: where registered names stand, where text is only shown."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from schemas.jsonvalue import JsonObject

SAMPLE_CHARS_MAX = 20_000
"""Longest output that teaches: longer ones are cut there; recorded calls stay under a tenth."""
ANCHORS_MAX = 24
"""Most names looked at in one output, so that one output can't outweigh others or cost more."""
NAMES_MAX = 200
PROPERTIES_MAX = 100
NAME_CHARS_MIN = 4
"""Shorter names are words of prose too often to be evidence."""

BLANK = "\x03"
"""Stands for each character that is only shown; no literal may hold it."""
_PLACEHOLDERS = {0: "\ufffd", 1: "\ufffd", 2: "\ufffd", 3: "\ufffd"}
"""The marks that literals use for what varies must not come from a text."""
_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character can't be written to the registry, so no literal may have one."""
_SHOWN = re.compile(r"(?:^|\n)(`{3,}|~{3,}).*?(?:\n\1[`~]*|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Anchor:
    """One registered name in one output; offsets into the sample's text."""

    sample: int
    start: int
    end: int
    name: str


@dataclass(frozen=True)
class Sample:
    """One raw output, its tools by name, and who sent it."""

    id: str
    text: str
    tools: dict[str, JsonObject] = field(default_factory=dict)
    """Tool name → its `properties` (parameter name → schema)."""
    source: str = ""

    @cached_property
    def shown(self) -> list[tuple[int, int]]:
        """Spans of code fences and comments: text that is only shown is never evidence."""
        return [match.span() for match in _SHOWN.finditer(self.text)]

    def is_shown(self, at: int) -> bool:
        """Whether an offset stands in a fence or a comment."""
        return any(start <= at < end for start, end in self.shown)

    @cached_property
    def plain(self) -> str:
        """The text with what is only shown blanked out, offsets kept."""
        parts, last = [], 0
        for start, end in self.shown:
            parts += [self.text[last:start], BLANK * (end - start)]
            last = end
        return "".join([*parts, self.text[last:]])

    def anchors(self, number: int) -> list[Anchor]:
        """Whole-token occurrences of the output's tool names, outside of what is only shown."""
        names = [name for name in self.tools if len(name) >= NAME_CHARS_MIN]
        if not names:
            return []
        alternatives = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        pattern = re.compile(rf"(?<![A-Za-z0-9_])(?:{alternatives})(?![A-Za-z0-9_-])")
        found = []
        for match in pattern.finditer(self.plain):
            found.append(Anchor(number, match.start(), match.end(), match.group()))
            if len(found) == ANCHORS_MAX:
                break
        return found


def tool_properties(tools: Iterable[JsonObject]) -> dict[str, JsonObject]:
    """OpenAI function schemas → name → properties; what is not a well-formed schema teaches nothing."""
    found: dict[str, JsonObject] = {}
    for tool in tools:
        function = tool.get("function", tool) if isinstance(tool, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str) or len(found) >= NAMES_MAX:
            continue
        parameters = function.get("parameters")
        properties = parameters.get("properties") if isinstance(parameters, dict) else None
        kept = properties if isinstance(properties, dict) else {}
        found[function["name"]] = dict(islice(kept.items(), PROPERTIES_MAX))
    return found


def sample(request: JsonObject) -> Sample:
    """A request as `parse` takes it → a sample."""
    text = request.get("text")
    if not isinstance(text, str):
        text = "".join(str(chunk) for chunk in request.get("chunks") or [])
    return Sample(
        id=str(request.get("id", "")),
        text=_SURROGATE.sub("\ufffd", text[:SAMPLE_CHARS_MAX].translate(_PLACEHOLDERS)),
        tools=tool_properties(request.get("tools") or []),
        source=str(request.get("source") or request.get("model") or ""),
    )
