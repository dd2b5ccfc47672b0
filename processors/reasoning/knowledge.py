"""The answer's text → what it says about state: JSON results in fences, and what is said to hold in general."""

import re
from collections.abc import Iterator

import re2

from processors.reasoning.comments import read_object, theme_of
from processors.reasoning.sentences import split_steps
from schemas.jsonvalue import JsonObject
from schemas.span import Span

_FENCE = re.compile(r"^[ \t]*```[ \t]*(?:json|JSON|json5|jsonc)[^\n]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_CALL_KEYS = frozenset({"name", "arguments"})
"""A call of a tool that is not registered is an example of a call, not a result."""
_KNOWLEDGE_CUES = (
    r"\b(?:typically|usually|generally|normally|in general|as a rule|on average|commonly|by convention|"
    r"common(?:ly)? know(?:n|ledge)|domain knowledge|is known (?:to|for)|tends? to be|seasonal|historical average|"
    r"authoritative|takes precedence|source of truth|rule of thumb)\b"
    r"|通常|一般(?:来说|而言|情况下|为|在|都)|常识|众所周知|往往|属于|历年|往年|常年|惯例|领域知识|背景知识|经验(?:上|表明|来看)|权威|为准|平均(?:气温|水平|值)(?:为|在)"
)
_KNOWLEDGE = re.compile(_KNOWLEDGE_CUES, re.IGNORECASE)
_GATE = re2.compile("(?i)" + _KNOWLEDGE_CUES)
"""The same cues in one linear pass, for the many texts that have none."""
_RANGE = re.compile(
    r"(\d{1,9}(?:\.\d{1,9})?)\s?(?:°C|℃|%|度)?\s?(?:-|–|—|~|～|至|到|to)\s?(\d{1,9}(?:\.\d{1,9})?)\s?"
    r"(°[CF]|℃|%|度|km/h|km|公里|元|天|days?|hours?|小时|minutes?|分钟|USD|EUR|[mk]?g\b)"
)


def find_json(text: str) -> Iterator[tuple[str, JsonObject, Span]]:
    """Key, content and span of each JSON value in a fence."""
    for fence in _FENCE.finditer(text):
        content = read_object(fence[1].strip())
        if content and not content.keys() >= _CALL_KEYS:
            yield theme_of(content), content, fence.span()


def find_knowledge(text: str) -> Iterator[tuple[str, JsonObject, Span]]:
    """Key, content and span of each run of sentences that state general knowledge."""
    for start, end in _runs(text):
        said = text[start:end]
        content: JsonObject = {"text": said}
        if ranges := [f"{found[1]}-{found[2]}{found[3]}" for found in _RANGE.finditer(said[:2_000])]:
            content["ranges"] = ranges[:20]
        yield "domain_knowledge", content, (start, end)


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Spans of neighbouring sentences that state general knowledge, fences left out."""
    if not _GATE.search(text.encode("utf-8", "replace")):
        return
    open_span: tuple[int, int] | None = None
    for start, end in split_steps(text):
        is_said = not text.startswith("```", start) and _KNOWLEDGE.search(text, start, min(end, start + 2_000))
        if is_said and open_span and "\n" not in text[open_span[1] : start]:
            open_span = (open_span[0], end)
        elif is_said:
            if open_span:
                yield open_span
            open_span = (start, end)
        elif open_span:
            yield open_span
            open_span = None
    if open_span:
        yield open_span
